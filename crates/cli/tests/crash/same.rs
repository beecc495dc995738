//! Stores that change nothing, and flushes that are of use at times.

use super::*;

/// What is found where `body` is done to a new file, at `at`.
fn found(body: &str, options: &[&str]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let program = c_program(folder.path(), "same", &other_ways(body), &["-Wl,-z,now"]);
    let dir = record(folder.path(), &program, options);
    crash(&dir, &["--image", "pool"])
}

/// A power cut loses nothing of it. It may of what was something else meanwhile, which the caches may have written back.
#[test]
fn what_is_persistent_as_it_is_stored_again_needs_no_flush() {
    let zeros = "for (int i = 0; i < 512; i++) at[i] = 0;";
    let again = "at[0] = 1; _mm_clflush((void *)at); at[0] = 1;";
    let meanwhile = "at[0] = 1; at[0] = 0;";
    let beside = "at[0] = 0; at[1] = 1; at[9] = 0;";
    let late = "at[0] = 1; _mm_clflush((void *)at); _mm_sfence(); at[0] = 1; _mm_clflush((void *)at); at[0] = 1; _mm_sfence();";
    let cases: [(&str, &[&str], u64); 7] = [
        (zeros, &["--values"], 0),
        (zeros, &[], 512),
        (again, &["--values"], 0),
        (again, &[], 1),
        (meanwhile, &["--values"], 1),
        (beside, &["--values"], 1),
        (late, &["--values"], 0),
    ];
    for (body, options, stores) in cases {
        let report = found(body, options);
        let all = report["findings"].as_array().unwrap();
        let lost = all.iter().filter(|f| f["kind"] != "redundant-flush");
        let lost: u64 = lost.map(|f| f["count"].as_u64().unwrap()).sum();
        assert_eq!(lost, stores, "{body} {options:?}: {report:#}");
    }
}

/// To leave it out would lose what the others write back.
#[test]
fn a_flush_that_is_needed_at_times_is_not_to_be_left_out() {
    let body = "for (int i = 0; i < 50; i++) { if (i % 10) at[i * 8] = 1; _mm_clflush((void *)(at + i * 8)); }";
    let report = found(body, &["--values"]);
    let finding = &report["findings"][0];
    assert_eq!(finding["kind"], "redundant-flush", "{report:#}");
    assert_eq!((&finding["count"], &finding["of"]), (&5.into(), &50.into()));
    let reason = finding["reason"].as_str().unwrap();
    assert!(reason.contains("5 of 50 flushes here"), "{reason}");
    assert!(reason.contains("do not leave it out"), "{reason}");
    let never = found("_mm_clflush((void *)at);", &["--values"]);
    let reason = never["findings"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("; leave the flush out"), "{reason}");
}

/// Who persists what it has read of another thread may be the first to do so in another run.
#[test]
fn a_flush_of_what_another_thread_has_stored_may_have_to_stay() {
    let source = r#"#include <fcntl.h>
#include <immintrin.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
static long *pool;
static void *store(void *of) {
    pool[0] = 1;
    _mm_clflush(pool);
    _mm_sfence();
    return of;
}
int main(int argc, char **argv) {
    pthread_t thread;
    int fd = open(argv[argc - 1], O_RDWR | O_CREAT, 0600);
    if (ftruncate(fd, 4096) != 0) return 2;
    pool = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (argc == 2) {
        pthread_create(&thread, NULL, store, NULL);
        pthread_join(thread, NULL);
    } else
        store(NULL);
    _mm_clflush(pool);
    _mm_sfence();
    _exit(0);
}
"#;
    let folder = tempfile::tempdir().unwrap();
    let program = c_program(folder.path(), "reads", source, &["-pthread", "-Wl,-z,now"]);
    for (arguments, helps) in [(&["pool"][..], true), (&["alone", "pool"], false)] {
        let dir = folder.path().join("helps");
        let command = ["record", "--force", "-o", text(&dir), "--", text(&program)];
        let mut recorder = prestore();
        recorder
            .args(command)
            .args(arguments)
            .current_dir(folder.path());
        Running::start(recorder).finish().exits(0);
        let report = crash(&dir, &["--image", "pool"]);
        let all = report["findings"].as_array().unwrap();
        assert_eq!(all.len(), 1, "{report:#}");
        let reason = all[0]["reason"].as_str().unwrap();
        assert_eq!(all[0]["kind"], "redundant-flush", "{report:#}");
        assert_eq!(
            reason.contains("1 flushed a line that another thread"),
            helps,
            "{reason}"
        );
    }
}

/// The flush that is named is the line's own, also where that was flushed before anything was stored to it.
#[test]
fn a_flush_before_the_first_store_is_the_nearest_one() {
    let body = "_mm_clflush((void *)at);\n_mm_clflush((void *)(at + 8));\nat[0] = 1;";
    let report = found(body, &[]);
    let all = report["findings"].as_array().unwrap();
    let missing = all.iter().find(|f| f["kind"] == "missing-flush").unwrap();
    let line = missing["line"].as_u64().unwrap();
    assert_eq!(missing["flush"]["line"], line - 2, "{report:#}");
}

/// An early return that leaves a flush out, and a place that never flushes, are mended in different ways.
#[test]
fn of_stores_that_are_flushed_at_times_both_numbers_are_said() {
    let body = "for (int i = 0; i < 50; i++) { at[i * 8] = 1; if (i % 10) _mm_clflush((void *)(at + i * 8)); }";
    for options in [&["--values"][..], &[]] {
        let report = found(body, options);
        let finding = &report["findings"][0];
        assert_eq!(finding["kind"], "missing-flush", "{report:#}");
        assert_eq!((&finding["count"], &finding["of"]), (&5.into(), &50.into()));
    }
    let folder = tempfile::tempdir().unwrap();
    let program = c_program(folder.path(), "some", &other_ways(body), &["-Wl,-z,now"]);
    let dir = record(folder.path(), &program, &[]);
    let said = run(["crash", text(&dir), "--image", "pool"])
        .exits(0)
        .stdout;
    assert!(said.contains("5 of 50 stores in pool"), "{said}");
}

/// Who has a structure in a header stores the pointer there, and not in the line that calls it.
#[test]
fn the_line_in_a_header_that_stores_a_pointer_is_named_too() {
    let header = "static __attribute__((noinline)) void insert(long *head, long *n) {
    n[0] = 7;
    __sync_bool_compare_and_swap((long **)head, 0, n);
    _mm_clflush(head); _mm_sfence();
    _mm_clflush(n); _mm_sfence();
}
";
    let source = r#"#include <fcntl.h>
#include <immintrin.h>
#include <sys/mman.h>
#include <unistd.h>
#include "insert.h"
int main(int argc, char **argv) {
    int fd = open(argv[argc - 1], O_RDWR | O_CREAT, 0600);
    if (ftruncate(fd, 4096) != 0) return 2;
    long *pool = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    insert(pool, pool + 64);
    _exit(0);
}
"#;
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("insert.h"), header).unwrap();
    let program = c_program(folder.path(), "inserts", source, &["-O0", "-Wl,-z,now"]);
    let report = crash(&record(folder.path(), &program, &["--values"]), &[]);
    let reason = report["findings"][0]["reason"].as_str().unwrap();
    let by = "what is stored at main (inserts.c:10), by insert (insert.h:3), a pointer to it";
    assert!(reason.contains(by), "{report:#}");
}

/// Nobody waits for what was there before.
#[test]
fn a_loop_over_what_was_written_before_is_no_wait() {
    let source = r#"#include <fcntl.h>
#include <immintrin.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
static volatile long *pool;
static long bound;
static void *work(void *given) {
    for (int i = 0; i < 200; i++) {
        for (int k = 0; k < bound; k++) ;
        pool[i % 64] = i + 1;
        _mm_clflush((void *)&pool[i % 64]);
        _mm_sfence();
    }
    return given;
}
int main(int argc, char **argv) {
    int fd = open(argv[argc - 1], O_RDWR | O_CREAT, 0600);
    if (ftruncate(fd, 4096) != 0) return 2;
    pool = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    bound = 20;
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    _exit(0);
}
"#;
    let folder = tempfile::tempdir().unwrap();
    let flags = ["-O0", "-pthread", "-Wl,-z,now"];
    let program = c_program(folder.path(), "loops", source, &flags);
    let dir = record(folder.path(), &program, &["--values"]);
    let said = run(["crash", text(&dir)]).exits(0).stdout;
    assert!(said.contains("No findings."), "{said}");
    assert!(!said.contains("waited in a loop"), "{said}");
}
