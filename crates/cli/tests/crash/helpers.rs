//! What a helper does for who calls it is a finding of the line that calls the helper.

use super::*;

/// Flush helpers of a header: inlined into each function that calls them, or not.
const ONE_HELPER: &str = "#include <immintrin.h>
static inline HOW void persist(const volatile void *at) {
    _mm_clwb((void *)at);
    _mm_sfence();
}
";

/// One of which calls the other.
const TWO_HELPERS: &str = "#include <immintrin.h>
static inline HOW void flush_line(const volatile void *at) {
    _mm_clwb((void *)at);
}
static inline HOW void persist(const volatile void *at) {
    flush_line(at);
    _mm_sfence();
}
";

#[test]
fn a_helper_s_flush_is_the_line_s_that_calls_it() {
    if no_clwb() {
        return;
    }
    let source = r#"#include "persist.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
__attribute__((noipa)) static long put(volatile long *at) {
    at[0] = 1;
    persist(at);
    persist(at); /* again */
    return at[0];
}
int main(int argc, char **argv) {
    int fd = open(argv[argc - 1], O_RDWR | O_CREAT, 0600);
    if (ftruncate(fd, 4096) != 0) return 2;
    put(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    _exit(0);
}
"#;
    for (how, header, inner) in [
        ("always_inline", ONE_HELPER, "persist"),
        ("noinline", ONE_HELPER, "persist"),
        ("always_inline", TWO_HELPERS, "flush_line"),
        ("noinline", TWO_HELPERS, "flush_line"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let attribute = format!("__attribute__(({how}))");
        let header = header.replace("HOW", &attribute);
        fs::write(folder.path().join("persist.h"), header).unwrap();
        let flags = ["-mclwb", "-Wl,-z,now"];
        let program = c_program(folder.path(), "puts", source, &flags);
        let dir = record(folder.path(), &program, &[]);
        let report = crash(&dir, &[]);
        let line = 1 + source.lines().position(|l| l.contains("again")).unwrap() as u32;
        let expected = ("redundant-flush".to_owned(), "puts.c".to_owned(), line);
        assert_eq!(findings(&report), [expected], "{how}: {report:#}");
        let helper = &report["findings"][0]["helper"];
        assert_eq!(helper["function"], inner, "{how}: {report:#}");
        assert_eq!(helper["line"], 3, "{how}: {report:#}");
        let before = &report["findings"][0]["flush"];
        assert_eq!(before["line"], line - 1, "{how}: {report:#}");
        let said = run(["crash", text(&dir)]).exits(0).stdout;
        let by = format!("puts.c line {line}, by {inner} (");
        assert!(said.contains(&by), "{how}: {said}");
    }
}

/// Without optimisation nothing is inlined, and helpers often stand in the file that uses them. What is named for nothing but that
/// flushes for its callers there, too; `put_and_flush` is a caller.
#[test]
fn helpers_that_only_flush_may_be_in_the_file_that_calls_them() {
    if no_clwb() {
        return;
    }
    let source = r#"#include <fcntl.h>
#include <immintrin.h>
#include <sys/mman.h>
#include <unistd.h>
static void mfence(void) { __asm__ volatile("sfence" ::: "memory"); }
static void flush_range(char *at, long bytes) {
    for (long i = 0; i < bytes; i += 64)
        _mm_clwb(at + i);
    mfence();
}
static void flush_buffer(volatile long *at) { _mm_clwb((void *)at); mfence(); }
static void mapPersistentRegion(volatile long *at) {
    at[16] = 1;
    flush_buffer(at + 16);
    _mm_clwb((void *)(at + 16)); /* named for what it is about */
    mfence();
}
static void put_and_flush(long *at) {
    at[0] = 1;
    flush_range((char *)at, 8);
    mfence(); /* again */
    _mm_clwb(at); /* once more */
    mfence();
    at[8] = 1;
    flush_buffer(at + 8);
    flush_buffer(at + 8); /* the buffer, too */
    mapPersistentRegion(at);
}
int main(int argc, char **argv) {
    int fd = open(argv[argc - 1], O_RDWR | O_CREAT, 0600);
    if (ftruncate(fd, 4096) != 0) return 2;
    put_and_flush(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    _exit(0);
}
"#;
    let folder = tempfile::tempdir().unwrap();
    let flags = ["-mclwb", "-O0", "-Wl,-z,now"];
    let program = c_program(folder.path(), "puts", source, &flags);
    let report = crash(&record(folder.path(), &program, &[]), &[]);
    let found = |kind: &str, mark: &str| {
        let line = 1 + source.lines().position(|l| l.contains(mark)).unwrap() as u32;
        (kind.to_owned(), "puts.c".to_owned(), line)
    };
    let mut all = findings(&report);
    all.sort();
    let expected = [
        found("redundant-fence", "/* again */"),
        found("redundant-flush", "/* named for what"),
        found("redundant-flush", "/* once more */"),
        found("redundant-flush", "/* the buffer, too */"),
    ];
    assert_eq!(all, expected, "{report:#}");
}

/// The line of `source` that has `mark`.
fn line_of(source: &str, mark: &str) -> u32 {
    1 + source.lines().position(|l| l.contains(mark)).unwrap() as u32
}

/// What stores and flushes leaves the fence to its callers where its name says no more than that; what is named for more lacks
/// the fence itself.
#[test]
fn what_stores_and_flushes_for_its_callers_is_fenced_by_them() {
    if no_clwb() {
        return;
    }
    let source = r#"#include <fcntl.h>
#include <immintrin.h>
#include <sys/mman.h>
#include <unistd.h>
static void store_flush(volatile long *at, long value) {
    *at = value;
    _mm_clwb((void *)at);
}
static void nt_store64(long *at, long value) { _mm_stream_si64((long long *)at, value); }
static void insert_and_flush(volatile long *at) {
    *at = 7; /* in insert */
    _mm_clwb((void *)at);
}
int main(int argc, char **argv) {
    int fd = open(argv[argc - 1], O_RDWR | O_CREAT, 0600);
    if (ftruncate(fd, 4096) != 0) return 2;
    long *pool = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    store_flush(pool, 1);
    nt_store64(pool + 8, 1);
    _mm_sfence();
    store_flush(pool + 16, 2); /* not fenced */
    nt_store64(pool + 24, 2); /* nor this */
    insert_and_flush(pool + 32);
    _exit(0);
}
"#;
    for level in ["-O0", "-O2"] {
        let folder = tempfile::tempdir().unwrap();
        let flags = ["-mclwb", "-Wl,-z,now", level];
        let program = c_program(folder.path(), "puts", source, &flags);
        let dir = record(folder.path(), &program, &["--values"]);
        let report = crash(&dir, &[]);
        let found = |mark: &str| {
            let line = line_of(source, mark);
            ("missing-fence".to_owned(), "puts.c".to_owned(), line)
        };
        let mut all = findings(&report);
        all.sort();
        let expected = ["/* in insert", "/* not fenced", "/* nor this"].map(found);
        assert_eq!(all, expected, "{level}: {report:#}");
        let of = |line: u32| {
            let all = report["findings"].as_array().unwrap();
            all.iter().find(|f| f["line"] == line).unwrap()["helper"].clone()
        };
        let helper = of(line_of(source, "/* not fenced"));
        assert_eq!(helper["function"], "store_flush", "{level}: {report:#}");
        assert_eq!(
            helper["line"],
            line_of(source, "*at = value"),
            "{level}: {report:#}"
        );
        assert!(
            of(line_of(source, "/* in insert")).is_null(),
            "{level}: {report:#}"
        );
        // What an image shows is told in the same way.
        let check = "test $(od -A n -t d8 -j 128 -N 8 {image}) = 2 || test $(od -A n -t d8 -j 256 -N 8 {image}) != 7";
        let report = crash(&dir, &["--check", check]);
        let all = findings(&report);
        assert_eq!(all, [found("/* not fenced")], "{level}: {report:#}");
    }
}

/// A function of C++ has its class and what it takes in its name.
#[test]
fn helpers_of_cpp_are_known_by_their_own_names() {
    if no_clwb() {
        return;
    }
    let source = r#"#include <fcntl.h>
#include <immintrin.h>
#include <sys/mman.h>
#include <unistd.h>
namespace {
struct Pm {
    template <class T> static void flushRange(T *at, long bytes) {
        for (long i = 0; i < bytes; i += 64) _mm_clwb((char *)at + i);
        _mm_sfence();
    }
};
}
int main(int argc, char **argv) {
    int fd = open(argv[argc - 1], O_RDWR | O_CREAT, 0600);
    if (ftruncate(fd, 4096) != 0) return 2;
    long *pool = (long *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    pool[0] = 1;
    Pm::flushRange<long>(pool, 8);
    Pm::flushRange<long>(pool, 8); /* again */
    _exit(0);
}
"#;
    let folder = tempfile::tempdir().unwrap();
    let (path, program) = (folder.path().join("puts.cpp"), folder.path().join("puts"));
    fs::write(&path, source).unwrap();
    compile(&path, &program, &["-mclwb", "-O0", "-Wl,-z,now"]);
    let report = crash(&record(folder.path(), &program, &[]), &[]);
    let line = line_of(source, "/* again */");
    let expected = ("redundant-flush".to_owned(), "puts.cpp".to_owned(), line);
    assert_eq!(findings(&report), [expected], "{report:#}");
}

/// A structure may be all in a header, with the helper that it flushes with.
#[test]
fn a_structure_in_a_header_is_no_helper() {
    if no_clwb() {
        return;
    }
    let header = r#"#include <immintrin.h>
static void persist(const volatile void *at) {
    _mm_clwb((void *)at);
    _mm_sfence();
}
struct counter { long value; };
__attribute__((noipa)) static void counter_add(struct counter *counter) {
    counter->value++;
    persist(counter);
    persist(counter); /* again */
}
"#;
    let source = r#"#include "counter.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
int main(int argc, char **argv) {
    int fd = open(argv[argc - 1], O_RDWR | O_CREAT, 0600);
    if (ftruncate(fd, 4096) != 0) return 2;
    counter_add(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    _exit(0);
}
"#;
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("counter.h"), header).unwrap();
    let flags = ["-mclwb", "-O0", "-Wl,-z,now"];
    let program = c_program(folder.path(), "counts", source, &flags);
    let report = crash(&record(folder.path(), &program, &[]), &[]);
    let line = line_of(header, "/* again */");
    let expected = ("redundant-flush".to_owned(), "counter.h".to_owned(), line);
    assert_eq!(findings(&report), [expected], "{report:#}");
}
