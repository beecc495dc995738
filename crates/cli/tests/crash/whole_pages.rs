//! What a library writes back by whole pages hides what was never flushed: that is said, of those that need not do so.

use super::*;

/// Stores to two lines and has one of them made persistent.
const PROGRAM: &str = r#"
    #include <fcntl.h>
    #include <stdlib.h>
    #include <sys/mman.h>
    #include <unistd.h>
    void persist(void *at);
    int main(int argc, char **argv) {
        int fd = open(argv[argc - 1], O_RDWR | O_CREAT, 0600);
        if (ftruncate(fd, 4096) != 0) exit(2);
        volatile long *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        at[0] = 1;
        at[8] = 1; /* never asked for */
        persist((void *)at);
        _exit(0);
    }
"#;

const PERSIST: &str = r#"
    #include <stdint.h>
    #include <stdlib.h>
    #include <sys/mman.h>
    void persist(void *at) {
        if (msync((void *)((uintptr_t)at & ~4095ul), 4096, MS_SYNC) != 0) exit(3);
    }
"#;

/// It writes back the header, and flushes lines.
const PERSIST_LINES: &str = r#"
    #include <immintrin.h>
    #include <stdint.h>
    #include <stdlib.h>
    #include <sys/mman.h>
    void persist(void *at) {
        if (msync((void *)((uintptr_t)at & ~4095ul), 4096, MS_SYNC) != 0) exit(3);
        *(volatile long *)at = 2;
        _mm_clflush(at);
    }
"#;

/// The notes on a program whose `persist` is in the library of this name; it has no findings.
fn notes(library: &str, source: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    c_program(folder.path(), library, source, &["-shared", "-fPIC"]);
    let at = format!("-L{}", text(folder.path()));
    let path = format!("-Wl,-rpath,{},-z,now", text(folder.path()));
    let linked = format!("-l:{library}");
    let flags = ["-Wl,--no-as-needed", &at, &path, &linked];
    let program = c_program(folder.path(), "pages", PROGRAM, &flags);
    let report = crash(&record(folder.path(), &program, &[]), &[]);
    assert_eq!(findings(&report), [], "{report:#}");
    report["notes"].to_string()
}

#[test]
fn a_library_that_need_not_write_whole_pages_back_is_named() {
    let said = notes("libpmem.so", PERSIST);
    assert!(said.contains("libpmem.so wrote whole pages back"), "{said}");
    assert!(said.contains("PMEM_IS_PMEM_FORCE=1"), "{said}");
    // This one has a variable of its own.
    let said = notes("libpmem2.so", PERSIST);
    let asked = "PMEM2_FORCE_GRANULARITY=CACHE_LINE";
    assert!(said.contains(asked), "{said}");
}

#[test]
fn what_a_program_writes_back_by_pages_is_its_own_choice() {
    let said = notes("libown.so", PERSIST);
    assert!(!said.contains("whole pages"), "{said}");
}

/// As PMDK's do with a pool that they take for persistent memory.
#[test]
fn a_library_that_flushes_lines_has_not_fallen_back() {
    let said = notes("libpmem.so", PERSIST_LINES);
    assert!(!said.contains("whole pages"), "{said}");
}
