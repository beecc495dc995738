//! What is different where this host was calibrated, and what is left of advice whose gains cannot be predicted.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use std::path::Path;

use common::{Ran, Running, c_program, finding, prestore, recorded, root, run, text};

/// The CPU's name as the system says it.
fn cpu() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap();
    let line = info.lines().find(|l| l.starts_with("model name"));
    let name = line.and_then(|l| l.split_once(": "));
    name.map_or(std::env::consts::ARCH, |n| n.1).trim().into()
}

/// As if `cpu` had been calibrated, and found to be like the machine `tiny`.
fn calibrated(folder: &Path, cpu: &str) {
    let tiny = std::fs::read_to_string(root().join("machines/tiny.toml")).unwrap();
    let (_, rest) = tiny.split_once('\n').unwrap();
    let machines = folder.join("prestore/machines");
    std::fs::create_dir_all(&machines).unwrap();
    let host = format!("description = \"This host: {cpu}, 2 CPUs, as measured\"\n{rest}");
    std::fs::write(machines.join("host.toml"), host).unwrap();
}

fn at(folder: &Path, args: &[&str]) -> Ran {
    let mut command = prestore();
    command.env("XDG_CONFIG_HOME", folder).args(args);
    Running::start(command).finish()
}

#[test]
fn a_calibrated_host_is_used_where_no_machine_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let dir = recorded(folder, "listing1", &["--iters=60000"]);
    let simulate = ["simulate", text(&dir), "-q"];
    at(folder, &simulate).exits(2).says(&["--machine"]);
    calibrated(folder, "another CPU");
    at(folder, &simulate).exits(2).says(&["--machine"]);
    calibrated(folder, &cpu());
    let simulated = at(folder, &simulate).exits(0);
    assert!(simulated.stdout.contains("on host"), "{simulated:?}");
    let whatif = ["whatif", text(&dir), "--simulations", "1"];
    let whatif = at(folder, &whatif).exits(0);
    assert!(whatif.stdout.contains("On host"), "{whatif:?}");
    let named = [&simulate[..], &["--machine", "machine-a"]].concat();
    let named = at(folder, &named).exits(0);
    assert!(named.stdout.contains("on machine-a"), "{named:?}");
}

/// Its last-level cache is the one that was measured, in a virtual machine a part of what the system says.
#[test]
fn advice_knows_what_was_measured() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let program = common::workload("listing1").unwrap();
    let command = ["advise", "--", text(&program), "--iters=60000"];
    calibrated(folder, &cpu());
    let advised = at(folder, &command).exits(0);
    let hint = "prestore advise --machine host -- ";
    assert!(advised.stdout.contains(hint), "{advised:?}");
    let json = [&["advise", "--format", "json"], &command[1..]].concat();
    let json = at(folder, &json).exits(0).json();
    assert_eq!(json["last_level_cache"], 8 << 10, "{json:#}");
}

/// All of the advice was lost, after a run that may have taken an hour.
#[test]
fn advice_is_printed_where_no_gain_can_be_predicted() {
    let folder = tempfile::tempdir().unwrap();
    let source = "#include <pthread.h>\n\
        static long data[3][1 << 16];\n\
        static pthread_barrier_t all;\n\
        void *fill(void *to) { pthread_barrier_wait(&all); long *at = to; for (int r = 0; r < 20; r++) for (int i = 0; i < 1 << 16; i++) at[i] = i ^ r; return 0; }\n\
        int main(void) { pthread_t t[3]; pthread_barrier_init(&all, 0, 3); for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, fill, data[i]);\n\
        for (int i = 0; i < 3; i++) pthread_join(t[i], 0); return 0; }\n";
    let program = c_program(folder.path(), "threads", source, &["-O1", "-g", "-pthread"]);
    let advise = ["advise", "--machine", "tiny", "--format", "json", "--"];
    let ran = run([&advise[..], &[text(&program)]].concat()).exits(2);
    let ran = ran.says(&["no gain is predicted", "tiny has 2 cores"]);
    finding(&ran.json(), "fill");
}
