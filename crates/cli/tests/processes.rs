//! Programs of many processes: each is recorded and named, and none costs memory once it has ended.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use common::{LIMIT, Ran, Running, c_program, prestore, run, text};
use prestore_trace::container::Trace;

fn families(folder: &Path) -> PathBuf {
    c_program(folder, "families", include_str!("programs/families.c"), &[])
}

/// A command that ran, the most memory, in KiB, that it ever had itself, and the open files that it had half of the time.
struct Watched {
    ran: Ran,
    kib: u64,
    files: usize,
}

fn watched<A: AsRef<OsStr>>(args: impl IntoIterator<Item = A>, limit: Duration) -> Watched {
    let mut command = prestore();
    command.args(args);
    watch(command, limit)
}

impl Watched {
    fn larger(self, other: Self) -> Self {
        if other.kib > self.kib { other } else { self }
    }

    fn smaller(self, other: Self) -> Self {
        if other.kib < self.kib { other } else { self }
    }
}

fn watch(command: Command, limit: Duration) -> Watched {
    let running = Running::start(command);
    let proc = PathBuf::from(format!("/proc/{}", running.pid()));
    let watcher = thread::spawn(move || {
        let (mut kib, mut files) = (0, Vec::new());
        // A zombie has no high-water mark any more.
        while let Some(now) = high_water(&proc) {
            kib = now.max(kib);
            let open = fs::read_dir(proc.join("fd")).map_or(0, Iterator::count);
            files.push(open);
            thread::sleep(Duration::from_millis(10));
        }
        // A busy disk or processor makes a few dozen processes wait now and then, and their files with them.
        files.sort_unstable();
        (kib, files.get(files.len() / 2).copied().unwrap_or(0))
    });
    let ran = running.finish_within(limit);
    let (kib, files) = watcher.join().unwrap();
    Watched { ran, kib, files }
}

fn high_water(proc: &Path) -> Option<u64> {
    let status = fs::read_to_string(proc.join("status")).ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// More processes may take this much more memory each, in KiB, and this many more open files in all.
const KIB_A_PROCESS: u64 = 48;
const MORE_FILES: usize = 16;
/// What no two processes take longer than.
const SLOWEST: Duration = Duration::from_millis(300);

#[test]
fn processes_that_have_ended_take_no_memory() {
    compare(10, 150, KIB_A_PROCESS, u64::MAX);
}

/// A build of many processes fits into 500 MB.
#[test]
#[ignore = "takes an hour: make soak"]
fn ten_thousand_processes() {
    compare(10, 10_000, 40, 500 << 10);
}

/// Everything that reads or makes a recording, with `few` and with `many` times two processes: more
/// of them take `each` KiB at most, and all of them `most`.
fn compare(few: u64, many: u64, each: u64, most: u64) {
    let folder = tempfile::tempdir().unwrap();
    let program = families(folder.path());
    let dir = |n: u64| folder.path().join(format!("trace-{n}"));
    let limit = LIMIT.max(SLOWEST * many as u32);
    let both = |what: &str, go: &dyn Fn(u64) -> Watched| {
        // How much threads have in hand at most is chance: the larger of two is what few take, the smaller what many do. What
        // processes leave behind is in both.
        let (a, b) = (go(few).larger(go(few)), go(many).smaller(go(many)));
        let more = b.kib.saturating_sub(a.kib);
        eprintln!(
            "{what}: {} KiB, {} files; {} KiB, {} files",
            a.kib, a.files, b.kib, b.files
        );
        assert!(more < 2 * (many - few) * each, "{what}: {more} KiB more");
        assert!(b.kib < most, "{what}: {} KiB", b.kib);
        let (a, b) = (a.files, b.files);
        assert!(b < a + MORE_FILES, "{what}: {a} and {b} open files");
    };
    let traced = |verb: &[&str], n: u64| {
        let n = n.to_string();
        let program = ["--", text(&program), &n, "execs"];
        let ran = watched(verb.iter().chain(&program), limit);
        assert_eq!(ran.ran.code(), 0, "{:#?}", ran.ran);
        ran
    };
    both("advise", &|n| traced(&["advise", "-q"], n));
    both("record", &|n| {
        traced(&["record", "-q", "--force", "-o", text(&dir(n))], n)
    });
    let reads = |args: &[&str]| {
        let ran = watched(args, limit);
        assert_eq!(ran.ran.code(), 0, "{:#?}", ran.ran);
        ran
    };
    both("advise DIR", &|n| reads(&["advise", text(&dir(n))]));
    both("trace info", &|n| reads(&["trace", "info", text(&dir(n))]));
    both("export", &|n| {
        // The same is exported twice.
        drop(fs::remove_dir_all(dir(n).join("parquet")));
        reads(&["export", text(&dir(n)), "--to", "parquet"])
    });
    // Cores are few, though threads are many.
    both("simulate", &|n| {
        reads(&["simulate", text(&dir(n)), "--machine", "machine-a"])
    });
}

/// Everything that ran in `dir` was in a module, and so many threads were recorded.
fn check(dir: &Path, threads: usize) {
    let trace = Trace::open(dir).unwrap();
    assert_eq!(trace.manifest().threads.len(), threads);
    let modules = trace.sites().modules().iter();
    let unknown: Vec<&str> = modules
        .filter(|m| m.path.starts_with("[jit"))
        .map(|m| m.path.as_str())
        .collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn children_keep_their_names_when_their_parent_has_ended() {
    let folder = tempfile::tempdir().unwrap();
    let program = families(folder.path());
    for (mode, threads) in [("plain", 41), ("orphans", 81), ("execs", 81)] {
        let dir = folder.path().join(mode);
        let command = ["record", "-o", text(&dir), "--", text(&program), "40", mode];
        run(command).exits(0);
        check(&dir, threads);
    }
}

#[test]
fn shells_run_no_code_that_nobody_knows() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("trace");
    let script =
        "for i in 1 2 3; do echo $i | cat | wc -c; done; (true; (true &) ); date >/dev/null";
    run(["record", "-o", text(&dir), "--", "sh", "-c", script]).exits(0);
    let threads = Trace::open(&dir).unwrap().manifest().threads.len();
    assert!(threads > 9);
    check(&dir, threads);
}

/// The log of a forked child was closed to all, also to us who read it, as its parent's mask says.
#[test]
fn a_mask_for_new_files_is_the_programs_alone() {
    let source = "#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
static void *nothing(void *a) { return a; }
int main(void) {
    pthread_t thread;
    umask(0777);
    pthread_create(&thread, 0, nothing, 0);
    pthread_join(thread, 0);
    if (fork() == 0)
        _exit(0);
    wait(0);
    return umask(0) == 0777 ? 0 : 9;
}
";
    let folder = tempfile::tempdir().unwrap();
    let program = c_program(folder.path(), "masked", source, &["-pthread"]);
    let dir = folder.path().join("trace");
    let mut command = prestore();
    // Root may read what nobody may, unless it has given that up.
    if fs::metadata("/proc/self").unwrap().uid() == 0 {
        let recorder = command.get_program().to_owned();
        command = Command::new("setpriv");
        command.args(["--bounding-set=-dac_override,-dac_read_search", "--"]);
        command.arg(recorder);
        let mut possible = Command::new("setpriv");
        possible.args(["--bounding-set=-dac_override", "--", "true"]);
        if !possible.status().is_ok_and(|s| s.success()) {
            eprintln!("SKIPPED: root cannot give up its rights here");
            return;
        }
    }
    command.args(["record", "-o", text(&dir), "--", text(&program)]);
    Running::start(command).finish().exits(0);
    check(&dir, 3);
}
