//! Flushes, fences and non-temporal stores that programs have already, and what is no data of theirs.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::{advise, advise_with, c_program, findings, prestore, workload};
use serde_json::Value;

fn pitfalls(report: &Value) -> &[Value] {
    report["pitfalls"].as_array().unwrap()
}

#[test]
fn cleaning_a_line_that_is_rewritten_at_once_is_told_in_every_form() {
    let listing3 = workload("listing3").unwrap();
    let report = advise(&listing3, &["--op=clean", "--iters=100K"]);
    let all = pitfalls(&report);
    assert_eq!(all.len(), 1, "{report:#}");
    assert_eq!(all[0]["kind"], "flush-of-rewritten-line");
    // The library's flush is inlined: the place is the program's that calls it.
    let file = all[0]["file"].as_str().unwrap();
    assert!(
        file.contains("workloads/") && !file.contains("include/"),
        "{report:#}"
    );
    // The library's first one chooses the instruction, and is elsewhere.
    assert_eq!(all[0]["executed"], (100 << 10) - 1);
    assert!(all[0]["affected"].as_u64() > Some(100_000), "{report:#}");
    assert!(all[0]["cost_share"].as_f64() > Some(0.5), "{report:#}");
    let run = |format: &str| {
        let mut command = prestore();
        command.args(["advise", "-q", "--format", format, "--"]);
        command.arg(&listing3).args(["--op=clean", "--iters=100K"]);
        let ran = command.output().unwrap();
        assert!(ran.status.success());
        String::from_utf8(ran.stdout).unwrap()
    };
    assert!(run("sarif").contains("prestore/flush-of-rewritten-line"));
    let said = run("text").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("flush of lines that are written again at once"));
}

#[test]
fn pre_stores_where_they_belong_are_no_pitfall() {
    let runs: [(&str, &[&str]); 7] = [
        ("listing1", &["--op=clean", "--iters=20K"]),
        ("listing1", &["--op=skip", "--iters=20K", "--reread=no"]),
        ("kv", &["--op=clean", "--ops=100K"]),
        ("kv", &["--op=skip", "--ops=100K"]),
        ("stencil", &["--op=clean", "--steps=4"]),
        ("stencil", &["--op=skip", "--steps=4"]),
        ("fft", &["--op=clean", "--rows=512"]),
    ];
    for (program, args) in runs {
        let report = advise(&workload(program).unwrap(), args);
        assert!(
            pitfalls(&report).is_empty(),
            "{program} {args:?}: {report:#}"
        );
    }
}

#[test]
fn a_place_that_is_cleaned_already_gets_no_advice_to_clean_it() {
    let report = advise(
        &workload("listing1").unwrap(),
        &["--op=clean", "--iters=20K"],
    );
    let element = common::finding(&report, "write_element");
    assert_eq!(element["verdict"], "leave-alone", "{element:#}");
    assert!(
        element["reason"].as_str().unwrap().contains("itself"),
        "{element:#}"
    );
}

#[test]
fn persistence_done_right_is_no_pitfall_and_done_twice_it_is() {
    let source = r#"
        #include <immintrin.h>
        #include <stdlib.h>
        __attribute__((noipa)) static void persist(const char *at, long bytes) {
            for (long i = 0; i < bytes; i += 64) _mm_clflush(at + i);
            _mm_sfence();
        }
        int main(int argc, char **argv) {
            char *log = aligned_alloc(64, 64 << 20);
            for (long i = 0; i < 50000; i++) {
                char *entry = log + i * 256;
                for (int j = 0; j < 256; j++) entry[j] = (char)(i + j);
                persist(entry, 256);
                if (argc > 1) persist(entry, 256);
            }
            return argv[0] == log;
        }
    "#;
    let folder = tempfile::tempdir().unwrap();
    let program = c_program(folder.path(), "log", source, &["-fno-tree-vectorize"]);
    assert!(pitfalls(&advise(&program, &[])).is_empty());
    let report = advise(&program, &["twice"]);
    let kinds: Vec<&Value> = pitfalls(&report).iter().map(|p| &p["kind"]).collect();
    assert_eq!(kinds, ["flush-of-clean-line"], "{report:#}");
    assert_eq!(pitfalls(&report)[0]["affected"], 50_000 * 4);
}

#[test]
fn a_full_fence_of_the_compiler_is_no_store_and_calls_are_no_data() {
    let source = r#"
        #include <pthread.h>
        #include <stdatomic.h>
        static volatile int turn;
        static long sink[4096];
        __attribute__((noipa)) static int deep(int n) { return n ? deep(n - 1) + 1 : 0; }
        static void *other(void *unused) {
            for (int i = 0; i < 200; i++) {
                while (turn != 1) atomic_thread_fence(memory_order_seq_cst);
                for (int j = 0; j < 4096; j++) sink[j] += deep(3);
                atomic_thread_fence(memory_order_seq_cst);
                turn = 0;
            }
            return unused;
        }
        int main(void) {
            pthread_t thread;
            pthread_create(&thread, 0, other, 0);
            for (int i = 0; i < 200; i++) {
                turn = 1;
                while (turn != 0) atomic_thread_fence(memory_order_seq_cst);
            }
            pthread_join(thread, 0);
            return sink[0] != 600;
        }
    "#;
    let folder = tempfile::tempdir().unwrap();
    let program = c_program(folder.path(), "turns", source, &["-pthread"]);
    // Who writes the word looks at it next, which may be read first in the order in which the threads' buffers come.
    let report = advise(&program, &[]);
    let lines: Vec<u64> = findings(&report)
        .iter()
        .filter_map(|f| f["line"].as_u64())
        .collect();
    assert!(!lines.is_empty(), "{report:#}");
    for f in findings(&report) {
        // What is left is the array; neither a fence nor a return address is data.
        assert_eq!(f["verdict"], "leave-alone", "{f:#}");
        assert_ne!(f["function"], "deep", "{f:#}");
        assert_ne!(f["function"], "main", "{f:#}");
    }
    assert!(
        report["totals"]["waited"].as_u64() > Some(1000),
        "{report:#}"
    );
}

#[test]
fn large_values_that_few_instructions_write_come_first() {
    let source = r#"
        #include <stdlib.h>
        #include <string.h>
        static unsigned table[1 << 10];
        __attribute__((noipa)) static void count(unsigned seed) {
            for (int i = 0; i < 400; i++) table[(seed = seed * 1664525 + 1013904223) >> 22]++;
        }
        __attribute__((noipa)) static void clear(char *value, long bytes) {
            __asm__ volatile("rep stosb" : "+D"(value), "+c"(bytes) : "a"(0) : "memory");
        }
        int main(void) {
            char *values = malloc(96 << 20);
            for (long i = 0; i < 96 << 20; i += 4096) {
                clear(values + i, 4096);
                count((unsigned)i);
            }
            return values[0];
        }
    "#;
    let folder = tempfile::tempdir().unwrap();
    let program = c_program(folder.path(), "clears", source, &[]);
    let report = advise_with(&["--all"], &program, &[]);
    assert_eq!(report["write_intensive"], true, "{report:#}");
    let first = &findings(&report)[0];
    assert_eq!(first["function"], "clear", "{report:#}");
    assert_eq!(first["verdict"], "skip");
    assert!(first["store_share"].as_f64() < Some(0.01), "{first:#}");
}

#[test]
fn non_temporal_stores_of_what_is_read_at_once_are_told_in_every_form() {
    let source = r#"
        #include <immintrin.h>
        #include <stdio.h>
        #include <stdlib.h>
        int main(int argc, char **argv) {
            long bytes = 32 << 20, sum = 0;
            char *all = aligned_alloc(64, bytes);
            __m128i value = _mm_set1_epi8(argc);
            for (long i = 0; i < bytes; i += 64) {
                for (int j = 0; j < 64; j += 16) _mm_stream_si128((__m128i *)(all + i + j), value);
                if (argc > 1) sum += *(volatile char *)(all + i);
            }
            _mm_sfence();
            printf("%ld\n", sum);
            return argv[0] == all;
        }
    "#;
    let folder = tempfile::tempdir().unwrap();
    let program = c_program(folder.path(), "around", source, &[]);
    assert!(pitfalls(&advise(&program, &[])).is_empty());
    let report = advise(&program, &["read"]);
    let [only] = pitfalls(&report) else {
        panic!("{report:#}");
    };
    assert_eq!(only["kind"], "non-temporal-of-near-data", "{only:#}");
    assert_eq!(only["affected"], (32 << 20) / 64, "{only:#}");
    let mut sarif = prestore();
    sarif.args(["advise", "-q", "--format", "sarif", "--"]);
    let ran = sarif.arg(&program).arg("read").output().unwrap();
    let said = String::from_utf8(ran.stdout).unwrap();
    assert!(
        said.contains("prestore/non-temporal-of-near-data"),
        "{said}"
    );
}
