//! `--quiet` leaves the result and errors; programs that do nothing get no advice.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::{advice, advise, c_program, run, text};

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
    let of_loader = |f: &&serde_json::Value| f["module"].as_str().unwrap().contains("/ld-linux");
    let told: Vec<_> = advice(&report).into_iter().filter(of_loader).collect();
    assert!(told.is_empty(), "{told:#?}");
}
