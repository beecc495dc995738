//! Templates of the C++ library, and Go's library, which are compiled into the program: what they write is their callers'.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::{compile, findings, run, text};

const SOURCE: &str = r#"
#include <algorithm>
#include <vector>
struct Cell { double x; Cell() : x(1) {} /* constructs */ };
double used;
int main() {
    for (int round = 0; round < 4; round++) {
        std::vector<double> filled(1 << 20, 1.5 + round); /* fills */
        std::vector<double> copied(filled); /* copies */
        std::vector<Cell> cells(1 << 20);
        std::for_each(copied.begin(), copied.end(), [](double &d) {
            d = 2 * d + 1; /* changes */
        });
        used += filled[round] + copied[round] + cells[round].x;
    }
    return used < 0;
}
"#;

#[test]
fn a_finding_is_at_the_line_that_uses_the_template() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("templates.cpp");
    std::fs::write(&source, SOURCE).unwrap();
    // Nothing inlined, some, all.
    for level in ["-O0", "-O1", "-O2"] {
        let program = folder.path().join(format!("templates{level}"));
        compile(
            &source,
            &program,
            &[level, "-Wl,--no-as-needed", "-lstdc++"],
        );
        let args = ["advise", "--format", "json", "--", text(&program)];
        let report = run(args).exits(0).json();
        let lines: Vec<_> = findings(&report).iter().map(|f| &f["line"]).collect();
        for mark in ["fills", "copies", "constructs", "changes"] {
            let line = 1 + SOURCE.lines().position(|l| l.contains(mark)).unwrap();
            let found = lines.iter().any(|l| l.as_u64() == Some(line as u64));
            assert!(found, "{level}: nothing at line {line}, {mark}: {lines:?}");
        }
        for f in findings(&report) {
            let ours = f["file"].as_str().is_some_and(|f| f.ends_with(".cpp"));
            assert!(ours, "{level}: a user cannot change this: {f:#}");
            // Headers of the allocator's own lie between.
            let data = f["allocations"].as_array().unwrap().iter();
            for data in data.filter(|data| data["share"].as_f64().unwrap() > 0.01) {
                assert_eq!(data["function"], "main", "{level}: {f:#}");
            }
        }
    }
}

/// What a compiler of Go makes of its library, in C: symbols and files are called so.
const LIKE_GO: &str = r#"
#include <stdlib.h>
void grow(double *to, long n) __asm__("bytes.growSlice");
void move(double *to, long n) __asm__("runtime.memmove");
int main(void) {
    double *all = malloc(3 << 20 << 3);
    for (long round = 0; round < 3; round++)
        grow(all + (round << 20), 1 << 20); /* appends */
    return all[5] == 7;
}
#line 166 "/usr/local/go/src/runtime/memmove_amd64.s"
__attribute__((noinline)) void move(double *to, long n) {
    for (long i = 0; i < n; i++)
        to[i] = i;
}
#line 267 "/usr/local/go/src/bytes/buffer.go"
__attribute__((noinline)) void grow(double *to, long n) {
    move(to, n);
    __asm__ volatile("");
}
"#;

#[test]
fn a_finding_is_at_the_line_that_uses_the_library_of_go() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("like_go.c");
    std::fs::write(&source, LIKE_GO).unwrap();
    let program = folder.path().join("like_go");
    compile(&source, &program, &["-O1"]);
    let args = ["advise", "--format", "json", "--", text(&program)];
    let report = run(args).exits(0).json();
    let place = &findings(&report)[0];
    let line = LIKE_GO.lines().position(|l| l.contains("appends"));
    assert_eq!(place["line"], 1 + line.unwrap(), "{place:#}");
    assert_eq!(place["writer"], "runtime.memmove", "{place:#}");
}
