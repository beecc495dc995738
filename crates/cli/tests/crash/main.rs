//! `prestore crash`: each planted defect is found at its line, and nothing in the correct twin.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

#[path = "../common/mod.rs"]
mod common;

mod bad_input;
mod checked;
mod checkers;
mod defects;
mod forms;
mod hand_over;
mod helpers;
mod images;
mod names;
mod same;
mod suite;
mod transactions;
mod whole_pages;
mod whose;

use std::fs;
use std::path::{Path, PathBuf};

use common::{
    Running, assert_valid, c_program, compile, no_clwb, no_pmemobj, prestore, root, run,
    source_line, text,
};
use serde_json::Value;

const PROGRAMS: &str = "crates/cli/tests/programs";

/// The program of this name with a defect (`NONE`: its correct twin), built in `folder`.
fn program(folder: &Path, name: &str, defect: &str) -> PathBuf {
    let source = root()
        .canonicalize()
        .unwrap()
        .join(PROGRAMS)
        .join(format!("{name}.c"));
    let program = folder.join(format!("{name}-{defect}"));
    let defect = format!("-DDEFECT={defect}");
    compile(
        &source,
        &program,
        &["-pthread", "-mclwb", "-Wl,-z,now", &defect],
    );
    program
}

/// Records `program POOL` in `folder` with these options; returns the recording.
#[track_caller]
fn record(folder: &Path, program: &Path, options: &[&str]) -> PathBuf {
    let (dir, pool) = (folder.join("trace"), folder.join("pool"));
    let mut command = vec!["record", "-q", "--force", "-o", text(&dir)];
    command.extend(options);
    command.extend(["--", text(program), text(&pool)]);
    run(command).exits(0);
    dir
}

#[track_caller]
fn crash(dir: &Path, options: &[&str]) -> Value {
    let command = ["crash", "--format", "json", text(dir)];
    let report = run(command.iter().chain(options)).exits(0).json();
    assert_valid("crash.schema.json", &report);
    report
}

/// Kind, file name and line of each finding.
fn findings(report: &Value) -> Vec<(String, String, u32)> {
    let all = report["findings"].as_array().unwrap().iter();
    all.map(|f| {
        let file = f["file"].as_str().unwrap_or_default();
        let file = file.rsplit('/').next().unwrap_or_default();
        let kind = f["kind"].as_str().unwrap();
        (
            kind.to_owned(),
            file.to_owned(),
            f["line"].as_u64().unwrap_or(0) as u32,
        )
    })
    .collect()
}

/// Memory at a known address, allocated memory and a file; what is done to it stands between.
fn other_ways(body: &str) -> String {
    format!(
        r#"
        #include <fcntl.h>
        #include <immintrin.h>
        #include <stdlib.h>
        #include <sys/mman.h>
        #include <unistd.h>
        __attribute__((noipa)) static long *fixed(void) {{
            long *at = mmap((void *)0x100000000000, 4096, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
            if (at == MAP_FAILED) exit(2);
            return at;
        }}
        __attribute__((noipa)) static long *allocate(void) {{
            long *at = aligned_alloc(64, 4096);
            if (at == NULL) exit(2);
            return at;
        }}
        __attribute__((noipa)) static long *file(const char *path) {{
            int fd = open(path, O_RDWR | O_CREAT, 0600);
            if (ftruncate(fd, 8192) != 0) exit(2);
            return mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        }}
        __attribute__((noipa)) static void use(volatile long *at) {{ (void)at; {body} }}
        int main(int argc, char **argv) {{
            long *pool = file(argv[argc - 1]), *heap = allocate(), *range = fixed();
            use(heap);
            free(heap);
            use(range);
            /* Last: there are atomics in free(), and those are fences. */
            use(pool);
            _exit(0);
        }}
    "#
    )
}
