//! Functions that end with a jump to another one: what that writes is theirs, not their callers'.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::{advise, c_program, finding, findings, run, text};
use serde_json::Value;

const SOURCE: &str = r#"
#include <stdlib.h>
#include <string.h>
#define BYTES (8 << 20)
#define APART __attribute__((noipa))
APART void *clear(char *to, int with) {
    return memset(to, with, BYTES); /* clears */
}
APART void *through(char *to, int with) {
    to[0] = 1;
    return clear(to + 64, with); /* goes on */
}
APART void *either(char *to, const char *from, int with) {
    if (with == 3)
        return memcpy(to, from, BYTES); /* copies */
    return through(to, with);
}
int main(void) {
    char *a = malloc(BYTES + 64), *b = malloc(BYTES + 64);
    for (int round = 0; round < 8; round++) {
        either(a, b, 3); /* called */
        either(b, a, round | 4);
    }
    return a[100] + b[100] > 1000;
}
"#;

fn line_of(mark: &str) -> usize {
    let at = SOURCE.lines().position(|line| line.contains(mark));
    at.unwrap() + 1
}

/// Function and line of the finding, and of its callers.
fn frames(finding: &Value) -> Vec<(String, usize)> {
    let frame = |f: &Value| {
        let line = f["line"].as_u64().unwrap_or_default();
        (f["function"].as_str().unwrap().to_owned(), line as usize)
    };
    let chain = finding["call_chain"].as_array().unwrap();
    [finding].into_iter().chain(chain).map(frame).collect()
}

const SEVERAL: &str = r#"
#include <stdlib.h>
#include <string.h>
#define BYTES (8 << 20)
#define APART __attribute__((noipa))
APART void *first(char *to, int with) { return memset(to, with, BYTES); }
APART void *second(char *to, int with) { return memset(to, with + 1, BYTES); }
APART void *one_of_them(char *to, int with) { return with & 1 ? first(to, with) : second(to, with); }
int main(void) {
    char *a = malloc(BYTES);
    for (int round = 0; round < 8; round++)
        one_of_them(a, round);
    return a[100] > 100;
}
"#;

#[test]
fn one_of_several_ways_is_not_guessed() {
    let folder = tempfile::tempdir().unwrap();
    let program = c_program(folder.path(), "several", SEVERAL, &[]);
    let args = ["advise", "--format", "json", "--", text(&program)];
    let report = run(args).exits(0).json();
    assert_eq!(findings(&report).len(), 1, "{report:#}");
    assert_eq!(frames(finding(&report, "main"))[1].0, "main");
}

const BOTH: &str = r#"
#include <stdlib.h>
#include <string.h>
#define BYTES (16 << 20)
__attribute__((noipa)) void *put(char *to, const char *from) {
    if (from == 0)
        return memset(to, 7, BYTES); /* clears */
    return memmove(to, from, BYTES); /* copies */
}
int main(int argc, char **argv) {
    char *a = malloc(BYTES), *b = malloc(BYTES);
    memset(b, argc, BYTES);
    for (int i = 0; i < 6; i++) {
        if (argc > 1) {
            put(a, 0); /* to clear */
            put(a, b); /* to copy */
        } else {
            put(a, i & 1 ? b : 0); /* to do either */
        }
    }
    return argv[0] == a;
}
"#;

/// Line of the mark in `BOTH`.
fn line_in_both(mark: &str) -> usize {
    1 + BOTH.lines().position(|line| line.contains(mark)).unwrap()
}

#[test]
fn of_two_jumps_each_is_named_for_what_it_led_to_and_none_for_what_both_did() {
    let folder = tempfile::tempdir().unwrap();
    for flags in [&[][..], &["-static"]] {
        let program = c_program(folder.path(), "both", BOTH, flags);
        let apart = advise(&program, &["apart"]);
        for (mark, call) in [("/* clears */", "to clear"), ("/* copies */", "to copy")] {
            let put = |f: &&Value| frames(f)[0] == ("put".to_owned(), line_in_both(mark));
            let found = findings(&apart).iter().find(put);
            let chain = frames(found.unwrap_or_else(|| panic!("{flags:?}: {apart:#}")));
            assert_eq!(
                chain[2],
                ("main".to_owned(), line_in_both(call)),
                "{flags:?}"
            );
        }
        let together = advise(&program, &[]);
        let here = ("main".to_owned(), line_in_both("to do either"));
        let found = findings(&together).iter().find(|f| frames(f)[0] == here);
        let found = found.unwrap_or_else(|| panic!("{flags:?}: {together:#}"));
        let writer = found["writer"].as_str().unwrap();
        assert!(
            writer.contains("memset") && writer.contains(" and mem"),
            "{writer}"
        );
    }
}

#[test]
fn what_is_written_behind_a_jump_is_the_jumping_functions() {
    let folder = tempfile::tempdir().unwrap();
    let all: [&[&str]; 4] = [&[], &["-fno-plt"], &["-no-pie"], &["-fcf-protection=full"]];
    for (n, flags) in all.into_iter().enumerate() {
        let program = c_program(folder.path(), &format!("tails{n}"), SOURCE, flags);
        let args = ["advise", "--format", "json", "--", text(&program)];
        let report = run(args).exits(0).json();
        for (function, mark) in [("clear", "/* clears */"), ("either", "/* copies */")] {
            let found = frames(finding(&report, function));
            let at = (function.to_owned(), line_of(mark));
            assert_eq!(found[0], at, "{flags:?}: {found:#?}");
            assert_eq!(found[1], at, "{flags:?}: {found:#?}");
            assert_eq!(found[2].0, "main", "{flags:?}: {found:#?}");
        }
        let of_main = findings(&report).iter().find(|f| f["function"] == "main");
        assert_eq!(of_main, None, "{flags:?}: {report:#}");
    }
}

const REGROWN: &str = r#"
#include <stdlib.h>
#include <string.h>
__attribute__((noipa)) void *regrown(void *old, size_t bytes) {
    return realloc(old, bytes); /* moves */
}
int main(void) {
    char *held[64];
    for (int i = 0; i < 64; i++) {
        held[i] = malloc(100000);
        memset(held[i], i, 100000);
    }
    for (int i = 0; i < 64; i++)
        held[i] = regrown(held[i], 120000);
    return held[7][5] != 7;
}
"#;

#[test]
fn what_a_library_writes_behind_a_jump_into_it_is_the_jumping_functions() {
    let folder = tempfile::tempdir().unwrap();
    let program = c_program(folder.path(), "regrown", REGROWN, &[]);
    let args = ["advise", "--format", "json", "--", text(&program)];
    let report = run(args).exits(0).json();
    let found = frames(finding(&report, "regrown"));
    let at = REGROWN.lines().position(|line| line.contains("moves"));
    assert_eq!(found[0].1, at.unwrap() + 1, "{found:#?}");
}

const CALLED_BY_OTHERS: &str = r#"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#define BYTES (8 << 20)
static void *clear(void *to) {
    return memset(to, 7, BYTES); /* clears */
}
static void *copy(void *to) {
    return memcpy(to, (char *)to + BYTES, BYTES); /* copies */
}
static void *(*volatile work[])(void *) = {clear, copy};
int main(void) {
    char *a = malloc(2 * BYTES);
    memset(a, 1, 2 * BYTES);
    for (int round = 0; round < 8; round++) {
        pthread_t thread;
        if (pthread_create(&thread, 0, work[round & 1], a))
            return 1;
        pthread_join(thread, 0);
        work[round & 1](a);
    }
    return a[100] > 100;
}
"#;

#[test]
fn who_jumps_is_known_also_when_called_by_a_pointer_from_the_program_or_a_library() {
    let folder = tempfile::tempdir().unwrap();
    for (n, flags) in [&["-pthread"][..], &["-pthread", "-static"]]
        .into_iter()
        .enumerate()
    {
        let name = format!("pointers{n}");
        let program = c_program(folder.path(), &name, CALLED_BY_OTHERS, flags);
        let report = advise(&program, &[]);
        for (function, mark) in [("clear", "/* clears */"), ("copy", "/* copies */")] {
            let at = CALLED_BY_OTHERS
                .lines()
                .position(|line| line.contains(mark));
            let found = frames(finding(&report, function));
            let here = (function.to_owned(), at.unwrap() + 1);
            assert_eq!(found[0], here, "{flags:?}: {found:#?}");
            assert_eq!(found[1], here, "{flags:?}: {found:#?}");
            assert_ne!(found[2].0, function, "{flags:?}: {found:#?}");
            // 8 rounds of 8 MB: what threads and the program itself had written is one.
            let bytes = finding(&report, function)["store_bytes"].as_u64().unwrap();
            assert!((64 << 20..65 << 20).contains(&bytes), "{flags:?}: {bytes}");
        }
    }
}
