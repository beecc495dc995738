//! Processes that come and go: their findings add up, their memory is given back.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

mod synthetic;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use prestore_dirtbuster::{Analyzer, Outcome};
use prestore_trace::{ProcessId, SiteTable, ThreadId};
use synthetic::{Numbers, Program, everything};

/// Counts the bytes that are allocated.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: hands everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(now, Ordering::Relaxed);
        // SAFETY: as the caller says.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller says.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Writes 256 lines of an array and reads each.
fn program() -> Program {
    let mut p = Program::default();
    let (store, load) = (
        p.block(1, 0).store(0, 0, 64).done(),
        p.block(2, 0).load(0, 0, 8).done(),
    );
    for i in 0..256u64 {
        p.run(0, store, &[0x10_0000 + 64 * i]);
    }
    for i in 0..256u64 {
        p.run(0, load, &[0x10_0000 + 64 * i]);
    }
    p
}

/// The program run by so many processes, one after the other. `ends`: they are said to have ended.
fn run(processes: u32, ends: bool) -> (Outcome<Numbers>, usize) {
    let program = program();
    let mut sites = SiteTable::default();
    let mut analyzer = Analyzer::new(everything(), Numbers);
    MOST.store(NOW.load(Ordering::Relaxed), Ordering::Relaxed);
    let before = NOW.load(Ordering::Relaxed);
    for n in 0..processes {
        for (_, words) in &program.buffers {
            let (process, thread) = (ProcessId(n), ThreadId(n));
            let fed = analyzer.feed(process, thread, &program.table, &mut sites, words);
            assert_eq!(fed, Ok(words.len()));
        }
        if ends {
            analyzer.end(ProcessId(n));
        }
    }
    let outcome = analyzer.finish();
    (outcome, MOST.load(Ordering::Relaxed) - before)
}

/// One test, since the allocations of all are counted.
#[test]
fn findings_add_up_and_memory_does_not() {
    let (kept, _) = run(50, false);
    let (ended, few) = run(50, true);
    assert_eq!(kept.findings, ended.findings);
    assert_eq!(kept.counts, ended.counts);
    assert_eq!(kept.threads, ended.threads);
    assert_eq!(ended.findings.stores, 50 * 256);
    let (_, many) = run(1050, true);
    // What each thread executed is kept: 48 bytes, and room for more of them.
    let each = many.saturating_sub(few) / 1000;
    assert!(each < 256, "{each} bytes a process: {few}, then {many}");
}
