//! `prestore crash`: each planted defect is found at its line, and nothing in the correct twin.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{assert_valid, c_program, compile, root, run, source_line, text};
use serde_json::Value;

const PROGRAMS: &str = "crates/cli/tests/programs";

/// The programs execute `clwb`; a processor without it cannot run them.
fn no_clwb() -> bool {
    let lacks = !fs::read_to_string("/proc/cpuinfo")
        .unwrap()
        .contains(" clwb");
    if lacks {
        eprintln!("skipped: this processor has no clwb");
    }
    lacks
}

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

/// `prestore crash` of a program with a defect finds `expected`: kinds, and what stands in their lines.
#[track_caller]
fn finds(name: &str, defect: &str, expected: &[(&str, &str)]) {
    let folder = tempfile::tempdir().unwrap();
    let dir = record(folder.path(), &program(folder.path(), name, defect), &[]);
    let report = crash(&dir, &[]);
    let file = format!("{name}.c");
    let expected: Vec<(String, String, u32)> = (expected.iter())
        .map(|&(kind, mark)| {
            let line = source_line(&format!("{PROGRAMS}/{file}"), mark);
            (kind.to_owned(), file.clone(), line)
        })
        .collect();
    assert_eq!(findings(&report), expected, "{name} {defect}: {report:#}");
}

#[test]
fn a_list_has_each_defect_at_its_line() {
    if no_clwb() {
        return;
    }
    let cases: [(&str, &[(&str, &str)]); 7] = [
        ("NONE", &[]),
        ("MISSING_FLUSH", &[("missing-flush", "/* missing-flush,")]),
        ("MISSING_FENCE", &[("missing-fence", "missing-fence */")]),
        ("ORDERING", &[("ordering", "/* ordering */")]),
        (
            "FLUSHED_TWICE",
            &[("redundant-flush", "/* flushed twice */")],
        ),
        (
            "CLEAN_FLUSH",
            &[("redundant-flush", "/* flushed though clean */")],
        ),
        (
            "FENCED_TWICE",
            &[("redundant-fence", "/* redundant-fence */")],
        ),
    ];
    for (defect, expected) in cases {
        finds("list", defect, expected);
    }
}

#[test]
fn a_swap_with_an_undo_log_has_each_defect_at_its_line() {
    if no_clwb() {
        return;
    }
    let cases: [(&str, &[(&str, &str)]); 5] = [
        ("NONE", &[]),
        ("MISSING_FLUSH", &[("missing-flush", "/* missing-flush */")]),
        ("MISSING_FENCE", &[("missing-fence", "/* missing-fence */")]),
        ("ORDERING", &[("ordering", "/* ordering */")]),
        (
            "WRONG_LINE",
            &[
                ("missing-flush", "/* missing-flush */"),
                ("redundant-flush", "/* the wrong line */"),
            ],
        ),
    ];
    for (defect, expected) in cases {
        finds("swap", defect, expected);
    }
}

#[test]
fn a_thread_may_persist_what_another_has_stored_under_a_lock() {
    if no_clwb() {
        return;
    }
    finds("helper", "NONE", &[]);
    finds(
        "helper",
        "MISSING_FLUSH",
        &[("missing-flush", "/* missing-flush */")],
    );
}

#[test]
fn what_would_have_saved_it_is_named() {
    if no_clwb() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let line = |text: &str| source_line(&format!("{PROGRAMS}/swap.c"), text);
    let dir = record(
        folder.path(),
        &program(folder.path(), "swap", "ORDERING"),
        &[],
    );
    let report = crash(&dir, &[]);
    let late = &report["findings"][0];
    let flush = line("/* missing-flush */") - 1;
    assert_eq!(late["flush"]["line"], flush, "{late:#}");
    assert_eq!(late["count"], 32, "{late:#}");
    assert_eq!(late["first"]["offset"], 128, "{late:#}");
    assert_eq!(late["range"], text(&folder.path().join("pool")), "{late:#}");
    let dir = record(
        folder.path(),
        &program(folder.path(), "swap", "MISSING_FENCE"),
        &[],
    );
    let unfenced = &crash(&dir, &[])["findings"][0];
    assert_eq!(
        unfenced["flush"]["line"],
        line("/* missing-fence */") + 1,
        "{unfenced:#}"
    );
    assert_eq!(unfenced["count"], 1, "{unfenced:#}");
}

#[test]
fn with_persistent_caches_only_flushes_are_too_many() {
    if no_clwb() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let dir = record(
        folder.path(),
        &program(folder.path(), "list", "MISSING_FLUSH"),
        &[],
    );
    let report = crash(&dir, &["--domain", "eadr"]);
    assert_eq!(report["domain"], "eadr");
    let node = source_line(&format!("{PROGRAMS}/list.c"), "_mm_clwb(node);");
    assert_eq!(
        findings(&report),
        [("redundant-flush".to_owned(), "list.c".to_owned(), node)],
        "{report:#}"
    );
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

#[test]
fn other_ways_to_make_data_persistent() {
    let cases: [(&str, &[&str]); 6] = [
        ("_mm_stream_si64((long long *)at, 1); _mm_sfence();", &[]),
        ("_mm_stream_si64((long long *)at, 1);", &["missing-fence"]),
        ("at[0] = 1; _mm_clflush((void *)at);", &[]),
        (
            "at[0] = 1; at[9] = 1; _mm_clflush((void *)at);",
            &["missing-flush"],
        ),
        (
            "at[0] = 1; at[9] = 1; msync((void *)((long)at & -4096), 4096, MS_SYNC);",
            &[],
        ),
        (
            "at[0] = 1; msync((void *)((long)at & -4096), 4096, MS_ASYNC);",
            &["missing-flush"],
        ),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (number, (body, expected)) in cases.into_iter().enumerate() {
        let name = format!("other{number}");
        let program = c_program(folder.path(), &name, &other_ways(body), &["-Wl,-z,now"]);
        let dir = record(folder.path(), &program, &[]);
        let report = crash(&dir, &["--image", "pool"]);
        let kinds: Vec<String> = findings(&report).into_iter().map(|f| f.0).collect();
        assert_eq!(kinds, expected, "{body}: {report:#}");
    }
}

#[test]
fn an_image_is_a_file_a_range_or_what_is_allocated_somewhere() {
    let folder = tempfile::tempdir().unwrap();
    let body = "at[0] = 1; at[8] = 2;";
    let program = c_program(folder.path(), "images", &other_ways(body), &[]);
    let dir = record(folder.path(), &program, &[]);
    let images = |wanted: &[&str]| {
        let mut options = Vec::new();
        for image in wanted {
            options.extend(["--image", image]);
        }
        let report = crash(&dir, &options);
        let ranges = report["findings"].as_array().unwrap().iter();
        let ranges: Vec<(String, u64)> = ranges
            .map(|f| {
                assert_eq!(f["kind"], "missing-flush", "{report:#}");
                let offset = f["first"]["offset"].as_u64().unwrap();
                (f["range"].as_str().unwrap().to_owned(), offset)
            })
            .collect();
        (ranges, report["image"].as_array().unwrap().len())
    };
    let one = |name: &str| (vec![(name.to_owned(), 0)], 1);
    let pool = folder.path().join("pool");
    let stores =
        |n: u64, report: Value| assert_eq!(report["findings"][0]["count"], n, "{report:#}");
    stores(2, crash(&dir, &[]));
    assert_eq!(images(&[]), one(text(&pool)));
    assert_eq!(images(&[text(&pool)]), one(text(&pool)));
    assert_eq!(images(&["allocate"]), one("allocate"));
    assert_eq!(images(&["fixed"]), one("fixed"));
    assert_eq!(
        images(&["0x100000000000+4K"]),
        one("0x100000000000-0x100000001000")
    );
    assert_eq!(images(&["0x100000000000-0x100000000040"]).0.len(), 1);
    stores(
        1,
        crash(&dir, &["--image", "0x100000000000-0x100000000040"]),
    );
    let both = images(&["pool", "allocate"]);
    assert_eq!((both.0.len(), both.1), (2, 2));
}

#[test]
fn every_form_has_the_findings_and_they_may_fail_a_build() {
    let folder = tempfile::tempdir().unwrap();
    let program = c_program(folder.path(), "forms", &other_ways("at[0] = 1;"), &[]);
    let dir = record(folder.path(), &program, &[]);
    let said = run(["crash", text(&dir)]).exits(0).stdout;
    for part in [
        "1. missing flush: use",
        "forms.c line",
        "flushed nothing of this memory",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let log = run(["crash", text(&dir), "--format", "sarif"])
        .exits(0)
        .json();
    let result = &log["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "prestore/missing-flush", "{log:#}");
    assert_eq!(log["runs"][0]["results"].as_array().unwrap().len(), 1);
    run(["crash", text(&dir), "--fail-on-findings"]).exits(1);
    let report = crash(&dir, &[]);
    assert_eq!(report["images"]["tried"], 0);
    assert_eq!(report["first_failure"], Value::Null);
    let clean = "at[0] = 1; _mm_clflush((void *)at);";
    let program = c_program(folder.path(), "clean", &other_ways(clean), &[]);
    let dir = record(folder.path(), &program, &[]);
    run(["crash", text(&dir), "--fail-on-findings"]).exits(0);
}

#[test]
fn what_cannot_be_checked_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let source = other_ways("at[0] = 1;");
    let program = c_program(folder.path(), "input", &source, &[]);
    let dir = record(folder.path(), &program, &["--no-allocations"]);
    let unknown = ["does not know mapped files", "record again"];
    run(["crash", text(&dir)]).exits(2).says(&unknown);
    run(["crash", text(&dir), "--image", "pool"])
        .exits(2)
        .says(&unknown);
    let range = ["crash", text(&dir), "--image", "0x100000000000+4K"];
    run(range).exits(0);

    let part = ["--scope", "functions", "--function", "use"];
    let dir = record(folder.path(), &program, &part);
    run(["crash", text(&dir)])
        .exits(2)
        .says(&["chosen functions", "record all of it again"]);
    let dir = record(folder.path(), &program, &["--take", "1M"]);
    run(["crash", text(&dir)])
        .exits(2)
        .says(&["windows or regions"]);

    let dir = record(folder.path(), &program, &[]);
    let wrong = |image: &str, parts: &[&str]| {
        run(["crash", text(&dir), "--image", image])
            .exits(2)
            .says(parts);
    };
    wrong("other", &["no file of this name", "it mapped", "pool"]);
    wrong(
        "0x1000-0x2000",
        &["neither stored nor flushed", "from this recording"],
    );
    wrong("0x1000", &["no range of addresses", "0xFIRST+SIZE"]);
    wrong("0x2000-0x1000", &["holds no byte"]);
    wrong("", &["needs a name"]);
    // As recordings were before files were known: the manifest's checksum does not fit then.
    let manifest = dir.join("manifest.json");
    let known = fs::read_to_string(&manifest).unwrap();
    let older = known.replace("\"mapped_files\": true", "\"mapped_files\": false");
    assert_ne!(known, older);
    fs::write(&manifest, older).unwrap();
    run(["crash", text(&dir), "--lenient"])
        .exits(2)
        .says(&unknown);

    let plain = c_program(folder.path(), "plain", "int main(void) { return 0; }", &[]);
    let dir = record(folder.path(), &plain, &[]);
    let nothing = ["mapped no file", "--image", "MAP_SHARED"];
    run(["crash", text(&dir)]).exits(2).says(&nothing);
    run(["crash", text(&folder.path().join("none"))])
        .exits(2)
        .says(&["is not a trace"]);
}

#[test]
fn a_forked_child_has_its_parents_mappings() {
    let source = r#"
        #include <fcntl.h>
        #include <immintrin.h>
        #include <stdlib.h>
        #include <sys/mman.h>
        #include <sys/wait.h>
        #include <unistd.h>
        __attribute__((noipa)) static void in_child(volatile long *at) {
            at[0] = 1;
            at[8] = 1;
        }
        __attribute__((noipa)) static void in_parent(volatile long *at) {
            _mm_clflush((void *)at);
        }
        int main(int argc, char **argv) {
            int fd = open(argv[argc - 1], O_RDWR | O_CREAT, 0600);
            if (ftruncate(fd, 4096) != 0) exit(2);
            long *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
            pid_t child = fork();
            if (child == 0) {
                in_child(at);
                _exit(0);
            }
            waitpid(child, NULL, 0);
            /* Atomics have their time in the recording; that a child was waited for has not. */
            static long waited;
            __atomic_fetch_add(&waited, 1, __ATOMIC_SEQ_CST);
            in_parent(at);
            return 0;
        }
    "#;
    let folder = tempfile::tempdir().unwrap();
    let program = c_program(folder.path(), "forks", source, &[]);
    let dir = record(folder.path(), &program, &[]);
    let report = crash(&dir, &[]);
    let all = report["findings"].as_array().unwrap();
    // What the parent flushed is one line, the child has stored to two.
    assert_eq!(all.len(), 1, "{report:#}");
    assert_eq!(all[0]["kind"], "missing-flush", "{report:#}");
    assert_eq!(all[0]["function"], "in_child", "{report:#}");
    assert_eq!(all[0]["first"]["offset"], 64, "{report:#}");
}
