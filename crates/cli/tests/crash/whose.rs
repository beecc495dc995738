//! What a library does on its own account is no finding of the program that calls it.

use super::*;

/// A store that is correct. What it keeps in the pool beside its data is made anew when a pool is opened: its lock,
/// where it is mapped, a mark behind what is free, and a list in what is free. It flushes and fences more than it has to.
const STORE: &str = r#"
    #include <pthread.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/mman.h>
    #include <fcntl.h>
    #include <unistd.h>
    #include "store.h"
    struct pool {
        LINE long version;
        LINE pthread_mutex_t lock;
        LINE struct pool *mapped_at;
        LINE long entries[64][8];
        LINE struct { long next; long mark; } unused[64];
    };
    struct pool *store_open(const char *path) {
        int fd = open(path, O_RDWR | O_CREAT, 0600);
        if (ftruncate(fd, sizeof(struct pool)) != 0) exit(2);
        struct pool *pool = mmap(NULL, sizeof(*pool), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        pool->version = 1;
        store_persist(pool, sizeof(*pool)); /* most of it is clean */
        pthread_mutex_init(&pool->lock, NULL);
        pool->mapped_at = pool;
        for (long i = 0; i < 64; i++) {
            pool->unused[i].next = i + 1;
            pool->unused[i].mark = 7;
        }
        return pool;
    }
    long *store_entry(struct pool *pool, long i) { return pool->entries[i]; }
    void store_persist(const void *at, long bytes) {
        for (long i = 0; i < bytes; i += 64) _mm_clwb((char *)at + i);
        _mm_sfence();
    }
    void *store_memcpy(void *to, const void *from, long bytes) {
        volatile long *t = to;
        const long *f = from;
        for (long i = 0; i < bytes / 8; i++) t[i] = f[i];
        return to;
    }
    void store_put(struct pool *pool, long i, long value) {
        pthread_mutex_lock(&pool->lock);
        long *entry = pool->entries[i];
        ((volatile long *)entry)[0] = 0;
        _mm_clwb(entry);
        ((volatile long *)entry)[0] = value; /* written between flush and fence, and flushed again */
        _mm_sfence();
        _mm_sfence();
        store_persist(entry, 8);
        store_persist(entry, 8);
        pthread_mutex_unlock(&pool->lock);
    }
"#;

const STORE_HEADER: &str = r#"
    #include <immintrin.h>
    #define LINE __attribute__((aligned(64)))
    struct pool;
    struct pool *store_open(const char *path);
    long *store_entry(struct pool *pool, long i);
    void store_persist(const void *at, long bytes);
    void *store_memcpy(void *to, const void *from, long bytes);
    void store_put(struct pool *pool, long i, long value);
"#;

/// A recording of a program with `body`, which uses the store; of the store's library there are lines or not.
fn with_store(folder: &Path, body: &str, lines: &str) -> PathBuf {
    fs::write(folder.join("store.h"), STORE_HEADER).unwrap();
    let library = [
        "-shared",
        "-fPIC",
        "-mclwb",
        "-pthread",
        "-Wl,-z,now",
        lines,
    ];
    c_program(folder, "libstore.so", STORE, &library);
    let main = format!(
        "#include \"store.h\"\n#include <unistd.h>\n\
         __attribute__((noipa)) static void use(struct pool *pool) {{\n{body}\n__asm__ volatile(\"\"); }}\n\
         int main(int argc, char **argv) {{\nstruct pool *pool = store_open(argv[argc - 1]);\n\
         for (long i = 0; i < 4; i++)\nstore_put(pool, i, i);\nuse(pool);\n_exit(0);\n}}\n"
    );
    let path = format!("-Wl,-rpath,{}", text(folder));
    let at = format!("-L{}", text(folder));
    let flags = ["-mclwb", "-Wl,--no-as-needed,-z,now", &at, &path, "-lstore"];
    let program = c_program(folder, "uses", &main, &flags);
    record(folder, &program, &[])
}

/// Kind and library of what stands below the findings.
fn in_libraries(report: &Value) -> Vec<(String, String)> {
    let all = report["libraries"].as_array().unwrap().iter();
    all.map(|l| {
        let module = l["module"].as_str().unwrap();
        let file = module.rsplit('/').next().unwrap();
        owned((l["kind"].as_str().unwrap(), file))
    })
    .collect()
}

fn owned((kind, module): (&str, &str)) -> (String, String) {
    (kind.to_owned(), module.to_owned())
}

#[test]
fn what_a_library_does_on_its_own_account_is_no_finding() {
    if no_clwb() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let nothing = "(void)pool;";
    let report = crash(&with_store(folder.path(), nothing, "-g0"), &[]);
    assert_eq!(findings(&report), [], "{report:#}");
    // What the C library stores in a lock is the lock's.
    let expected = [
        ("missing-flush", "libstore.so"),
        ("missing-flush", "libc.so.6"),
        ("ordering", "libstore.so"),
        ("redundant-flush", "libstore.so"),
        ("redundant-fence", "libstore.so"),
    ];
    assert_eq!(in_libraries(&report), expected.map(owned), "{report:#}");
    let callers = &report["libraries"][0]["callers"];
    assert_eq!(callers[0]["function"], "main", "{report:#}");
    // Who builds the library has its lines, and can change it.
    let folder = tempfile::tempdir().unwrap();
    let report = crash(&with_store(folder.path(), nothing, "-g"), &[]);
    let found = findings(&report);
    let lock = [owned(("missing-flush", "libc.so.6"))];
    assert_eq!(in_libraries(&report), lock, "{report:#}");
    for (kind, _) in expected {
        let is_there = found.iter().any(|f| f.0 == kind && f.1 == "libstore.so.c");
        assert!(is_there, "{kind}: {report:#}");
    }
}

#[test]
fn what_a_library_moves_or_persists_for_the_program_is_the_programs() {
    if no_clwb() {
        return;
    }
    let cases = [
        (
            "long *e = store_entry(pool, 9);\n*(volatile long *)e = 1;\nstore_persist(e, 8);\n\
             store_persist(e, 8);",
            ("redundant-flush", 7),
        ),
        (
            "long value = 1;\nstore_memcpy(store_entry(pool, 9), &value, 8);",
            ("missing-flush", 5),
        ),
        (
            "long *e = store_entry(pool, 9);\n*(volatile long *)e = 1;",
            ("missing-flush", 5),
        ),
    ];
    for (body, (kind, line)) in cases {
        let folder = tempfile::tempdir().unwrap();
        let report = crash(&with_store(folder.path(), body, "-g0"), &[]);
        let expected = (kind.to_owned(), "uses.c".to_owned(), line);
        let found = findings(&report);
        assert!(found.contains(&expected), "{expected:?}: {report:#}");
        let others = found
            .iter()
            .filter(|f| **f != expected && f.0 != "redundant-fence");
        assert_eq!(others.count(), 0, "{report:#}");
    }
}

/// What it has for its callers it hands out as addresses, without names, and of its own it keeps nothing there.
#[test]
fn libpmem2_copies_for_its_callers() {
    let library = r#"
        static void moves(volatile long *to, const long *from, long words) {
            for (long i = 0; i < words; i++) to[i] = from[i];
        }
        void (*handed_out(void))(volatile long *, const long *, long) { return moves; }
    "#;
    let source = r#"
        #include <fcntl.h>
        #include <sys/mman.h>
        #include <unistd.h>
        void (*handed_out(void))(volatile long *, const long *, long);
        int main(int argc, char **argv) {
            int fd = open(argv[argc - 1], O_RDWR | O_CREAT, 0600);
            if (ftruncate(fd, 4096) != 0) return 2;
            long *pool = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), data[2] = {1, 2};
            handed_out()(pool, data, 2); /* not flushed */
            _exit(0);
        }
    "#;
    let folder = tempfile::tempdir().unwrap();
    let shared = ["-shared", "-fPIC", "-g0", "-s"];
    c_program(folder.path(), "libpmem2.so", library, &shared);
    let at = format!("-L{}", text(folder.path()));
    let path = format!("-Wl,-rpath,{},-z,now", text(folder.path()));
    let flags = ["-Wl,--no-as-needed", &at, &path, "-lpmem2"];
    let program = c_program(folder.path(), "copies", source, &flags);
    let report = crash(&record(folder.path(), &program, &[]), &[]);
    let line = 1 + source
        .lines()
        .position(|l| l.contains("not flushed"))
        .unwrap() as u32;
    let expected = ("missing-flush".to_owned(), "copies.c".to_owned(), line);
    assert_eq!(findings(&report), [expected], "{report:#}");
}
