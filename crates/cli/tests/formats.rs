//! Output for programs: it follows its schemas and is alone on stdout.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use std::path::Path;

use common::{Running, advise, advise_with, assert_valid, c_program, kv, prestore, run, text};
use serde_json::Value;

const SHORT: &str = "--ops=50K";

#[test]
fn advice_follows_its_schema() {
    assert_valid("advise.schema.json", &advise(&kv(), &[SHORT]));
    assert_valid(
        "advise.schema.json",
        &advise(&kv(), &[SHORT, "--workload=C"]),
    );
    let region = advise_with(&["--region", "1"], &kv(), &[SHORT]);
    assert_valid("advise.schema.json", &region);
    assert_eq!(region["exactness"]["kind"], "windowed");
}

#[test]
fn stores_by_function_follow_their_schema() {
    let counts = advise_with(&["--scope", "count"], &kv(), &[SHORT]);
    assert_valid("stores.schema.json", &counts);
    assert_eq!(counts["functions"][0]["function"], "craft_value");
}

#[test]
fn the_doctor_follows_its_schema() {
    let json = run(["doctor", "--format", "json"]);
    assert!([0, 3].contains(&json.code()), "{json:?}");
    assert_valid("doctor.schema.json", &json.json());
    let text = run(["doctor"]);
    assert_eq!(text.code(), json.code());
    for check in json.json()["checks"].as_array().unwrap() {
        let name = check["name"].as_str().unwrap();
        assert!(text.stdout.contains(name), "{name}: {}", text.stdout);
        if check["status"] != "ok" {
            assert!(check["cause"].is_string(), "{check:#}");
        }
    }
}

#[test]
fn trace_info_follows_its_schema() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("kv.trace");
    run(["record", "-o", text(&dir), "--", text(&kv()), SHORT]).exits(0);
    let json = run(["trace", "info", text(&dir), "--format", "json"])
        .exits(0)
        .json();
    assert_valid("trace-info.schema.json", &json);
    assert_eq!(json["state"], "complete");
    assert_eq!(json["threads"], 1);
    assert_eq!(json["dropped_events"], 0);
    let plain = run(["trace", "info", text(&dir)]).exits(0).stdout;
    for part in [
        "complete",
        "Threads         1",
        "Dropped events  0",
        "store",
    ] {
        assert!(plain.contains(part), "{part}: {plain}");
    }
}

/// A program that says a lot where the result goes.
fn talker(folder: &Path) -> std::path::PathBuf {
    let source = r#"
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        int main(void) {
            char *buffer = malloc(1 << 22);
            for (int i = 0; i < 64; i++) {
                memset(buffer + (i << 16), i, 1 << 16);
                printf("{\"line\": %d}\n", i);
            }
            fflush(stdout);
            puts("}}");
            return buffer[12345] == 77;
        }
    "#;
    c_program(folder, "talker", source, &[])
}

#[test]
fn results_for_programs_are_alone_on_stdout() {
    let folder = tempfile::tempdir().unwrap();
    let talker = talker(folder.path());
    for options in [
        &["--format", "json"][..],
        &["--format", "sarif"],
        &["--format", "json", "--scope", "count"],
        &["--format", "json", "--scope", "functions"],
    ] {
        let mut command = prestore();
        command.arg("advise").args(options).arg("--").arg(&talker);
        let ran = Running::start(command).finish().exits(0);
        assert!(ran.json().is_object());
        assert_eq!(
            ran.stderr.matches("{\"line\": 63}\n}}\n").count(),
            1,
            "{ran:#?}"
        );
    }
}

#[test]
fn text_follows_what_the_program_prints() {
    let folder = tempfile::tempdir().unwrap();
    let talker = talker(folder.path());
    for scope in ["all", "functions"] {
        let ran = run(["advise", "--scope", scope, "--", text(&talker)]).exits(0);
        assert!(ran.stdout.starts_with("{\"line\": 0}\n"), "{ran:#?}");
        let (program, result) = ran.stdout.split_once("}}\n").unwrap();
        assert_eq!(program.lines().count(), 64, "printed once");
        assert!(result.contains("What to try next"), "{result}");
    }
}

/// The compiler is told of the folder by a link, as a shell in it would; the system names what that leads to.
#[test]
fn sarif_names_files_below_the_folder_by_their_way_from_it() {
    let folder = tempfile::tempdir().unwrap();
    let (real, link) = (folder.path().join("real"), folder.path().join("link"));
    std::fs::create_dir_all(real.join("src")).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let source = r#"
        static long data[1 << 20];
        int main(void) {
            for (long i = 0; i < 1 << 20; i++) data[i] = i;
            return data[5] == 7;
        }
    "#;
    let program = c_program(&link.join("src"), "fill", source, &["-fno-tree-vectorize"]);
    let mut command = prestore();
    command.args(["advise", "--format", "sarif", "--", text(&program)]);
    command.current_dir(&link);
    let log = Running::start(command).finish().exits(0).json();
    let place = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    let file = &place["artifactLocation"];
    assert_eq!(file["uri"], "src/fill.c", "{log:#}");
    assert_eq!(file["uriBaseId"], "SRCROOT");
}

#[test]
fn sarif_has_findings_with_lines_only() {
    let folder = tempfile::tempdir().unwrap();
    let source = r#"
        #include <stdlib.h>
        #define N (1 << 20)
        __attribute__((noinline)) void fill(long *a) {
            for (long i = 0; i < N; i++) a[i] = i;
        }
        int main(void) {
            long *a = malloc(N * sizeof *a);
            fill(a);
            return a[N - 1] == 7;
        }
    "#;
    let with = c_program(folder.path(), "with", source, &["-fno-tree-vectorize"]);
    let without = c_program(
        folder.path(),
        "without",
        source,
        &["-fno-tree-vectorize", "-g0"],
    );
    let sarif = |program: &Path| run(["advise", "--format", "sarif", "--", text(program)]).exits(0);

    let ran = sarif(&with);
    let log = ran.json();
    assert_eq!(log["version"], "2.1.0");
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 1, "{log:#}");
    let rules = log["runs"][0]["tool"]["driver"]["rules"]
        .as_array()
        .unwrap();
    assert!(rules.iter().any(|r| r["id"] == results[0]["ruleId"]));
    let place = &results[0]["locations"][0]["physicalLocation"];
    assert_eq!(place["region"]["startLine"], 5);
    assert!(
        place["artifactLocation"]["uri"]
            .as_str()
            .unwrap()
            .ends_with("with.c")
    );
    assert!(!ran.stderr.contains("source line"), "{ran:#?}");

    let ran = sarif(&without).says(&[
        "without a source line and so not in the SARIF output: 1 finding;",
        "--format json has them",
    ]);
    let log = ran.json();
    assert_eq!(log["runs"][0]["results"].as_array().unwrap().len(), 0);
    let json = advise(&without, &[]);
    assert_eq!(json["findings"][0]["function"], "fill");
    assert_eq!(json["findings"][0]["line"], Value::Null);
}
