//! On random programs the analysis agrees with the plain one in every figure.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests may panic as the tests do"
)]

mod plain;
mod synthetic;

use plain::Plain;
use prestore_dirtbuster::{Analyzer, ContextClass, Distance, Findings, Thresholds};
use prestore_trace::block::{Block, BlockTable, Ref};
use prestore_trace::record::Special;
use prestore_trace::replay::{ExecSink, Replayer, each_touch};
use prestore_trace::{Event, EventKind, FenceKind, SiteId, ThreadId};
use proptest::prelude::*;
use synthetic::{Numbers, Program, SITES, everything};

/// Near the end of a page and of a 2 MB region, so that streams cross both.
const BASE: u64 = 0x7f00_0020_0000 - 20 * 64;

#[derive(Clone, Debug)]
enum Step {
    /// Runs the block at `line`, byte `offset`, then on by `stride`.
    Stream {
        block: usize,
        line: u64,
        offset: u64,
        stride: i64,
        times: u64,
    },
    Pause(u64),
    Flush,
}

fn step() -> impl Strategy<Value = Step> {
    let line = prop_oneof![0..6u64, 0..40u64];
    let stride = prop_oneof![
        Just(0i64),
        Just(4),
        Just(8),
        Just(16),
        Just(32),
        Just(64),
        Just(-8),
        Just(-32),
        Just(-64),
        Just(96),
        Just(128),
        Just(-128),
        -70..70i64
    ];
    let stream = (0..BLOCKS, line, 0..64u64, any::<bool>(), stride, 1..24u64);
    prop_oneof![
        20 => stream.prop_map(|(block, line, offset, aligned, stride, times)| Step::Stream {
            block,
            line,
            offset: if aligned { offset & !31 } else { offset },
            stride,
            times,
        }),
        2 => prop_oneof![0..300u64, 50_000..90_000u64].prop_map(Step::Pause),
        1 => Just(Step::Flush),
    ]
}

const BLOCKS: usize = 19;

fn blocks(p: &mut Program) -> [u32; BLOCKS] {
    [
        p.block(1, 0).store(0, 0, 8).done(),
        p.block(1, 10).load(0, 0, 8).store(0, 0, 8).done(),
        p.block(1, 20).store(0, 0, 32).store(0, 32, 32).done(),
        p.block(1, 30)
            .store(0, 96, 32)
            .store(0, 64, 32)
            .store(0, 0, 32)
            .store(0, 32, 32)
            .done(),
        p.block(2, 0).load(0, 0, 32).done(),
        p.block(2, 10).increment(0, 0, 4).done(),
        p.block(2, 20).atomic(0, 0, 8).done(),
        p.block(2, 30)
            .load(0, 0, 64)
            .compute(2)
            .fence(FenceKind::Store)
            .done(),
        p.block(3, 0).store(0, 0, 64).done(),
        p.block(3, 10)
            .rep_store(0, 1, 8)
            .fence(FenceKind::Load)
            .done(),
        p.block(3, 20)
            .store(0, 24, 8)
            .store(0, 0, 16)
            .load(0, 8, 8)
            .store(0, 16, 8)
            .done(),
        p.block(4, 0).store(0, 0, 16).done(),
        p.block(4, 10).nt_store(0, 0, 16).load(0, 128, 8).done(),
        p.block(4, 20).fence(FenceKind::Full).done(),
        p.block(5, 0)
            .load(1, 0, 8)
            .store(0, 0, 8)
            .load(0, 64, 8)
            .store(0, 8, 8)
            .load(1, 48, 16)
            .store(0, -8, 8)
            .load(0, 8, 4)
            .store(0, 16, 8)
            .store(0, 12, 24)
            .done(),
        p.block(5, 20)
            .load(0, 0, 8)
            .load(0, -64, 8)
            .load(1, 2048, 8)
            .load(0, 700, 8)
            .load(1, 0, 8)
            .store(1, 64, 8)
            .increment(1, 72, 8)
            .increment(0, 80, 8)
            .done(),
        // Scalar loops over two arrays, which may overlap.
        p.block(6, 0)
            .load(0, 0, 8)
            .load(1, 0, 8)
            .store(0, 0, 8)
            .compute(3)
            .store(1, 0, 8)
            .done(),
        p.block(6, 10)
            .load(0, -8, 4)
            .load(1, 4, 4)
            .store(0, 0, 4)
            .load(0, 4, 4)
            .done(),
        // More loads than a word has bits, of which only those that lie highest read what was written.
        (0..66)
            .fold(p.block(7, 0), |block, n| {
                block.load(0, n * 4096 - 65 * 4096, 8)
            })
            .done(),
    ]
}

fn program(steps: &[(u32, Step, bool)]) -> Program {
    let mut p = Program::default();
    let blocks = blocks(&mut p);
    for (thread, step, cut) in steps {
        match *step {
            Step::Pause(instrs) => p.special(*thread, Special::Skip { instrs }),
            Step::Flush => p.flush(),
            Step::Stream {
                block,
                line,
                offset,
                stride,
                times,
            } => {
                let id = blocks[block];
                let words = p.table.get(id).map_or(0, |b| b.words);
                for i in 0..times {
                    let at = (BASE + line * 64 + offset).wrapping_add_signed(stride * i as i64);
                    // A count in the blocks that repeat, an address in those of functions 5 and 6: at first one without a stride.
                    let other = match block {
                        0..14 => i % 30,
                        14 => BASE + offset * 8 + i * i % 11 * 24,
                        15 | 18 => BASE + offset * 8 + i * 24,
                        _ => BASE + offset * 16 + i * 8,
                    };
                    let values = [at, other];
                    let values = &values[..words as usize];
                    if *cut && i + 1 == times {
                        p.run_cut(*thread, id, values, 1);
                    } else {
                        p.run(*thread, id, values);
                    }
                }
            }
        }
    }
    p
}

struct Feed<'a> {
    plain: &'a mut Plain,
    table: &'a BlockTable,
    thread: u32,
}

/// Stores that are one write, made with the last of them.
struct Write<'a> {
    first: &'a Ref,
    with: Vec<SiteId>,
    instr: u16,
    lo: i64,
    hi: i64,
}

impl Write<'_> {
    /// Does `r` go on with it? Then it is part of it.
    fn take(&mut self, r: &Ref) -> bool {
        let (lo, hi) = (r.disp as i64, r.disp as i64 + i64::from(r.size));
        let goes_on = r.is_plain()
            && (r.kind, r.slot) == (self.first.kind, self.first.slot)
            && r.site.0 / SITES == self.first.site.0 / SITES
            && lo <= self.hi
            && hi >= self.lo;
        if goes_on {
            self.with.push(r.site);
            (self.instr, self.lo, self.hi) = (r.instr, self.lo.min(lo), self.hi.max(hi));
        }
        goes_on
    }

    /// Is `r` a load that reads nothing of it?
    fn lets_pass(&self, r: &Ref) -> bool {
        let (lo, hi) = (r.disp as i64, r.disp as i64 + i64::from(r.size));
        let apart = r.slot != self.first.slot || lo >= self.hi || hi <= self.lo;
        r.is_plain() && r.kind == EventKind::Load && apart
    }
}

impl Feed<'_> {
    fn write(&mut self, w: &Write<'_>, before: u64, values: &[u64]) {
        for site in &w.with {
            self.plain.together(self.thread, w.first.site, *site);
        }
        self.plain.event(&Event {
            thread: ThreadId(self.thread),
            instr: before + u64::from(w.instr),
            site: w.first.site,
            kind: w.first.kind,
            addr: values[usize::from(w.first.slot)].wrapping_add_signed(w.lo),
            size: (w.hi - w.lo) as u64,
            value: None,
        });
    }
}

impl ExecSink for Feed<'_> {
    fn exec(&mut self, before: u64, block: &Block, values: &[u64], executed: u32) {
        for r in block.refs.iter().filter(|r| u32::from(r.instr) < executed) {
            self.plain.count(self.thread, r.site, r.kind);
        }
        let mut write: Option<Write<'_>> = None;
        for r in block.refs.iter().filter(|r| u32::from(r.instr) < executed) {
            if let Some(w) = &mut write
                && w.take(r)
            {
                continue;
            }
            if !write.as_ref().is_some_and(|w| w.lets_pass(r))
                && let Some(w) = write.take()
            {
                self.write(&w, before, values);
            }
            if r.is_plain() && matches!(r.kind, EventKind::Store | EventKind::NtStore) {
                write = Some(Write {
                    first: r,
                    with: Vec::new(),
                    instr: r.instr,
                    lo: r.disp as i64,
                    hi: r.disp as i64 + i64::from(r.size),
                });
                continue;
            }
            each_touch(self.table.xsave(), r, values, |addr, size| {
                self.plain.event(&Event {
                    thread: ThreadId(self.thread),
                    instr: before + u64::from(r.instr),
                    site: r.site,
                    kind: r.kind,
                    addr,
                    size,
                    value: None,
                });
            });
        }
        if let Some(w) = write {
            self.write(&w, before, values);
        }
    }

    fn special(&mut self, _: u64, _: Special) {}
}

fn analyze_plainly(p: &Program, t: Thresholds, scope: Option<Vec<u32>>) -> Plain {
    let mut plain = Plain::new(t, scope);
    let mut replayers = std::collections::BTreeMap::<u32, Replayer>::new();
    for (thread, words) in p.buffers.iter().filter(|b| b.0 != u32::MAX) {
        plain.buffer_begins(*thread);
        let replayer = replayers.entry(*thread).or_default();
        let mut feed = Feed {
            plain: &mut plain,
            table: &p.table,
            thread: *thread,
        };
        replayer
            .replay(words, &p.table, &mut feed)
            .expect("known blocks");
        plain.buffer_ended(*thread, replayer.instrs());
    }
    plain
}

fn by_size(classes: &[ContextClass]) -> Vec<ContextClass> {
    // What is near is the business of other tests.
    let far = |c: &ContextClass| ContextClass {
        reread_near: Distance::default(),
        rewrite_near: Distance::default(),
        ..c.clone()
    };
    let mut classes: Vec<ContextClass> = classes.iter().map(far).collect();
    classes.sort_by_key(|c| c.bytes);
    classes
}

fn compare(found: &Findings, plain: Plain, t: &Thresholds) -> Result<(), TestCaseError> {
    // Of what was read by its writer first not all is looked at once more.
    let (first, later) = plain.taken;
    let taken = found.time.lines_taken;
    prop_assert!(
        (first..=first + later).contains(&taken),
        "{taken}, {first} and {later}"
    );
    let parts = plain.finish();
    let stores: u64 = parts.values().map(|p| p.stores).sum();
    let listed: u64 = found.findings.iter().map(|f| f.stores).sum();
    prop_assert_eq!(stores, listed);
    for f in &found.findings {
        let part = parts.iter().find(|p| p.0.contains(&f.sites[0].site));
        let (set, part) = part.expect("written by someone");
        prop_assert!(
            f.sites.iter().all(|s| set.contains(&s.site)),
            "{:?} {:?}",
            set,
            f
        );
        prop_assert_eq!(f.stores, part.stores, "{:?}", set);
        let (classes, whole, share) = part.report(t);
        prop_assert_eq!(by_size(&f.contexts), by_size(&classes), "{:?}", set);
        prop_assert_eq!(f.sequential_share, share);
        prop_assert_eq!(f.reread, whole.reread());
        prop_assert_eq!(f.rewrite, whole.rewrite());
        let fence = part.fence();
        prop_assert_eq!(f.fence_distance.min, fence.min);
        let (ours, exact) = (f.fence_distance.median, fence.median);
        prop_assert_eq!(ours.is_some(), exact.is_some());
        let (ours, exact) = (ours.unwrap_or(0), exact.unwrap_or(0));
        prop_assert!(ours.abs_diff(exact) * 32 <= exact, "{} {}", ours, exact);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn fast_and_plain_agree(
        steps in prop::collection::vec((0..3u32, step(), prop::bool::weighted(0.1)), 1..60),
        threads in 1..=3u32,
        scoped in any::<bool>(),
        min_density in prop_oneof![Just(0.75), Just(0.25), Just(0.0)],
        max_pause in prop_oneof![Just(60u64), Just(100_000)],
        object_bytes in prop_oneof![Just(256u64), Just(8192)],
    ) {
        let steps: Vec<_> = steps.into_iter().map(|(t, s, c)| (t % threads, s, c)).collect();
        let p = program(&steps);
        let t = Thresholds { min_density, max_pause, object_bytes, ..everything() };
        let mut analyzer = Analyzer::new(t, Numbers);
        let scope = scoped.then(|| vec![1, 2]);
        if scoped {
            analyzer = analyzer.with_scope(|f| f == 1 || f == 2);
        }
        let found = p.analyze_with(analyzer).findings;
        compare(&found, analyze_plainly(&p, t, scope), &t)?;
    }
}
