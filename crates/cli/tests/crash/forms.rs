//! The forms of the output.

use super::*;

#[test]
fn every_form_has_the_findings_and_they_may_fail_a_build() {
    let folder = tempfile::tempdir().unwrap();
    let program = c_program(folder.path(), "forms", &other_ways("at[0] = 1;"), &[]);
    let dir = record(folder.path(), &program, &[]);
    let said = run(["crash", text(&dir)]).exits(0).stdout;
    for part in [
        "1. missing flush: use",
        "forms.c line",
        "flushed nothing of this memory",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let log = run(["crash", text(&dir), "--format", "sarif"])
        .exits(0)
        .json();
    let result = &log["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "prestore/missing-flush", "{log:#}");
    assert_eq!(log["runs"][0]["results"].as_array().unwrap().len(), 1);
    run(["crash", text(&dir), "--fail-on-findings"]).exits(1);
    let report = crash(&dir, &[]);
    assert_eq!(report["images"]["tried"], 0);
    assert_eq!(report["first_failure"], Value::Null);
    let clean = "at[0] = 1; _mm_clflush((void *)at);";
    let program = c_program(folder.path(), "clean", &other_ways(clean), &[]);
    let dir = record(folder.path(), &program, &[]);
    run(["crash", text(&dir), "--fail-on-findings"]).exits(0);
}
