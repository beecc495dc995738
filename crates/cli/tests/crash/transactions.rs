//! libpmemobj: nothing is found in correct transactions, and what is missing in others is.

use super::*;

/// The program `name` with a defect, and its recording with `options`; `None` where there is no libpmemobj.
fn recorded(
    folder: &Path,
    name: &str,
    defect: &str,
    options: &[&str],
) -> Option<(PathBuf, PathBuf)> {
    if no_pmemobj() {
        return None;
    }
    let source = root()
        .canonicalize()
        .unwrap()
        .join(PROGRAMS)
        .join(format!("{name}.c"));
    let program = folder.join(format!("{name}{defect}"));
    compile(
        &source,
        &program,
        &[
            &format!("-DDEFECT={defect}"),
            "-Wl,--no-as-needed",
            "-lpmemobj",
        ],
    );
    let (dir, pool) = (folder.join("trace"), folder.join("pool"));
    // Else the library writes back whole pages where the file is on no persistent memory.
    let flushes = "PMEM_IS_PMEM_FORCE=1";
    let mut command = vec!["record", "-q", "--force", "-o", text(&dir)];
    command.extend(options);
    command.extend(["--", "env", flushes, text(&program), text(&pool)]);
    run(command).exits(0);
    fs::remove_file(pool).unwrap();
    Some((program, dir))
}

/// What images show from when the pool is there.
fn seen(program: &Path, dir: &Path) -> (Vec<(String, String, u32)>, Value) {
    let check = format!("{} check {{image}}", text(program));
    let options = [
        "--image", "pool", "--check", &check, "--images", "80", "--from", "push",
    ];
    let report = crash(dir, &options);
    (findings(&report), report)
}

#[test]
fn transactions_have_no_finding_but_those_that_lack_something() {
    let folder = tempfile::tempdir().unwrap();
    for (defect, expected) in [
        ("0", None),
        ("1", Some(("ordering", "/* no TX_ADD */"))),
        ("2", Some(("missing-flush", "/* no persist */"))),
    ] {
        let recorded = recorded(folder.path(), "transactions", defect, &["--values"]);
        let Some((program, dir)) = recorded else {
            return;
        };
        let (found, report) = seen(&program, &dir);
        let expected = expected.map(|(kind, mark)| {
            let line = source_line(&format!("{PROGRAMS}/transactions.c"), mark);
            (kind.to_owned(), "transactions.c".to_owned(), line)
        });
        match expected {
            None => {
                assert_eq!(found, [], "{report:#}");
                // Without images nothing is held against the library either.
                let unchecked = crash(&dir, &["--image", "pool"]);
                assert_eq!(findings(&unchecked), [], "{unchecked:#}");
                assert_ne!(unchecked["libraries"], serde_json::json!([]));
            }
            Some(place) => assert!(
                found.iter().any(|f| (&f.1, f.2) == (&place.1, place.2)),
                "{defect}: {found:?} {report:#}"
            ),
        }
    }
}

#[test]
fn what_is_not_added_to_its_transaction_is_found_without_a_check() {
    let folder = tempfile::tempdir().unwrap();
    let source = format!("{PROGRAMS}/undo_log.c");
    for (defect, expected) in [
        ("0", None),
        ("1", Some(("ordering", "push", 3))),
        ("2", Some(("ordering", "count_again", 1))),
        ("3", Some(("ordering", "count_again", 1))),
        ("4", Some(("ordering", "abort_and_go_on", 1))),
        ("5", Some(("missing-flush", "sum_up", 1))),
        ("6", Some(("ordering", "sum_up", 1))),
        ("7", Some(("ordering", "begin_with", 1))),
        ("8", Some(("ordering", "make_in_vain", 1))),
    ] {
        let Some((_, dir)) = recorded(folder.path(), "undo_log", defect, &[]) else {
            return;
        };
        let report = crash(&dir, &["--image", "pool"]);
        let found = findings(&report);
        // An undo log is needed where the caches are persistent, too.
        let in_caches = findings(&crash(&dir, &["--image", "pool", "--domain", "eadr"]));
        let Some((kind, function, count)) = expected else {
            assert_eq!(found, [], "{report:#}");
            assert_eq!(in_caches, []);
            continue;
        };
        let line = source_line(&source, &format!("/* defect {defect}: "));
        let place = |kind: &str| (kind.to_owned(), "undo_log.c".to_owned(), line);
        assert_eq!(found, [place(kind)], "{defect}: {report:#}");
        assert_eq!(in_caches, [place("ordering")], "{defect}");
        let finding = &report["findings"][0];
        assert_eq!(finding["count"], count, "{finding:#}");
        assert_eq!(finding["transaction"]["function"], function, "{finding:#}");
        let reason = finding["reason"].as_str().unwrap();
        assert!(
            reason.contains("was not added to the transaction"),
            "{reason}"
        );
    }
}

/// What a call is told is known of recordings with values; who calls to persist what is, of all.
#[test]
fn what_the_library_is_asked_for_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let source = format!("{PROGRAMS}/asked.c");
    for (defect, expected) in [
        ("0", None),
        ("1", Some(("ordering", 3))),
        ("2", Some(("ordering", 3))),
        ("3", Some(("redundant-flush", 1))),
    ] {
        let Some((_, dir)) = recorded(folder.path(), "asked", defect, &["--values"]) else {
            return;
        };
        let report = crash(&dir, &["--image", "pool"]);
        let expected: Vec<_> = (expected.iter())
            .map(|(kind, count)| {
                let line = source_line(&source, &format!("/* defect {defect}: "));
                ((kind.to_string(), "asked.c".to_owned(), line), *count)
            })
            .collect();
        let all = report["findings"].as_array().unwrap().iter();
        let counts = all.map(|f| f["count"].as_u64().unwrap());
        let found: Vec<_> = findings(&report).into_iter().zip(counts).collect();
        assert_eq!(found, expected, "{defect}: {report:#}");
    }
}
