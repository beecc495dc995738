//! libpmemobj: nothing is found in correct transactions, and what is missing in others is.

use super::*;

/// The program with a defect, and its recording; `None` where there is no libpmemobj.
fn transactions(folder: &Path, defect: &str) -> Option<(PathBuf, PathBuf)> {
    if no_pmemobj() {
        return None;
    }
    let source = root()
        .canonicalize()
        .unwrap()
        .join(PROGRAMS)
        .join("transactions.c");
    let program = folder.join(format!("transactions{defect}"));
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
    let command = [
        "record",
        "-q",
        "--force",
        "--values",
        "-o",
        text(&dir),
        "--",
        "env",
        flushes,
    ];
    run(command.iter().chain(&[text(&program), text(&pool)])).exits(0);
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
        let Some((program, dir)) = transactions(folder.path(), defect) else {
            return;
        };
        fs::remove_file(folder.path().join("pool")).unwrap();
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
