//! The checker sees: each program of `programs/pm` has its defect found at its line by images, and nothing is
//! found in its twin, with images or without.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

const FILES: [&str; 6] = ["main", "flags", "logs", "links", "torn", "others"];

/// The programs, in one.
pub fn built(folder: &Path) -> PathBuf {
    let folder_of = root().canonicalize().unwrap().join(PROGRAMS).join("pm");
    let program = folder.join("pm");
    let source = |name: &str| folder_of.join(format!("{name}.c"));
    let rest: Vec<PathBuf> = FILES[1..].iter().map(|f| source(f)).collect();
    let mut flags = vec!["-pthread", "-mclwb", "-Wl,-z,now"];
    flags.extend(rest.iter().map(|path| text(path)));
    compile(&source("main"), &program, &flags);
    program
}

/// What is to be found, by the comments that name the program: `KIND: NAME, NAME; KIND: NAME`.
fn planted(name: &str) -> Vec<(String, String, u32)> {
    let mut all = Vec::new();
    for file in FILES {
        let path = root().join(PROGRAMS).join(format!("pm/{file}.c"));
        let source = fs::read_to_string(path).unwrap();
        for (number, line) in (1..).zip(source.lines()) {
            let comment = line
                .split_once("/* ")
                .and_then(|(_, c)| c.split_once(" */"));
            for part in comment.map_or("", |c| c.0).split("; ") {
                let (kind, names) = part.split_once(": ").unwrap_or_default();
                if names.split(", ").any(|n| n == name) {
                    all.push((kind.to_owned(), format!("{file}.c"), number));
                }
            }
        }
    }
    assert!(!all.is_empty(), "no line names {name}");
    all.sort();
    all
}

/// What is found in `program` with images, and how many images failed; without images where these are none.
fn found(program: &Path, name: &str, how: &str) -> (Vec<(String, String, u32)>, u64) {
    let folder = tempfile::tempdir().unwrap();
    let (dir, pool) = (folder.path().join("trace"), folder.path().join("pool"));
    let record = [
        "record",
        "-q",
        "--values",
        "-o",
        text(&dir),
        "--",
        text(program),
        name,
        how,
        text(&pool),
    ];
    run(record).exits(0);
    let check = format!("{} {name} check {{image}}", text(program));
    let report = crash(
        &dir,
        &[
            "--image", "pool", "--check", &check, "--images", "150", "--jobs", "1",
        ],
    );
    let failed = report["images"]["failed"].as_u64().unwrap();
    assert_eq!(
        report["first_failure"].is_null(),
        failed == 0,
        "{name}: {report:#}"
    );
    let mut all = findings(&report);
    if how == "good" {
        all.extend(findings(&crash(&dir, &["--image", "pool"])));
    }
    (all, failed)
}

/// What is wrong with `name`, if anything.
fn judged(program: &Path, name: &str) -> Option<String> {
    let twin = found(program, name, "good");
    if twin != (Vec::new(), 0) {
        return Some(format!("{name}: its twin has {twin:?}"));
    }
    let (mut bad, failed) = found(program, name, "bad");
    bad.sort();
    let planted = planted(name);
    let fails = planted.iter().any(|p| !p.0.starts_with("redundant"));
    (bad != planted || fails != (failed > 0))
        .then(|| format!("{name}: {failed} images failed, {bad:?} instead of {planted:?}"))
}

#[test]
fn each_defect_is_seen_at_its_line_and_nothing_in_its_twin() {
    if no_clwb() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let program = built(folder.path());
    let names = std::process::Command::new(&program)
        .output()
        .unwrap()
        .stdout;
    let names: Vec<String> = String::from_utf8(names)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect();
    assert!(names.len() >= 40, "{}", names.len());
    let next = AtomicUsize::new(0);
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let work = || {
            let mut wrong = Vec::new();
            while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
                wrong.extend(judged(&program, name));
            }
            wrong
        };
        let threads: Vec<_> = (0..2).map(|_| scope.spawn(work)).collect();
        threads
            .into_iter()
            .flat_map(|t| t.join().unwrap())
            .collect()
    });
    assert!(
        wrong.is_empty(),
        "{} of {} wrong:\n{}",
        wrong.len(),
        names.len(),
        wrong.join("\n")
    );
}
