//! A recovery command on images: what it is told, and what is told of it.

use super::suite::built;
use super::*;
use common::{Ran, Running, prestore, signal_to};
use std::os::unix::process::ExitStatusExt;

/// A recording of one of the small programs.
pub struct Recorded {
    pub folder: tempfile::TempDir,
    pub dir: PathBuf,
    pub check: String,
}

pub fn recorded(name: &str, how: &str, options: &[&str]) -> Recorded {
    let folder = tempfile::tempdir().unwrap();
    let program = built(folder.path());
    let (dir, pool) = (folder.path().join("trace"), folder.path().join("pool"));
    let mut command = vec!["record", "-q", "-o", text(&dir)];
    command.extend(options);
    command.extend(["--", text(&program), name, how, text(&pool)]);
    run(command).exits(0);
    let check = format!("{} {name} check {{image}}", text(&program));
    Recorded { folder, dir, check }
}

impl Recorded {
    #[track_caller]
    pub fn checked(&self, check: &str, options: &[&str]) -> Value {
        let mut all = vec!["--image", "pool", "--check", check];
        all.extend(options);
        crash(&self.dir, &all)
    }

    pub fn run(&self, check: &str, options: &[&str]) -> Ran {
        let mut all = vec![
            "crash",
            text(&self.dir),
            "--image",
            "pool",
            "--check",
            check,
        ];
        all.extend(options);
        run(all)
    }
}

#[test]
fn the_first_failure_is_told_and_kept() {
    if no_clwb() {
        return;
    }
    let it = recorded("undo_mark_missing_flush", "bad", &["--values"]);
    let report = it.checked(&it.check, &[]);
    let first = &report["first_failure"];
    assert_eq!(first["ended"], "exit code 1", "{report:#}");
    let lost = first["lost"].as_array().unwrap();
    assert_eq!(
        lost.len(),
        2,
        "the mark and one half of the data: {report:#}"
    );
    assert!(lost.iter().any(|l| l["offset"] == 4 * 64), "{report:#}");
    assert_eq!(report["images"]["complete"], true, "{report:#}");
    let kept = PathBuf::from(first["file"].as_str().unwrap());
    assert_eq!(fs::metadata(&kept).unwrap().len(), 4096);
    let check = it.check.replace("{image}", text(&kept));
    let mut words = check.split(' ');
    let status = std::process::Command::new(words.next().unwrap())
        .args(words)
        .status();
    assert_eq!(
        status.unwrap().code(),
        Some(1),
        "the image that is kept fails"
    );
    // The next one does not overwrite it.
    let said = it.run(&it.check, &[]).exits(0).stdout;
    for part in ["failed-image-2", "all there are", "Lost: ", "logs.c line"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let log = it.run(&it.check, &["--format", "sarif"]).exits(0).json();
    let result = &log["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "prestore/missing-flush", "{log:#}");
    let own = it.folder.path().join("own");
    it.run(&it.check, &["--keep", text(&own), "--fail-on-findings"])
        .exits(1);
    assert!(own.exists());
    it.run(&it.check, &["--keep", text(&own)])
        .exits(2)
        .says(&["--keep", "not overwritten"]);
}

#[test]
fn persistent_caches_lose_nothing_of_it() {
    if no_clwb() {
        return;
    }
    let it = recorded("flag_missing_flush", "bad", &["--values"]);
    let failed = |options: &[&str]| it.checked(&it.check, options)["images"]["failed"].clone();
    assert_eq!(failed(&[]), 1);
    assert_eq!(failed(&["--domain", "eadr"]), 0);
    let torn = recorded("torn_sixteen_bytes", "bad", &["--values"]);
    let report = torn.checked(&torn.check, &["--domain", "eadr"]);
    assert_ne!(
        report["images"]["failed"], 0,
        "stores are torn there too: {report:#}"
    );
}

#[test]
fn what_was_checked_is_not_checked_again() {
    if no_clwb() {
        return;
    }
    let it = recorded("record_missing_flush", "bad", &["--values"]);
    let (state, count) = (
        it.folder.path().join("state"),
        it.folder.path().join("count"),
    );
    let check = format!("printf x >> {}; sleep 0.1; {}", text(&count), it.check);
    let resume = ["--resume", text(&state), "--jobs", "2"];
    let checks = || fs::metadata(&count).map_or(0, |m| m.len());
    let mut command = prestore();
    command
        .args(["crash", text(&it.dir), "--image", "pool", "--check", &check])
        .args(resume);
    let running = Running::start(command);
    while !state.exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    running.signal_group("KILL");
    running.finish();
    let before: Value = serde_json::from_str(&fs::read_to_string(&state).unwrap()).unwrap();
    let done = before["done"].as_u64().unwrap();
    assert!(done > 0, "{before:#}");
    let report = it.checked(&check, &resume);
    let whole = it.checked(&it.check, &[]);
    assert_eq!(report["images"], whole["images"]);
    assert_eq!(report["findings"], whole["findings"]);
    assert!(
        done < whole["images"]["tried"].as_u64().unwrap(),
        "{whole:#}"
    );
    let after = checks();
    assert_eq!(it.checked(&check, &resume)["images"], whole["images"]);
    let more = checks() - after;
    assert!(
        more < whole["images"]["tried"].as_u64().unwrap(),
        "{more} again: {whole:#}"
    );
    it.run(&check, &["--resume", text(&state), "--seed", "7"])
        .exits(2)
        .says(&["another recording, command or choice"]);
    // What had no answer in time may have one in more.
    it.run(&check, &["--resume", text(&state), "--timeout", "11"])
        .exits(2)
        .says(&["another recording, command or choice"]);
    fs::write(&state, "{").unwrap();
    it.run(&check, &resume).exits(2).says(&["no state of"]);
}

/// The command that is given again, as it was interrupted behind the image that it keeps, finds that and goes on.
#[test]
fn what_an_interrupted_run_has_kept_is_no_other_file() {
    if no_clwb() {
        return;
    }
    let it = recorded("flag_missing_flush", "bad", &["--values"]);
    let (state, kept) = (
        it.folder.path().join("state"),
        it.folder.path().join("kept"),
    );
    let options = ["--resume", text(&state), "--keep", text(&kept)];
    let report = it.checked(&it.check, &options);
    let image = fs::read(&kept).unwrap();
    assert_eq!(it.checked(&it.check, &options), report);
    assert!(fs::read(&kept).unwrap() == image);
    fs::write(&kept, "something else").unwrap();
    it.run(&it.check, &options)
        .exits(2)
        .says(&["--keep", "not overwritten"]);
    assert_eq!(fs::read(&kept).unwrap(), b"something else");
}

#[test]
fn a_signal_takes_images_and_checkers_along() {
    if no_clwb() {
        return;
    }
    let it = recorded("record_missing_flush", "bad", &["--values"]);
    let (scratch, number) = (
        it.folder.path().join("scratch"),
        it.folder.path().join("pid"),
    );
    fs::create_dir(&scratch).unwrap();
    // The complete image passes; the next check hangs, and says who it is.
    let (first, new) = (
        it.folder.path().join("first"),
        text(&number).to_owned() + ".new",
    );
    let check = format!(
        "[ -e {first} ] || {{ touch {first}; exit 0; }}; echo $$ > {new}; mv {new} {number}; exec sleep 600; {{image}}",
        first = text(&first),
        number = text(&number),
    );
    let mut command = prestore();
    command
        .args(["crash", text(&it.dir), "--image", "pool", "--check", &check])
        .args([
            "--timeout",
            "3600",
            "--jobs",
            "1",
            "--scratch",
            text(&scratch),
        ]);
    let running = Running::start(command);
    while !number.exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let checker = fs::read_to_string(&number).unwrap();
    signal_to(&running.pid().to_string(), "TERM");
    assert_eq!(running.finish().status.signal(), Some(15));
    assert_eq!(fs::read_dir(&scratch).unwrap().count(), 0);
    // Whoever inherits it may not have waited for it.
    let gone = || {
        let status = fs::read_to_string(format!("/proc/{}/stat", checker.trim()));
        status.map_or(true, |s| s.contains(") Z"))
    };
    while !gone() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
fn images_begin_where_they_are_asked_to() {
    if no_clwb() {
        return;
    }
    let it = recorded("version_in_place", "bad", &["--values"]);
    let all = it.checked(&it.check, &[])["images"]["tried"]
        .as_u64()
        .unwrap();
    let source = format!("{PROGRAMS}/pm/links.c");
    let line = source_line(&source, "WORD(0) = !bad;");
    let from = it.checked(&it.check, &["--from", &format!("links.c:{line}")]);
    assert!(from["images"]["tried"].as_u64().unwrap() < all, "{from:#}");
    assert_eq!(
        from["images"]["failed"], 0,
        "both are there by then: {from:#}"
    );
}

#[test]
fn ranges_and_allocations_have_images_too() {
    let folder = tempfile::tempdir().unwrap();
    let body = "at[3] = 7; _mm_clflush((void *)at);";
    let program = c_program(folder.path(), "ranges", &other_ways(body), &[]);
    let dir = record(folder.path(), &program, &["--values"]);
    let check =
        "test $(stat -c %s {image}) = 4096 && od -A n -t d8 -j 24 -N 8 {image} | grep -q '[07]'";
    for image in ["pool", "allocate", "fixed", "0x100000000000+4K"] {
        let check = if image == "pool" {
            check.replace("4096", "8192")
        } else {
            check.to_owned()
        };
        let report = crash(&dir, &["--image", image, "--check", &check]);
        assert_eq!(report["images"]["tried"], 2, "{image}: {report:#}");
        assert_eq!(report["images"]["failed"], 0, "{image}: {report:#}");
    }
    run([
        "crash",
        text(&dir),
        "--image",
        "pool",
        "--image",
        "fixed",
        "--check",
        check,
    ])
    .exits(2)
    .says(&["one of them", "pool", "fixed"]);
}
