//! What the kernel's code in each process (`clock_gettime`) writes is written for who asks for it.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::{advise_with, c_program, finding, findings, run, text};

#[test]
fn a_time_that_is_asked_for_is_the_callers() {
    let folder = tempfile::tempdir().unwrap();
    let source = r#"
        #include <time.h>
        struct entry { struct timespec at; long rest[6]; };
        static struct entry entries[1 << 15];
        __attribute__((noipa)) static void stamp(struct entry *entry) {
            clock_gettime(CLOCK_MONOTONIC, &entry->at); /* asked */
            entry->rest[0]++;
        }
        int main(void) {
            for (int round = 0; round < 10; round++)
                for (int i = 0; i < 1 << 15; i++) stamp(&entries[i]);
            return 0;
        }"#;
    let program = c_program(folder.path(), "stamps", source, &[]);
    let report = advise_with(&["--threshold", "min_write_time=0.001"], &program, &[]);
    let asked = source.lines().position(|l| l.contains("asked")).unwrap() + 1;
    let at = finding(&report, "stamp");
    assert_eq!(
        (&at["line"], &at["generic_writer"]),
        (&asked.into(), &true.into()),
        "{at:#}"
    );
    for finding in findings(&report) {
        let module = finding["module"].as_str().unwrap_or_default();
        assert!(!module.starts_with("[vdso"), "{finding:#}");
    }
}

/// As what a system call writes.
#[test]
fn a_time_that_may_be_lost_is_the_callers() {
    let folder = tempfile::tempdir().unwrap();
    let source = r#"
        #include <fcntl.h>
        #include <sys/mman.h>
        #include <time.h>
        #include <unistd.h>
        int main(int n, char **args) {
            int fd = open(args[1], O_RDWR | O_CREAT, 0600);
            if (ftruncate(fd, 4096) != 0) return 1;
            struct timespec *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
            return clock_gettime(CLOCK_MONOTONIC, at) != 0; /* asked */
        }"#;
    let program = c_program(folder.path(), "stamps", source, &[]);
    let (pool, dir) = (folder.path().join("pool"), folder.path().join("trace"));
    run([
        "record",
        "-q",
        "-o",
        text(&dir),
        "--",
        text(&program),
        text(&pool),
    ])
    .exits(0);
    let report = run(["crash", text(&dir), "--format", "json"])
        .exits(0)
        .json();
    let asked = source.lines().position(|l| l.contains("asked")).unwrap() + 1;
    let found = report["findings"].as_array().unwrap();
    assert!(!found.is_empty(), "{report:#}");
    for finding in found {
        assert_eq!(
            (&finding["kind"], &finding["function"], &finding["line"]),
            (&"missing-flush".into(), &"main".into(), &asked.into()),
            "{finding:#}"
        );
    }
}
