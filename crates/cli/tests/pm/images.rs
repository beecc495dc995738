//! A program is recorded, and its check run on what power cuts may leave.

use std::path::{Path, PathBuf};
use std::time::Instant;

use super::common::{assert_valid, defective, run, text, workload};
use serde_json::Value;

/// A run of a program.
pub struct Case {
    pub name: &'static str,
    pub args: &'static [&'static str],
    /// The function from whose first store on the power may be cut, if not from the beginning.
    pub from: Option<&'static str>,
    /// Updates the check makes after recovery.
    pub more: &'static str,
}

/// How many images each check has to pass; `PRESTORE_CRASH_IMAGES` says otherwise.
fn images(usual: u32) -> String {
    std::env::var("PRESTORE_CRASH_IMAGES").unwrap_or_else(|_| usual.to_string())
}

fn record(folder: &Path, program: &Path, case: &Case, more: &[&str]) -> PathBuf {
    let (dir, pool) = (folder.join("trace"), folder.join("pool"));
    let mut command = vec!["record", "-q", "--force", "--values", "-o", text(&dir)];
    // Else libpmemobj writes back whole pages where the file is on no persistent memory.
    command.extend(["--", "env", "PMEM_IS_PMEM_FORCE=1"]);
    command.extend([text(program), "run", text(&pool)]);
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
    let check = format!("{} check {{image}} --more={}", text(program), case.more);
    let mut options = vec!["--check", &check, "--images", images];
    options.extend(case.from.iter().flat_map(|from| ["--from", from]));
    crash(dir, &options)
}

/// Whatever a power cut leaves, recovery finds all updates but one; `clean`: and nothing is missing or in vain.
#[track_caller]
pub fn survives(case: &Case, args: &[&str], usual: u32, clean: bool) {
    let folder = tempfile::tempdir().unwrap();
    let program = workload(case.name).unwrap();
    let dir = record(folder.path(), &program, case, args);
    let begin = Instant::now();
    let report = checked(&dir, &program, case, &images(usual));
    let seconds = begin.elapsed().as_secs_f64();
    let name = case.name;
    println!("{name}: {} {seconds:.1} s", report["images"]);
    assert_eq!(report["images"]["failed"], 0, "{name}: {report:#}");
    assert!(
        // Of those by chance some are the same.
        report["images"]["tried"].as_u64().unwrap() > u64::from(usual) * 9 / 10,
        "{name}: {report:#}"
    );
    if clean {
        let none = serde_json::json!([]);
        assert_eq!(report["findings"], none, "{name}: {report:#}");
        let unchecked = crash(&dir, &[]);
        assert_eq!(unchecked["findings"], none, "{name}: {unchecked:#}");
    }
}

/// With what it leaves out, an image fails.
#[track_caller]
pub fn the_defect_is_seen(case: &Case, usual: u32) {
    let folder = tempfile::tempdir().unwrap();
    let program = defective(case.name).unwrap();
    let dir = record(folder.path(), &program, case, &[]);
    let report = checked(&dir, &program, case, &images(usual));
    let (name, first) = (case.name, &report["first_failure"]);
    println!("{name}: {} {}", report["images"], first["output"]);
    assert_ne!(report["images"]["failed"], 0, "{name}: {report:#}");
    assert_eq!(first["ended"], "exit code 1", "{name}: {report:#}");
    let said = first["output"].as_str().unwrap();
    assert!(said.contains(": broken: "), "{name}: {said}");
}
