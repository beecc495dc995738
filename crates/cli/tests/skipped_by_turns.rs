//! Advice to skip the cache for arrays that a function fills by turns says how to write them.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::{c_program, run, text};

#[test]
fn arrays_that_are_filled_by_turns_are_to_be_written_line_by_line() {
    let folder = tempfile::tempdir().unwrap();
    let source = r#"
        #include <stdlib.h>
        #define N 3000000
        __attribute__((noipa)) static void both(double *a, double *b, double x) {
            for (long i = 0; i < N; i++) { a[i] = x * i; b[i] = x + i; }
        }
        __attribute__((noipa)) static void one(double *a, double x) {
            for (long i = 0; i < N; i++) a[i] = x - i;
        }
        int main(void) {
            double *a = malloc(8 * N), *b = malloc(8 * N), *c = malloc(8 * N);
            for (int i = 0; i < 3; i++) { both(a, b, i); one(c, i); }
            return a[5] + b[5] + c[5] == 1;
        }
        "#;
    let program = c_program(
        folder.path(),
        "turns",
        source,
        &["-O1", "-fno-tree-vectorize"],
    );
    let report = run(["advise", "-q", "--format", "json", "--", text(&program)]);
    let report = report.exits(0).json();
    let findings = report["findings"].as_array().unwrap();
    let warned = |function: &str| -> Vec<bool> {
        let its = findings.iter().filter(|f| f["function"] == function);
        its.map(|f| {
            assert_eq!(f["verdict"], "skip", "{f:#}");
            f["reason"]
                .as_str()
                .unwrap()
                .contains("put each line out whole")
        })
        .collect()
    };
    assert_eq!(warned("both"), [true, true], "{report:#}");
    assert_eq!(warned("one"), [false], "{report:#}");
}
