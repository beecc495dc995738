//! A program is recorded, and its check run on what power cuts may leave.

use std::path::{Path, PathBuf};
use std::time::Instant;

use super::common::{assert_valid, defective, run, text, workload};
use serde_json::Value;

/// A run of a program.
pub struct Case {
    pub name: &'static str,
    pub args: &'static [&'static str],
    pub words: Words,
    /// The function from whose first store on the power may be cut, if not from the beginning.
    pub from: Option<&'static str>,
    /// Nothing is missing, and no flush or fence is in vain.
    pub clean: bool,
    /// How many images its check has to pass; `PRESTORE_CRASH_IMAGES` says otherwise.
    pub images: u32,
    /// How many it takes to see the defect.
    pub with_defect: u32,
}

/// How a program is told to run on a pool, and to recover and check an image.
#[derive(Clone, Copy)]
pub struct Words {
    pub run: &'static [&'static str],
    pub check: &'static str,
}

/// Those of `workloads/pm`; a check makes more updates for each thread after recovery.
pub const RUN_AND_CHECK: Words = Words {
    run: &["run", "{pool}"],
    check: "check {image} --more=12",
};

/// For each program: with one thread and with three it survives; without something that it needs it does not.
macro_rules! programs {
    (skipped: $skipped:expr, from: $from:expr, clean: $clean:expr, images: $images:expr,
     with_defect: $with_defect:expr;
     $($program:ident $args:expr;)*) => {$(
        mod $program {
            use super::*;
            use crate::images::{Case, RUN_AND_CHECK, survives, the_defect_is_seen};

            const CASE: Case = Case {
                name: stringify!($program),
                args: &$args,
                words: RUN_AND_CHECK,
                from: $from,
                clean: $clean,
                images: $images,
                with_defect: $with_defect,
            };

            #[test]
            fn survives_every_power_cut() {
                if !$skipped() {
                    survives(&CASE, &[]);
                }
            }

            #[test]
            fn survives_every_power_cut_with_three_threads() {
                if !$skipped() {
                    survives(&CASE, &["--threads=3"]);
                }
            }

            #[test]
            fn its_check_sees_the_defect() {
                if !$skipped() {
                    the_defect_is_seen(&CASE);
                }
            }
        }
    )*};
}
pub(crate) use programs;

fn record(folder: &Path, program: &Path, case: &Case, more: &[&str]) -> PathBuf {
    let (dir, pool) = (folder.join("trace"), folder.join("pool"));
    let mut command = vec!["record", "-q", "--force", "--values", "-o", text(&dir)];
    // Else libpmemobj writes back whole pages where the file is on no persistent memory.
    command.extend(["--", "env", "PMEM_IS_PMEM_FORCE=1"]);
    command.push(text(program));
    let words: Vec<String> = (case.words.run.iter())
        .map(|word| word.replace("{pool}", text(&pool)))
        .collect();
    command.extend(words.iter().map(String::as_str));
    run(command.iter().chain(case.args).chain(more)).exits(0);
    dir
}

fn crash(dir: &Path, options: &[&str]) -> Value {
    let command = ["crash", "--format", "json", "--image", "pool", text(dir)];
    let report = run(command.iter().chain(options)).exits(0).json();
    assert_valid("crash.schema.json", &report);
    report
}

/// What `prestore crash` tells of images of the program.
fn checked(dir: &Path, program: &Path, case: &Case, images: &str) -> Value {
    let check = format!("{} {}", text(program), case.words.check);
    let mut options = vec!["--check", &check, "--images", images];
    options.extend(case.from.iter().flat_map(|from| ["--from", from]));
    crash(dir, &options)
}

/// Whatever a power cut leaves, recovery finds all updates that were counted.
#[track_caller]
pub fn survives(case: &Case, args: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let program = workload(case.name).unwrap();
    let dir = record(folder.path(), &program, case, args);
    let images = std::env::var("PRESTORE_CRASH_IMAGES").unwrap_or_else(|_| case.images.to_string());
    let begin = Instant::now();
    let report = checked(&dir, &program, case, &images);
    let seconds = begin.elapsed().as_secs_f64();
    let name = case.name;
    println!("{name}: {} {seconds:.1} s", report["images"]);
    assert_eq!(report["images"]["failed"], 0, "{name}: {report:#}");
    assert!(
        // Of those by chance some are the same.
        report["images"]["tried"].as_u64().unwrap() > u64::from(case.images) * 9 / 10,
        "{name}: {report:#}"
    );
    // What images showed to be missing would have made one fail.
    let kinds: Vec<&str> = (report["findings"].as_array().unwrap().iter())
        .map(|finding| finding["kind"].as_str().unwrap())
        .collect();
    assert!(
        kinds.iter().all(|kind| kind.starts_with("redundant")),
        "{name}: {report:#}"
    );
    if case.clean {
        let none = serde_json::json!([]);
        assert_eq!(report["findings"], none, "{name}: {report:#}");
        let unchecked = crash(&dir, &[]);
        assert_eq!(unchecked["findings"], none, "{name}: {unchecked:#}");
    }
}

/// With what it leaves out, an image fails.
#[track_caller]
pub fn the_defect_is_seen(case: &Case) {
    an_image_fails(case, &defective(case.name).unwrap(), &[]);
}

/// What a run of `program` with these arguments leaves may be broken.
#[track_caller]
pub fn an_image_fails(case: &Case, program: &Path, args: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let dir = record(folder.path(), program, case, args);
    let report = checked(&dir, program, case, &case.with_defect.to_string());
    let (name, first) = (case.name, &report["first_failure"]);
    println!("{name}: {} {}", report["images"], first["output"]);
    assert_ne!(report["images"]["failed"], 0, "{name}: {report:#}");
    assert_eq!(first["ended"], "exit code 1", "{name}: {report:#}");
    let said = first["output"].as_str().unwrap();
    assert!(said.contains(": broken: "), "{name}: {said}");
}
