//! Processes that come and go: their findings add up, their memory is given back.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

mod synthetic;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use prestore_dirtbuster::{Analyzer, Findings, Outcome, PitfallKind};
use prestore_trace::{FenceKind, ProcessId, SiteTable, ThreadId};
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

/// Writes 256 lines of an array, reads each and flushes it; 256 of the fences behind have nothing to
/// order.
fn program() -> Program {
    let mut p = Program::default();
    let (store, load) = (
        p.block(1, 0).store(0, 0, 64).done(),
        p.block(2, 0).load(0, 0, 8).done(),
    );
    for i in 0..256u64 {
        p.run(0, store, &[0x10_0000 + 64 * i]);
    }
    let flush = p.block(3, 0).flush(0).done();
    let fence = p.block(3, 10).fence(FenceKind::Store).done();
    for i in 0..256u64 {
        p.run(0, load, &[0x10_0000 + 64 * i]);
        p.run(0, flush, &[0x10_0000 + 64 * i]);
    }
    for _ in 0..=256 {
        p.run(0, fence, &[]);
    }
    p
}

/// Who is said to have ended.
#[derive(Clone, Copy, PartialEq)]
enum Told {
    Nobody,
    NobodyOfOne,
    Threads,
    Processes,
}

/// The program run by so many processes (for [`Told::NobodyOfOne`] and [`Told::Threads`], threads of one), one after the other.
fn run(processes: u32, told: Told) -> (Outcome<Numbers>, usize) {
    let program = program();
    let mut sites = SiteTable::default();
    let mut analyzer = Analyzer::new(everything(), Numbers);
    MOST.store(NOW.load(Ordering::Relaxed), Ordering::Relaxed);
    let before = NOW.load(Ordering::Relaxed);
    for n in 0..processes {
        let one = matches!(told, Told::NobodyOfOne | Told::Threads);
        let process = ProcessId(if one { 0 } else { n });
        let thread = ThreadId(n);
        for (_, words) in &program.buffers {
            let fed = analyzer.feed(process, thread, &program.table, &mut sites, words);
            assert_eq!(fed, Ok(words.len()));
        }
        match told {
            Told::Nobody | Told::NobodyOfOne => {}
            Told::Threads => analyzer.end_thread(process, thread),
            Told::Processes => analyzer.end(process),
        }
    }
    let outcome = analyzer.finish();
    (outcome, MOST.load(Ordering::Relaxed) - before)
}

/// One test, since the allocations of all are counted.
#[test]
fn findings_add_up_and_memory_does_not() {
    let (kept, _) = run(50, Told::Nobody);
    let (ended, few) = run(50, Told::Processes);
    assert_eq!(kept.findings, ended.findings);
    assert_eq!(kept.counts, ended.counts);
    assert_eq!(kept.threads, ended.threads);
    assert_eq!(ended.findings.stores, 50 * 256);
    let affected = |f: &Findings, kind| {
        let of_kind = f.pitfalls.iter().filter(|p| p.kind == kind);
        of_kind.map(|p| p.affected).sum::<u64>()
    };
    let idle = affected(&ended.findings, PitfallKind::IdleFence);
    assert_eq!(idle, 50 * 256);
    let (_, many) = run(4050, Told::Processes);
    // What each thread executed is kept: 48 bytes, and room for more of them. What is on its way to
    // the back depends on how the two run, but not on how many processes there are.
    let each = many.saturating_sub(few) / 4000;
    assert!(each < 256, "{each} bytes a process: {few}, then {many}");

    let (kept, _) = run(50, Told::NobodyOfOne);
    let (ended, few) = run(50, Told::Threads);
    // What a thread flushed, the next writes again: known only when the first has ended.
    let flushes = affected(&ended.findings, PitfallKind::FlushOfRewrittenLine);
    assert_eq!(flushes, 49 * 256);
    assert_eq!(kept.findings, ended.findings);
    assert_eq!(kept.counts, ended.counts);
    assert_eq!(kept.threads, ended.threads);
    let (_, many) = run(4050, Told::Threads);
    // Where its writes came from, and how far their fences were (1.5 KB), is kept as long as the
    // process is there.
    let each = many.saturating_sub(few) / 4000;
    assert!(each < 5120, "{each} bytes a thread: {few}, then {many}");
}
