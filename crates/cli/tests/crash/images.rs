//! Which memory is persistent, and what else makes data so.

use super::*;

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

/// It has stored nothing, which is known where the values are. Another thread's may have succeeded, been flushed and fenced before it.
#[test]
fn a_compare_and_swap_that_failed_needs_no_flush() {
    let swap = |expected: u32| {
        format!(
            "long old = {expected}; at[0] = 1; _mm_clflush((void *)at); \
             __atomic_compare_exchange_n(at, &old, 3, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);"
        )
    };
    let folder = tempfile::tempdir().unwrap();
    let cases: [(u32, &[&str], &[&str]); 3] = [
        (2, &["--values"], &[]),
        (1, &["--values"], &["missing-flush"]),
        (2, &[], &["missing-flush"]),
    ];
    for (number, (expected, options, found)) in cases.into_iter().enumerate() {
        let name = format!("swap{number}");
        let program = c_program(folder.path(), &name, &other_ways(&swap(expected)), &[]);
        let dir = record(folder.path(), &program, options);
        let report = crash(&dir, &["--image", "pool"]);
        let kinds: Vec<String> = findings(&report).into_iter().map(|f| f.0).collect();
        assert_eq!(kinds, found, "{expected} {options:?}: {report:#}");
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

/// Allocations and ranges begin and end within lines; who flushes one names any byte of its line.
#[test]
fn a_flush_takes_its_line_from_before_the_memory() {
    let cases: [(&str, &[&str], &[&str]); 6] = [
        ("at[2] = 1; _mm_clflush((void *)at);", &["10-40"], &[]),
        (
            "at[2] = 1; _mm_clflush((void *)&at[8]);",
            &["10-40"],
            &["missing-flush"],
        ),
        ("at[1] = 1; _mm_clflush((void *)&at[7]);", &["8-20"], &[]),
        // Of other memory in the line nobody has said that it is persistent, and it may need the flush.
        (
            "at[0] = at[2] = 1; _mm_clflush((void *)at); at[0] = 2; _mm_clflush((void *)at);",
            &["10-40"],
            &[],
        ),
        // Nor is a flush in vain that one of two needs.
        (
            "at[0] = at[4] = 1; _mm_clflush((void *)at); at[4] = 2; _mm_clflush((void *)at);",
            &["0-20", "20-40"],
            &[],
        ),
        (
            "at[0] = at[4] = 1; _mm_clflush((void *)at); _mm_clflush((void *)&at[4]);",
            &["0-20", "20-40"],
            &["redundant-flush"],
        ),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (number, (body, ranges, expected)) in cases.into_iter().enumerate() {
        let name = format!("within{number}");
        let program = c_program(folder.path(), &name, &other_ways(body), &["-Wl,-z,now"]);
        let ranges = ranges.iter().map(|r| {
            let (first, end) = r.split_once('-').unwrap();
            format!("0x{:x}-0x{:x}", at(first), at(end))
        });
        let ranges: Vec<String> = ranges.collect();
        let images: Vec<&str> = ranges.iter().flat_map(|r| ["--image", r]).collect();
        for options in [&[][..], &["--values"]] {
            let dir = record(folder.path(), &program, options);
            let report = crash(&dir, &images);
            let kinds: Vec<String> = findings(&report).into_iter().map(|f| f.0).collect();
            assert_eq!(kinds, expected, "{body}: {report:#}");
        }
    }
    fn at(offset: &str) -> u64 {
        0x1000_0000_0000 + u64::from_str_radix(offset, 16).unwrap()
    }
}

/// So nothing of what was flushed is lost in any image.
#[test]
fn images_begin_and_end_within_lines() {
    let body = "at[2] = 42; _mm_clflush((void *)at); at[9] = 1; _mm_clflush((void *)&at[15]);";
    let check = r#"
        #include <stdio.h>
        int main(int argc, char **argv) {
            long words[9] = {0};
            FILE *image = argc == 2 ? fopen(argv[1], "rb") : NULL;
            if (image == NULL || fread(words, sizeof(words), 1, image) != 1) return 2;
            return words[7] == 1 && words[0] != 42;
        }"#;
    let folder = tempfile::tempdir().unwrap();
    let program = c_program(folder.path(), "ends", &other_ways(body), &["-Wl,-z,now"]);
    let check = c_program(folder.path(), "check", check, &[]);
    let dir = record(folder.path(), &program, &["--values"]);
    let check = format!("{} {{image}}", text(&check));
    let report = crash(&dir, &["--image", "0x100000000010+72", "--check", &check]);
    assert_eq!(report["images"]["failed"], 0, "{report:#}");
    assert_eq!(report["images"]["tried"], 3, "{report:#}");
    assert_eq!(findings(&report), [], "{report:#}");
}

#[test]
fn a_file_that_is_mapped_twice_is_one_memory() {
    let source = r#"
        #include <fcntl.h>
        #include <immintrin.h>
        #include <sys/mman.h>
        #include <unistd.h>
        int main(int argc, char **argv) {
            enum { BYTES = 8192 };
            int fd = open(argv[argc - 1], O_RDWR | O_CREAT, 0600);
            if (ftruncate(fd, BYTES) != 0) return 2;
            volatile long *one = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
            volatile long *other = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
            one[9] = 1;
            _mm_clflush((void *)&other[9]);
            _exit(0);
        }"#;
    let folder = tempfile::tempdir().unwrap();
    let program = c_program(folder.path(), "twice", source, &["-Wl,-z,now"]);
    let dir = record(folder.path(), &program, &[]);
    let report = crash(&dir, &[]);
    assert_eq!(report["image"][0]["bytes"], 8192, "{report:#}");
    assert_eq!(findings(&report), [], "{report:#}");
}
