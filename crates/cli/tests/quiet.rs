//! `--quiet` leaves the result and errors; programs that do nothing get no advice.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::{advice, advise, c_program, run, text};
use serde_json::Value;

#[test]
fn nothing_but_the_result_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let program = c_program(folder.path(), "fails", "int main(void) { return 7; }", &[]);
    let loud = run(["advise", "--", text(&program)]).exits(3);
    assert!(loud.stderr.contains("exit code 7"), "{loud:?}");
    let quiet = run(["advise", "-q", "--", text(&program)]).exits(3);
    assert_eq!(quiet.stderr, "");
    assert_eq!(quiet.stdout.is_empty(), loud.stdout.is_empty());

    let dir = folder.path().join("trace");
    let recorded = run(["record", "-q", "-o", text(&dir), "--", text(&program)]).exits(3);
    assert_eq!(
        (recorded.stdout.as_str(), recorded.stderr.as_str()),
        ("", "")
    );
    // Errors are told.
    run(["record", "-q", "-o", text(&dir), "--", text(&program)])
        .exits(2)
        .says(&["--force"]);
}

#[test]
fn a_program_that_only_starts_gets_no_advice() {
    let folder = tempfile::tempdir().unwrap();
    let sources = [
        ("nothing", "int main(void) { return 0; }"),
        (
            "sleeps",
            "#include <unistd.h>\nint main(void) { return usleep(1000); }",
        ),
    ];
    for (name, source) in sources {
        let program = c_program(folder.path(), name, source, &["-lm", "-lpthread"]);
        let report = advise(&program, &[]);
        assert!(advice(&report).is_empty(), "{name}: {report:#}");
    }
    // However little time counts as much.
    let report = run([
        "advise",
        "--threshold",
        "min_write_time=0.001",
        "--format",
        "json",
        "--",
        "sleep",
        "0.01",
    ])
    .exits(0)
    .json();
    assert_eq!(of_loader(&report), Vec::<&Value>::new());
}

/// Advice about what the dynamic loader writes.
fn of_loader(report: &Value) -> Vec<&Value> {
    let loaders = |f: &&Value| {
        let by = |key: &str| f[key].as_str().unwrap_or_default();
        by("module").contains("/ld-linux") || by("writer").starts_with("_dl_")
    };
    advice(report).into_iter().filter(loaders).collect()
}

/// What a function that is called for the first time is looked up with is not what its caller writes.
#[test]
fn looking_a_symbol_up_is_no_writing_of_the_caller() {
    let folder = tempfile::tempdir().unwrap();
    let source = r#"
        #include <ctype.h>
        #include <stdlib.h>
        #include <string.h>
        #include <unistd.h>
        int main(int n, char **v)
        {
            char text[64] = "";
            strncpy(text, v[0], 60);
            n += strlen(text) + strcspn(text, "/") + strspn(text, "/") + abs(n) + atoi(text) + getpid();
            n += strtol(text, 0, 10) + toupper(n & 127) + isalpha(n & 127) + (int)random() + rand() + getuid();
            return (n + (getenv("HOME") != 0) + (strchr(text, 'x') != 0) + (strstr(text, "y") != 0)) & 0;
        }"#;
    let options = ["-O0", "-fno-builtin", "-Wl,-z,lazy"];
    let program = c_program(folder.path(), "looks_up", source, &options);
    let asked = [
        "advise",
        "--threshold",
        "min_write_time=0.001",
        "--format",
        "json",
        "--",
    ];
    let report = run(asked.into_iter().chain([text(&program)]))
        .exits(0)
        .json();
    assert_eq!(of_loader(&report), Vec::<&Value>::new());
}
