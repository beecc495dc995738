//! Recovery commands that crash, hang or cannot be run.

use super::checked::recorded;
use super::*;
use common::Running;

#[test]
fn a_checker_that_crashes_or_hangs_has_refused_the_image() {
    if no_clwb() {
        return;
    }
    let it = recorded("flag_missing_flush", "bad", &["--values"]);
    let crashes = it.checked(&format!("{} || kill -SEGV $$", it.check), &[]);
    assert_eq!(
        crashes["first_failure"]["ended"], "crashed by signal 11",
        "{crashes:#}"
    );
    let hangs = it.checked(&format!("{} || sleep 60", it.check), &["--timeout", "0.2"]);
    assert_eq!(
        hangs["first_failure"]["ended"], "no answer in 0.2 s, killed",
        "{hangs:#}"
    );
    let says = it.checked(
        &format!("{} || {{ echo no data in {{image}}; exit 3; }}", it.check),
        &[],
    );
    assert_eq!(says["first_failure"]["ended"], "exit code 3", "{says:#}");
    assert_eq!(
        says["first_failure"]["output"], "no data in {image}",
        "{says:#}"
    );
}

#[test]
fn a_checker_that_cannot_be_run_is_an_error() {
    if no_clwb() {
        return;
    }
    let it = recorded("flag_missing_flush", "bad", &["--values"]);
    let wrong = |check: &str, parts: &[&str]| {
        it.run(check, &[]).exits(2).says(parts);
    };
    wrong("true", &["where the image goes", "{image}"]);
    wrong(
        "/nowhere/checker {image}",
        &["'/nowhere/checker'", "no such program"],
    );
    wrong(
        "/nowhere/checker {image} | cat; exit 127",
        &["cannot start the checker"],
    );
    wrong("/etc/passwd {image}", &["not executable"]);
    wrong("false {image}", &["complete image already", "exit code 1"]);
    let hang = it.run("sleep 60 {image}", &["--timeout", "0.2"]);
    hang.exits(2)
        .says(&["complete image already", "exit code 1"]);
    let hang = it.run("sleep 60; {image}", &["--timeout", "0.2"]);
    hang.exits(2)
        .says(&["complete image already", "no answer in 0.2 s"]);
    it.run(&it.check, &["--from", "nobody"])
        .exits(2)
        .says(&["--from nobody"]);
    for option in ["--keep", "--resume"] {
        it.run("no-such-checker {image}", &[option, "/nowhere/file"])
            .exits(2)
            .says(&["/nowhere/file", option]);
    }
    it.run(&it.check, &["--scratch", "/nowhere"])
        .exits(2)
        .says(&["/nowhere", "--scratch"]);
    run(["crash", text(&it.dir), "--seed", "2"])
        .exits(2)
        .says(&["--check"]);
    let other = ["crash", text(&it.dir), "--check", &it.check, "--image"];
    run(other.iter().chain(&["other"]))
        .exits(2)
        .says(&["no file of this name"]);
    run(other.iter().chain(&["pool", "--image", "pool"]))
        .exits(2)
        .says(&["another --image's", "once"]);
    for jobs in ["0", "100000"] {
        it.run(&it.check, &["--jobs", jobs])
            .exits(2)
            .says(&["1..=1024"]);
    }
    run(other.iter().chain(&["0x1000-0x2000"]))
        .exits(2)
        .says(&["neither stored nor flushed"]);
    let without = recorded("flag_missing_flush", "bad", &[]);
    without
        .run(&without.check, &[])
        .exits(2)
        .says(&["no values", "record --values"]);
}

#[test]
fn a_full_disk_is_an_error() {
    if no_clwb() {
        return;
    }
    let it = recorded("flag_missing_flush", "bad", &["--values"]);
    // A file may not have more than 1 KiB, and that is no reason to die.
    let limited = format!(
        "trap '' XFSZ; ulimit -f 1; exec {} crash {} --check '{}'",
        env!("CARGO_BIN_EXE_prestore"),
        text(&it.dir),
        it.check
    );
    let mut shell = std::process::Command::new("/bin/bash");
    shell.args(["-c", &limited]);
    Running::start(shell)
        .finish()
        .exits(3)
        .says(&["cannot be written", "--scratch"]);
}

/// Each image would cost the time that a check may take.
#[test]
fn a_checker_that_always_hangs_is_given_up() {
    if no_clwb() {
        return;
    }
    let it = recorded("record_missing_flush", "bad", &["--values"]);
    let total = it.checked(&it.check, &[])["images"]["tried"].clone();
    let state = it.folder.path().join("state");
    let once = it.folder.path().join("once");
    // The complete image passes, and no other is answered.
    let check = format!(
        "[ -e {once} ] || {{ touch {once}; exit 0; }}; sleep 60; {{image}}",
        once = text(&once)
    );
    let options = ["--timeout", "0.4", "--jobs", "1", "--hangs", "3"];
    let resumed = [&options[..], &["--resume", text(&state)]].concat();
    let report = it.checked(&check, &resumed);
    assert_eq!(report["images"]["tried"], 3, "{report:#}");
    assert_eq!(report["images"]["failed"], 3, "{report:#}");
    assert_eq!(report["images"]["complete"], false, "{report:#}");
    let note = format!(
        "stopped before all of {total} images were tried: 3 checks in a row had no answer in 0.4 s"
    );
    let notes = report["notes"].to_string();
    assert!(notes.contains(&note), "{report:#}");
    assert!(notes.contains("--hangs"), "{report:#}");
    let first = &report["first_failure"];
    assert_eq!(first["ended"], "no answer in 0.4 s, killed", "{report:#}");
    let failing = [&resumed[..], &["--fail-on-findings"]].concat();
    fs::remove_file(&once).unwrap();
    // It goes on behind those.
    let said = it.run(&check, &failing).exits(1);
    assert!(said.stdout.contains("6, 6 failed"), "{}", said.stdout);
    // One that is answered in between begins the count anew: every second image is.
    let odd = it.folder.path().join("odd");
    let check = format!(
        "if [ -e {odd} ]; then rm {odd}; sleep 60; else touch {odd}; fi; {{image}}; true",
        odd = text(&odd)
    );
    let report = it.checked(&check, &options);
    assert_eq!(report["images"]["tried"], total, "{report:#}");
}

/// It may do so until it is ended for want of an answer: what is shown is the end, and nothing more is kept.
#[test]
fn a_checker_may_print_without_end() {
    if no_clwb() {
        return;
    }
    let it = recorded("flag_missing_flush", "bad", &["--values"]);
    let check = format!(
        "yes | head -c 3000000; test $(du -sk $(dirname {{image}}) | cut -f 1) -lt 1000 && {}",
        it.check
    );
    let much = it.checked(&check, &[]);
    let plain = it.checked(&it.check, &[]);
    assert_eq!(much["images"], plain["images"], "{much:#}");
    assert_eq!(much["findings"], plain["findings"], "{much:#}");
    let said = much["first_failure"]["output"].as_str().unwrap();
    assert_eq!(said, ["y"; 20].join("\n"), "{much:#}");
    let endless = it.checked(&format!("{} || yes", it.check), &["--timeout", "0.2"]);
    let first = &endless["first_failure"];
    assert_eq!(first["ended"], "no answer in 0.2 s, killed", "{endless:#}");
    assert_eq!(first["output"], ["y"; 20].join("\n"), "{endless:#}");
    // It has closed its output, or left it to somebody who is still there when it ends.
    for check in [
        "exec >&- 2>&-; sleep 0.05; exec {}",
        "setsid sleep 1 & exec {}",
    ] {
        let check = check.replace("{}", &it.check);
        assert_eq!(
            it.checked(&check, &[])["images"],
            plain["images"],
            "{check}"
        );
    }
}
