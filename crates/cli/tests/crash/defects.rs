//! Without a checker: what is never flushed or fenced, and what is so in vain.

use super::*;

/// `prestore crash` of a program with a defect finds `expected`: kinds, and what stands in their lines.
#[track_caller]
fn finds(name: &str, defect: &str, expected: &[(&str, &str)]) {
    finds_in(name, defect, &[], expected);
}

/// As [`finds`], recorded with these options.
#[track_caller]
fn finds_in(name: &str, defect: &str, options: &[&str], expected: &[(&str, &str)]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let program = program(folder.path(), name, defect);
    let dir = record(folder.path(), &program, options);
    let report = crash(&dir, &[]);
    let file = format!("{name}.c");
    let expected: Vec<(String, String, u32)> = (expected.iter())
        .map(|&(kind, mark)| {
            let line = source_line(&format!("{PROGRAMS}/{file}"), mark);
            (kind.to_owned(), file.clone(), line)
        })
        .collect();
    assert_eq!(findings(&report), expected, "{name} {defect}: {report:#}");
    report
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
fn pointers_to_data_that_is_not_persistent_are_found_where_values_are_known() {
    if no_clwb() {
        return;
    }
    let stored = "/* stored */";
    let values = ["--values"];
    finds_in("pointers", "NONE", &values, &[]);
    finds_in("pointers", "MISSING_FENCE", &values, &[]);
    let next = "node->next = pool->head;";
    let early = [("ordering", stored), ("ordering", next)];
    let report = finds_in("pointers", "ORDERING", &values, &early);
    let finding = &report["findings"][0];
    let line = |mark| source_line(&format!("{PROGRAMS}/pointers.c"), mark);
    assert_eq!(finding["pointer"]["line"], line("/* pointer */"));
    assert_eq!(finding["count"], 39);
    let reason = finding["reason"].as_str().unwrap();
    assert!(reason.contains("a pointer to it"), "{reason}");
    // What is never flushed is that, whatever points to it.
    let never = [("missing-flush", stored), ("missing-flush", next)];
    finds_in("pointers", "MISSING_FLUSH", &values, &never);
    finds_in("pointers", "READ", &values, &[("ordering", "/* read */")]);
    // Without values nobody knows what is a pointer.
    finds("pointers", "ORDERING", &[]);
}

/// A lock with a version, or another counter, has more bytes when it is counted up, and is no new data for that.
#[test]
fn a_word_that_was_persistent_is_not_new_when_it_grows() {
    if no_clwb() {
        return;
    }
    let source = r#"#include <fcntl.h>
#include <immintrin.h>
#include <sys/mman.h>
#include <unistd.h>
static void persist(volatile long *at) { _mm_clwb((void *)at); _mm_sfence(); }
int main(int argc, char **argv) {
    int fd = open(argv[argc - 1], O_RDWR | O_CREAT, 0600);
    if (ftruncate(fd, 4096) != 0) return 2;
    volatile long *pool = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    volatile long *node = pool + 8;
    node[0] = 255;
    persist(node);
    node[0]++; /* counted */
    node[1] = FIELD; /* field */
    pool[0] = (long)node;
    persist(pool);
    persist(node);
    _exit(0);
}
"#;
    for (field, expected) in [("0", None), ("7", Some("/* field */"))] {
        let folder = tempfile::tempdir().unwrap();
        let flags = ["-mclwb", "-Wl,-z,now"];
        let source = source.replace("FIELD", field);
        let program = c_program(folder.path(), "counts", &source, &flags);
        let dir = record(folder.path(), &program, &["--values"]);
        let report = crash(&dir, &[]);
        let line = |mark| 1 + source.lines().position(|l| l.contains(mark)).unwrap() as u32;
        let expected: Vec<_> = expected
            .map(|mark| ("ordering".to_owned(), "counts.c".to_owned(), line(mark)))
            .into_iter()
            .collect();
        assert_eq!(findings(&report), expected, "{field}: {report:#}");
    }
}

/// A lock, a count, or what the dynamic linker does for a call that comes: nobody flushes before that.
#[test]
fn an_atomic_between_store_and_flush_is_not_the_fence_that_was_meant() {
    if no_clwb() {
        return;
    }
    let source = other_ways(
        "static int count; at[0] = 0; _mm_clwb((void *)at);
        at[0] = 7; /* again */
        __sync_fetch_and_add(&count, 1); FLUSH _mm_sfence();",
    );
    let flushed = "_mm_clwb((void *)at);";
    for (flush, expected) in [(flushed, None), ("", Some("ordering"))] {
        let folder = tempfile::tempdir().unwrap();
        let source = source.replace("FLUSH", flush);
        let program = c_program(folder.path(), "counts", &source, &["-mclwb"]);
        let dir = record(folder.path(), &program, &[]);
        let report = crash(&dir, &["--image", "pool"]);
        let line = 1 + source.lines().position(|l| l.contains("again")).unwrap() as u32;
        let expected: Vec<_> = expected
            .map(|kind| (kind.to_owned(), "counts.c".to_owned(), line))
            .into_iter()
            .collect();
        assert_eq!(findings(&report), expected, "{flush}: {report:#}");
    }
}

#[test]
fn a_flush_behind_a_store_around_the_caches_is_told_with_that_store() {
    if no_clwb() {
        return;
    }
    let source = other_ways(
        "
        _mm_stream_si64((long long *)at, 7);
        _mm_clwb((void *)at); /* in vain */
        _mm_sfence();",
    );
    let folder = tempfile::tempdir().unwrap();
    let program = c_program(folder.path(), "around", &source, &["-mclwb"]);
    let dir = record(folder.path(), &program, &["--values"]);
    let report = crash(&dir, &["--image", "pool"]);
    let line = 1 + source.lines().position(|l| l.contains("in vain")).unwrap() as u32;
    let expected = ("redundant-flush".to_owned(), "around.c".to_owned(), line);
    assert_eq!(findings(&report), [expected], "{report:#}");
    let finding = &report["findings"][0];
    assert_eq!(finding["flush"]["line"], line - 1, "{finding:#}");
    let reason = finding["reason"].as_str().unwrap();
    assert!(reason.contains("non-temporal store"), "{reason}");
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
