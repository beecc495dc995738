//! What the benchmark of OptaneStudy (LATTester) executes, as operations for simulated cores.
//!
//! Its kernels, as published: an inner loop over the 64 B lines of an access, an outer loop over
//! accesses, no fence between them. Instructions are counted as its assembly has them, because they
//! decide how many loads fit into the reorder buffer.

use std::convert::Infallible;

use prestore_sim::{Next, Op, OpKind, Random, Source};
use prestore_trace::{FlushKind, SiteId};

use super::point::{Operation, Task, Work};

/// Bytes of each thread's own region; strided walks start over at its end.
pub const REGION: u64 = 1 << 31;

const LINE: u64 = 64;
/// The DIMM's unit.
const UNIT: u64 = 256;

/// Lines handed out at once.
const BATCH: u64 = 64;

/// Instructions of the strided kernel around an access: addresses, the (empty) delay loop, the
/// count.
const STRIDE_ACCESS: u64 = 10;
/// Of the random kernel: its shift register.
const RANDOM_ACCESS: u64 = 13;
/// Of a loop around lines: the next address, the comparison, the jump.
const LOOP: u64 = 3;
/// The random kernel's loop is unrolled up to this many lines.
const UNROLLED: u64 = 8;
/// Iterations from which the end of the inner loop is mispredicted (predictors remember about as
/// many branches), and what that costs, in instructions that could have been executed meanwhile:
/// OptaneStudy's loads to the same place take 8 ns more an access from 32 lines on.
const LONG_LOOP: u64 = 32;
const MISPREDICTED: u64 = 100;

/// The threads of a benchmark run; they stop when they have executed `lines` together.
#[derive(Debug)]
pub struct Stimulus {
    work: Work,
    threads: Vec<Walk>,
    left: u64,
    /// While more lines than that are left, each is touched once.
    rewriting: u64,
}

/// Where a thread is.
#[derive(Debug)]
struct Walk {
    base: u64,
    /// Start of the access under way, from `base`.
    offset: u64,
    /// Line of the access that is next.
    line: u64,
    /// Lines of the access.
    lines: u64,
    instr: u64,
    random: Random,
}

impl Stimulus {
    /// A run of `work` over `lines` lines.
    pub fn new(work: Work, lines: u64, seed: u64) -> Self {
        let thread = |number: u32| {
            let mut walk = Walk {
                base: u64::from(number) * REGION,
                offset: 0,
                line: 0,
                lines: work.access_size / LINE,
                instr: 0,
                random: Random::new(seed ^ (u64::from(number) << 32)),
            };
            walk.offset = walk.first(&work);
            walk
        };
        Self {
            work,
            threads: (0..work.threads).map(thread).collect(),
            left: lines,
            rewriting: lines,
        }
    }

    /// In the first `lines` each line is touched once, also where accesses are longer than their stride and touch
    /// most lines many times: what fills the caches is how far the threads have come, not how often they went there.
    #[must_use]
    pub fn touch_once(mut self, lines: u64) -> Self {
        self.rewriting = self.left.saturating_sub(lines);
        let once = self.once();
        for walk in &mut self.threads {
            walk.lines = walk.lines.min(once);
        }
        self
    }

    /// Lines of an access that the next one does not touch again.
    fn once(&self) -> u64 {
        match self.work.task_type {
            Task::Stride if self.work.stride_size > 0 => (self.work.stride_size / LINE).max(1),
            _ => u64::MAX,
        }
    }

    /// The first access of so many threads is over the whole unit at their place, so that it is whole
    /// in the DIMM's buffer.
    #[must_use]
    pub fn whole_units(mut self, threads: u32) -> Self {
        for walk in self.threads.iter_mut().take(threads as usize) {
            walk.lines = UNIT / LINE;
        }
        self
    }
}

impl Walk {
    fn first(&mut self, work: &Work) -> u64 {
        match work.task_type {
            // They do not start at the same time.
            Task::Stride if work.stride_size > 0 => {
                let steps = (REGION - work.access_size) / work.stride_size;
                self.random.below(steps + 1) * work.stride_size
            }
            Task::Stride => 0,
            Task::Random => self.anywhere(work),
        }
    }

    fn anywhere(&mut self, work: &Work) -> u64 {
        self.random.below(REGION / work.access_size) * work.access_size
    }

    /// Goes on to the next access.
    fn next_access(&mut self, work: &Work, longest: u64) {
        self.line = 0;
        self.lines = (work.access_size / LINE).min(longest);
        if self.lines >= LONG_LOOP {
            self.instr += MISPREDICTED;
        }
        match work.task_type {
            Task::Random => {
                self.offset = self.anywhere(work);
                self.instr += RANDOM_ACCESS;
            }
            Task::Stride => {
                self.offset += work.stride_size;
                if self.offset + work.access_size > REGION {
                    self.offset = 0;
                }
                self.instr += STRIDE_ACCESS;
            }
        }
    }

    /// Executes the next line.
    fn line(&mut self, work: &Work, longest: u64, ops: &mut Vec<Op>) {
        let addr = self.base + self.offset + self.line * LINE;
        let mut push = |kind, size| {
            ops.push(Op {
                instr: self.instr,
                addr,
                size,
                site: SiteId(0),
                kind,
                after: 0,
            });
            self.instr += 1;
        };
        match work.operation {
            Operation::Load => push(OpKind::Load, LINE as u32),
            Operation::Store => push(OpKind::Store, LINE as u32),
            Operation::NtStore => push(OpKind::NtStore, LINE as u32),
            Operation::StoreFlush => {
                push(OpKind::Store, LINE as u32);
                push(OpKind::Flush(FlushKind::Clwb), 0);
            }
        }
        self.line += 1;
        let unrolled = match work.task_type {
            Task::Stride => 1,
            Task::Random => UNROLLED,
        };
        let last = self.line == self.lines;
        if self.line.is_multiple_of(unrolled) || last {
            self.instr += LOOP;
        }
        if last {
            self.next_access(work, longest);
        }
    }
}

impl Source for Stimulus {
    type Error = Infallible;

    fn threads(&self) -> u32 {
        self.work.threads
    }

    fn fill(&mut self, thread: u32, ops: &mut Vec<Op>) -> Result<Next, Infallible> {
        let longest = if self.left > self.rewriting {
            self.once()
        } else {
            u64::MAX
        };
        let walk = &mut self.threads[thread as usize];
        if self.left == 0 {
            return Ok(Next::End { instrs: walk.instr });
        }
        let count = BATCH.min(self.left);
        self.left -= count;
        for _ in 0..count {
            walk.line(&self.work, longest, ops);
        }
        Ok(Next::More)
    }
}

/// Operations that one line takes.
pub fn ops_per_line(operation: Operation) -> u64 {
    match operation {
        Operation::StoreFlush => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use prestore_sim::{Next, Op, OpKind, Source};

    use super::{REGION, Stimulus};
    use crate::optane::point::{Operation, Task, Work};

    fn work(operation: Operation, task_type: Task, access_size: u64, stride_size: u64) -> Work {
        Work {
            operation,
            task_type,
            access_size,
            stride_size,
            threads: 2,
        }
    }

    fn all(work: Work, lines: u64, thread: u32) -> Vec<Op> {
        let mut stimulus = Stimulus::new(work, lines, 1);
        let mut ops = Vec::new();
        while let Ok(Next::More) = stimulus.fill(thread, &mut ops) {}
        ops
    }

    #[test]
    fn a_stride_leaves_gaps_and_stays_in_the_threads_region() {
        let ops = all(work(Operation::Load, Task::Stride, 128, 4096), 6, 1);
        let start = ops[0].addr;
        assert!(start.is_multiple_of(4096) && start >= REGION, "{start:#x}");
        let offsets: Vec<u64> = ops.iter().map(|op| op.addr - start).collect();
        assert_eq!(offsets, [0, 64, 4096, 4160, 8192, 8256]);
        assert!(ops.iter().all(|op| op.addr < 2 * REGION));
    }

    #[test]
    fn a_walk_starts_over_at_the_end_of_its_region() {
        let ops = all(work(Operation::Load, Task::Stride, 64, REGION / 2), 4, 0);
        let [first, second] = [ops[0].addr, ops[1].addr];
        assert_eq!(first + second, REGION / 2, "{first:#x} {second:#x}");
        assert_eq!([ops[2].addr, ops[3].addr], [first, second]);
    }

    #[test]
    fn random_accesses_are_aligned_to_their_size_and_whole() {
        let ops = all(work(Operation::NtStore, Task::Random, 256, 0), 4000, 0);
        for access in ops.chunks(4) {
            assert_eq!(access[0].addr % 256, 0);
            assert!(access.windows(2).all(|w| w[1].addr == w[0].addr + 64));
        }
        let low = ops.iter().filter(|op| op.addr < REGION / 2).count();
        assert!((1600..2400).contains(&low), "{low}");
    }

    #[test]
    fn a_store_is_flushed_right_after() {
        let ops = all(work(Operation::StoreFlush, Task::Stride, 64, 64), 3, 0);
        assert_eq!(ops.len(), 6);
        for pair in ops.chunks(2) {
            assert_eq!(pair[0].kind, OpKind::Store);
            assert!(matches!(pair[1].kind, OpKind::Flush(_)));
            assert_eq!(pair[0].addr, pair[1].addr);
        }
    }

    #[test]
    fn units_are_made_whole_by_the_first_access() {
        let mut stimulus =
            Stimulus::new(work(Operation::NtStore, Task::Stride, 64, 0), 20, 1).whole_units(1);
        for (thread, whole) in [(0, true), (1, false)] {
            let mut ops = Vec::new();
            // Both get lines of the first batch, however many are left.
            stimulus.left = 10;
            assert!(matches!(stimulus.fill(thread, &mut ops), Ok(Next::More)));
            let place = u64::from(thread) * REGION;
            let offsets: Vec<u64> = ops.iter().map(|op| op.addr - place).collect();
            let first = if whole { [0, 64, 128, 192] } else { [0; 4] };
            assert_eq!(offsets[..4], first);
            assert_eq!(offsets[4..], [0; 6]);
        }
    }

    #[test]
    fn a_line_is_touched_once_until_the_caches_are_full() {
        let work = work(Operation::Store, Task::Stride, 512, 128);
        let mut stimulus = Stimulus::new(work, 512, 1).touch_once(256);
        let mut ops = Vec::new();
        while let Ok(Next::More) = stimulus.fill(0, &mut ops) {}
        let from_first: Vec<u64> = ops.iter().map(|op| op.addr - ops[0].addr).collect();
        let once: Vec<u64> = (0..256).map(|line| line * 64).collect();
        assert_eq!(from_first[..256], once);
        // The access under way when the change comes has two lines still.
        let later = &from_first[258..];
        for access in later.chunks_exact(8) {
            assert!(access.windows(2).all(|w| w[1] == w[0] + 64));
        }
        let starts: Vec<u64> = later.iter().copied().step_by(8).collect();
        assert!(starts.windows(2).all(|w| w[1] == w[0] + 128), "{starts:?}");
    }

    #[test]
    fn instructions_count_up() {
        let ops = all(work(Operation::StoreFlush, Task::Random, 4096, 0), 300, 0);
        assert!(ops.windows(2).all(|w| w[1].instr > w[0].instr));
    }
}
