//! Command lines that make no sense are said so, with the cure: exit code 2, or 3 where that showed only
//! when the program had run.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use std::fs::File;
use std::process::{Command, Stdio};

use common::{Running, kv, prestore, recorded, run, text};

const SHORT: &str = "--ops=20K";

#[test]
fn without_a_command_there_is_help() {
    let ran = run::<[&str; 0], &str>([]);
    assert_eq!(ran.code(), 2);
    ran.says(&["Usage: prestore", "Exit codes:", "advise"]);
    run(["advise"]).exits(2).says(&[
        "required",
        "CMD",
        "Usage: prestore advise [OPTIONS] -- <CMD>...",
        "advise [OPTIONS] <DIR>",
    ]);
    run(["record", "-o", "x"]).exits(2).says(&["<CMD>"]);
    let help = run(["advise", "--help"]).exits(0).stdout;
    for part in [
        "--threshold",
        "min_write_time = 0.1",
        "goes\n          to stderr",
    ] {
        assert!(help.contains(part), "{part}: {help}");
    }
}

#[test]
fn help_that_cannot_be_written_is_an_error() {
    for help in [&["--help"][..], &["--version"], &["try", "--help"]] {
        let mut command = prestore();
        let full = File::options().write(true).open("/dev/full").unwrap();
        let ran = command.args(help).stdout(full).stderr(Stdio::piped());
        let ran = ran.output().unwrap();
        assert_eq!(ran.status.code(), Some(3), "{help:?}: {ran:?}");
        let said = String::from_utf8(ran.stderr).unwrap();
        assert!(said.contains("cannot be written to stdout"), "{said}");
    }
}

#[test]
fn help_says_that_a_trial_repeats_what_the_program_does() {
    let help = run(["try", "--help"]).exits(0).stdout;
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("files are written"), "{help}");
    assert!(
        help.contains("Only its standard output and how it ends are compared"),
        "{help}"
    );
}

#[test]
fn numbers_and_names_that_make_no_sense() {
    let kv = kv();
    let wrong = |options: &[&str], parts: &[&str]| {
        let mut command = prestore();
        command
            .arg("advise")
            .args(options)
            .arg("--")
            .arg(&kv)
            .arg(SHORT);
        let ran = Running::start(command).finish().exits(2).says(parts);
        assert_eq!(ran.stdout, "", "{options:?}: the program did not run");
    };
    wrong(
        &["--threshold", "lucky=1"],
        &["no threshold `lucky`", "advise --help"],
    );
    wrong(
        &["--threshold", "max_streams=18446744073709552000"],
        &["max_streams", "below 10^18"],
    );
    wrong(
        &["--threshold", "min_store_shar=0.1"],
        &[
            "no threshold `min_store_shar`",
            "did you mean `min_store_share`?",
        ],
    );
    wrong(
        &["--threshold", "min_store_share"],
        &["NAME=VALUE", "--help"],
    );
    wrong(&["--threshold", "min_store_share=lots"], &["NAME=VALUE"]);
    wrong(
        &["--threshold", "min_store_share=7"],
        &["cannot be 7", "from 0 to 1"],
    );
    wrong(&["--skip", "many"], &["'many' is not a number", "10K"]);
    wrong(&["--skip", "99999999999999999999"], &["not a number"]);
    wrong(&["--take", "99999999999G"], &["too large"]);
    wrong(&["--take", "0"], &["records nothing"]);
    wrong(&["--stop-after", "0s"], &["records nothing"]);
    run(["record", "-o", "x", "--max-size", "0", "--", text(&kv)])
        .exits(2)
        .says(&["records nothing"]);
    wrong(
        &["--take", "10M", "--period", "1M"],
        &["--period is shorter than --take"],
    );
    wrong(&["--period", "1M"], &["--take"]);
    wrong(&["--lenient"], &["cannot be used with"]);
    wrong(&["--simulations", "2"], &["--machine"]);
    run([
        "record",
        "-o",
        "x",
        "--max-size",
        "1 parsec",
        "--",
        text(&kv),
    ])
    .exits(2)
    .says(&["not a size", "500MB"]);
    wrong(&["--region", "4096"], &["0 to 4095", "any"]);
    wrong(&["--region", "x"], &["0 to 4095", "any"]);
    wrong(&["--scope", "everything"], &["everything", "functions"]);
    wrong(&["--function", "main"], &["--scope functions"]);
    wrong(&["--module", "kv"], &["--scope functions"]);
    wrong(&["--site", "kv.c:12"], &["--scope functions"]);
    wrong(&["--force"], &["--output"]);
    wrong(
        &["--scope", "sample", "--skip", "1M"],
        &["samples are taken of the whole run"],
    );
    wrong(&["--scope", "count", "--format", "sarif"], &["no SARIF"]);
    wrong(&["--scope", "count", "-o", "x"], &["no events to keep"]);
    wrong(&["some.trace"], &["cannot be used with"]);
    wrong(&["--machine", ","], &["a name is missing", "machine list"]);
    wrong(
        &["--machine", "machine-a,,machine-b"],
        &["a name is missing", "machine list"],
    );
    for verb in [&["advise"][..], &["try"], &["record", "-o", "x"]] {
        run([verb, &["--", ""]].concat())
            .exits(2)
            .says(&["no program was given"]);
    }

    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("x");
    let ran = run([
        "record",
        "--scope",
        "count",
        "-o",
        text(&dir),
        "--",
        text(&kv),
        SHORT,
    ]);
    ran.exits(2)
        .says(&["no events to store", "advise --scope count"]);
    assert!(!dir.exists());
    let trace = recorded(folder.path(), "kv", &[SHORT]);
    run(["advise", text(&trace), "--scope", "all"])
        .exits(2)
        .says(&["cannot be used with"]);
    // What a recording is not asked for is not silently left out.
    for option in [["-o", "y"], ["--stretch", "5"], ["--take", "5"]] {
        run([&["advise", text(&trace)], &option[..]].concat())
            .exits(2)
            .says(&["cannot be used with"]);
    }
    run(["export", text(&trace), "--to", "csv"])
        .exits(2)
        .says(&["parquet"]);
}

#[test]
fn a_region_that_is_never_entered() {
    let kv = kv();
    let parts = [
        "nothing was recorded",
        "never entered region 7",
        "--region any",
    ];
    for scope in ["all", "count", "functions"] {
        let ran = run([
            "advise",
            "--scope",
            scope,
            "--region",
            "7",
            "--",
            text(&kv),
            SHORT,
        ]);
        let ran = ran.exits(3).says(&parts);
        assert!(!ran.stdout.contains("Stores by function"), "{ran:#?}");
    }
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("x");
    let ran = run([
        "record",
        "--region",
        "7",
        "-o",
        text(&dir),
        "--",
        text(&kv),
        SHORT,
    ]);
    ran.exits(3).says(&parts);
    // The latter is more than a number with a sign holds.
    for skip in ["900G", "18446744073709551615"] {
        let ran = run(["advise", "--skip", skip, "--", text(&kv), SHORT]);
        ran.exits(3).says(&["nothing was recorded", "skip fewer"]);
    }
}

#[test]
fn nobody_to_tell_is_no_reason_to_end() {
    let folder = tempfile::tempdir().unwrap();
    let kv = kv();
    let record = |program: &str| {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let mut command = prestore();
        command.args(["record", "--force", "-o"]);
        command.arg(folder.path().join("trace"));
        command.args(["--", program, SHORT]);
        command.stdout(Stdio::null()).stderr(full);
        command.status().unwrap()
    };
    assert_eq!(record("/no/such/program").code(), Some(2));
    assert_eq!(record(text(&kv)).code(), Some(0));
}

/// Reading the command line took more of the stack than there was.
#[test]
fn a_limit_on_the_stack_is_the_programs() {
    let folder = tempfile::tempdir().unwrap();
    let limited = |kilobytes: &str, args: &[&str]| {
        let mut command = Command::new("bash");
        let limit = format!("ulimit -s {kilobytes}; exec \"$@\"");
        command.args(["-c", &limit, "bash", env!("CARGO_BIN_EXE_prestore")]);
        command.args(args);
        Running::start(command).finish()
    };
    let trace = folder.path().join("trace");
    let shell = ["--", "bash", "-c", "ulimit -s"];
    let record = ["record", "-q", "--values", "-o", text(&trace)];
    let ran = limited("64", &[&record[..], &shell[..]].concat()).exits(0);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("64\n", ""));
    limited("64", &["advise", text(&trace)]).exits(0);
    let ran = limited("64", &["advise", "--budget"]).exits(2);
    assert!(ran.stderr.contains("a value is required"), "{ran:#?}");
    let ran = limited("64", &["--version"]).exits(0);
    assert!(ran.stdout.starts_with("prestore "), "{ran:#?}");
}

/// What is printed to it would be lost without a word.
#[test]
fn a_result_that_goes_nowhere_is_an_error() {
    let prestore = env!("CARGO_BIN_EXE_prestore");
    for verb in ["doctor", "machine list", "--help"] {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{prestore} {verb} >&-")]);
        Running::start(shell)
            .finish()
            .exits(3)
            .says(&["cannot be written to stdout: it is closed"]);
    }
}
