//! Files that change their names, and names that change their files.

use super::*;

/// `body` between the mappings: "made" is that of a new file, which `renamed` gives the name that was asked for.
fn program(body: &str) -> String {
    format!(
        r#"
        #include <fcntl.h>
        #include <immintrin.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <sys/mman.h>
        #include <unistd.h>
        static const char *asked;
        static char other[4096];
        __attribute__((noipa)) static volatile long *map(const char *path) {{
            int fd = open(path, O_RDWR | O_CREAT, 0600);
            if (ftruncate(fd, 4096) != 0) exit(2);
            void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
            close(fd);
            return at;
        }}
        __attribute__((noipa)) static void flush(volatile long *at) {{
            _mm_clflush((void *)at);
            _mm_sfence();
        }}
        int main(int argc, char **argv) {{
            asked = argv[argc - 1];
            snprintf(other, sizeof(other), "%s.new", asked);
            {body}
            _exit(0);
        }}
        "#
    )
}

#[test]
fn a_file_is_the_same_by_another_name() {
    let renamed = "volatile long *made = map(other); made[0] = 1; rename(other, asked);";
    let linked = "volatile long *made = map(other); made[0] = 1; link(other, asked);";
    let cases: [(&str, &str, &[&str]); 4] = [
        (renamed, "flush(map(asked));", &[]),
        (linked, "flush(map(asked));", &[]),
        (
            renamed,
            "map(asked)[9] = 1; flush(made);",
            &["missing-flush"],
        ),
        (
            renamed,
            "map(other)[0] = 1; flush(map(asked));",
            &["missing-flush"],
        ),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (number, (before, behind, expected)) in cases.into_iter().enumerate() {
        let source = program(&format!("{before} {behind}"));
        let program = c_program(folder.path(), &format!("name{number}"), &source, &[]);
        let dir = record(folder.path(), &program, &[]);
        for image in [&[][..], &["--image", "pool"]] {
            // The other file is no part of what is asked for.
            let expected = if number == 3 && !image.is_empty() {
                &[]
            } else {
                expected
            };
            let report = crash(&dir, image);
            let kinds: Vec<String> = findings(&report).into_iter().map(|f| f.0).collect();
            assert_eq!(kinds, expected, "{before} {behind} {image:?}: {report:#}");
        }
        for name in ["pool", "pool.new"] {
            let _ = fs::remove_file(folder.path().join(name));
        }
    }
}

/// The next file of that name begins with what it holds, not with what its predecessor held; that one's mapping is kept, so that the
/// kernel has no file with the same number.
#[test]
fn a_file_that_is_created_anew_is_another() {
    let source = program(
        "volatile long *first = map(asked); first[0] = 1; unlink(asked); \
         volatile long *next = map(asked); next[1] = 1; flush(next);",
    );
    let folder = tempfile::tempdir().unwrap();
    let program = c_program(folder.path(), "anew", &source, &[]);
    let dir = record(folder.path(), &program, &["--values"]);
    let report = crash(&dir, &["--image", "pool"]);
    let kinds: Vec<String> = findings(&report).into_iter().map(|f| f.0).collect();
    assert_eq!(kinds, ["missing-flush"], "{report:#}");
    let check = "cmp -s -i 0:0 -n 8 {image} /dev/zero";
    let report = crash(&dir, &["--image", "pool", "--check", check]);
    assert_eq!(report["images"]["failed"], 0, "{report:#}");
    let notes = report["notes"].to_string();
    assert!(
        notes.contains("the last of 2 files of this name"),
        "{notes}"
    );
}
