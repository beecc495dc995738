//! One thread flushes what another one stored, once it has been told: nothing is found, in whatever way it was told.

use super::*;

const WAYS: [&str; 9] = [
    "barrier",
    "condition",
    "semaphore",
    "pipe",
    "flag",
    "pause",
    "ring",
    "thread",
    "team",
];

/// Of which only recordings with values tell.
const OF_PROCESSES: [&str; 2] = ["child", "child-pipe"];

/// What is found in the program with a defect or without, told in this way, recorded with `options`: of a recording in which all waits
/// were recognised. A busy machine may cut them so short that they are not, which a note says.
fn found(folder: &Path, defect: &str, way: &str, options: &[&str]) -> Vec<(String, String, u32)> {
    let program = folder.join(format!("hand_over-{defect}"));
    let source = root().canonicalize().unwrap().join(PROGRAMS);
    if !program.exists() {
        let defect = format!("-DDEFECT={defect}");
        let flags = ["-pthread", "-fopenmp", "-mclwb", &defect];
        compile(&source.join("hand_over.c"), &program, &flags);
    }
    let (dir, pool) = (folder.join("trace"), folder.join("pool"));
    let mut command = vec!["record", "-q", "--force", "-o", text(&dir)];
    command.extend(options);
    command.extend(["--", text(&program), way, text(&pool)]);
    for _ in 0..8 {
        run(&command).exits(0);
        let report = crash(&dir, &[]);
        let notes = report["notes"].to_string();
        if !notes.contains("in a way that is not recognised") {
            return findings(&report);
        }
    }
    panic!("{way} {options:?}: never recognised");
}

#[test]
fn who_is_told_flushes_behind_who_stored() {
    if no_clwb() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let with_values = WAYS.into_iter().chain(OF_PROCESSES);
    let with_values = with_values.map(|way| (way, &["--values"][..]));
    for (way, options) in WAYS
        .map(|way| (way, &[][..]))
        .into_iter()
        .chain(with_values)
    {
        let found = found(folder.path(), "0", way, options);
        assert!(found.is_empty(), "{way} {options:?}: {found:?}");
    }
}

#[test]
fn what_nobody_flushes_is_found_beside_that() {
    if no_clwb() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let line = source_line(&format!("{PROGRAMS}/hand_over.c"), "/* stored */");
    for way in WAYS {
        let found = found(folder.path(), "1", way, &[]);
        let expected = ("missing-flush".to_owned(), "hand_over.c".to_owned(), line);
        assert_eq!(found, [expected], "{way}");
    }
}
