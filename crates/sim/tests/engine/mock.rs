//! Neighbours of the engine whose times are plain to see.

use prestore_sim::{
    Below, ByteMask, Cause, Distributions, Flushed, Latencies, LineState, Next, Op, OpCounts,
    OpKind, Pipeline, Served, ServedBy, Source, Stored, SystemCounts, ThreadCounts, Time, Uncore,
};
use prestore_trace::{FlushKind, LineAddr, SiteId};

/// Every operation takes so many nanoseconds as its `size` says.
#[derive(Debug, Default)]
pub struct SlowCore {
    pub counts: ThreadCounts,
    /// Stores become visible so much later.
    pub visible_after: Time,
}

pub fn ns(n: u64) -> Time {
    Time(n * 1000)
}

impl Pipeline for SlowCore {
    fn now(&self) -> Time {
        self.counts.clock
    }

    fn step<B: Below>(&mut self, op: &Op, below: &mut B) {
        match op.kind {
            OpKind::Load => {
                self.counts.ops.loads += 1;
                below.load(op.site.0, self.counts.clock, LineAddr(op.addr));
            }
            OpKind::Store => self.counts.ops.stores += 1,
            _ => {}
        }
        self.counts.clock += ns(u64::from(op.size));
    }

    fn load_done(&self) -> Time {
        self.counts.clock
    }

    fn visible_at<B: Below>(&mut self, _below: &mut B) -> Time {
        self.counts.clock + self.visible_after
    }

    fn wait_until(&mut self, at: Time) {
        let waited = at.since(self.counts.clock);
        self.counts.clock += waited;
        *self.counts.stalls.entry(Cause::Await).or_default() += waited;
    }

    fn wait_for_lock(&mut self, at: Time) {
        let waited = at.since(self.counts.clock);
        self.counts.clock += waited;
        *self.counts.stalls.entry(Cause::Lock).or_default() += waited;
    }

    fn finish<B: Below>(&mut self, instrs: u64, _below: &mut B) -> Time {
        self.counts.instructions = instrs;
        self.counts.clock
    }

    fn counts(&self) -> ThreadCounts {
        self.counts.clone()
    }

    fn add_latencies(&self, _sum: &mut Distributions) {}
}

/// Notes who loads when.
#[derive(Debug, Default)]
pub struct Notes<'a> {
    pub loads: Option<&'a mut Vec<(u32, Time)>>,
}

impl Below for Notes<'_> {
    fn load(&mut self, core: u32, at: Time, _line: LineAddr) -> Served {
        if let Some(loads) = &mut self.loads {
            loads.push((core, at));
        }
        Served {
            done: at,
            granted: at,
            by: ServedBy::Cache(0),
        }
    }

    fn owned(&self, _core: u32, _line: LineAddr) -> bool {
        true
    }

    fn own(&mut self, _core: u32, at: Time, _line: LineAddr, _whole: bool) -> Served {
        Served {
            done: at,
            granted: at,
            by: ServedBy::Cache(0),
        }
    }

    fn write(
        &mut self,
        _core: u32,
        at: Time,
        _line: LineAddr,
        _bytes: ByteMask,
        _: &[Stored],
    ) -> Time {
        at
    }

    fn write_around(
        &mut self,
        _core: u32,
        at: Time,
        _line: LineAddr,
        _bytes: ByteMask,
        _: &[Stored],
    ) -> Time {
        at
    }

    fn flush(
        &mut self,
        _core: u32,
        at: Time,
        _line: LineAddr,
        _kind: FlushKind,
        _retain: bool,
    ) -> Flushed {
        Flushed {
            done: at,
            state: LineState::Absent,
        }
    }

    fn demote(&mut self, _core: u32, at: Time, _line: LineAddr) -> Time {
        at
    }
}

impl Uncore for Notes<'_> {
    fn allocated(&mut self, _core: u32, _at: Time, _op: &Op) {}

    fn freed(&mut self, _core: u32, _at: Time, _addr: u64) {}

    fn drain(&mut self, _at: Time) {}

    fn counts(&self) -> SystemCounts {
        SystemCounts::default()
    }

    fn read_latencies(&self) -> Vec<Latencies> {
        Vec::new()
    }
}

/// Operations written down; each fill gives a few.
#[derive(Debug, Clone)]
pub struct Script {
    threads: Vec<Vec<Op>>,
    given: Vec<usize>,
    pub fill: usize,
}

impl Script {
    pub fn new(threads: Vec<Vec<Op>>) -> Self {
        Self {
            given: vec![0; threads.len()],
            threads,
            fill: 3,
        }
    }
}

impl Source for Script {
    type Error = std::convert::Infallible;

    fn threads(&self) -> u32 {
        self.threads.len() as u32
    }

    fn fill(&mut self, thread: u32, ops: &mut Vec<Op>) -> Result<Next, Self::Error> {
        let t = thread as usize;
        let all = &self.threads[t];
        let from = self.given[t];
        let to = all.len().min(from + self.fill);
        ops.extend(all[from..to].iter().map(|op| Op {
            site: SiteId(thread),
            ..*op
        }));
        self.given[t] = to;
        Ok(if to == all.len() {
            Next::End {
                instrs: all.len() as u64,
            }
        } else {
            Next::More
        })
    }
}

pub fn op(kind: OpKind, addr: u64, size: u32) -> Op {
    Op {
        instr: 0,
        addr,
        size,
        site: SiteId::NONE,
        kind,
        after: 0,
    }
}

/// A load that takes `n` nanoseconds.
pub fn load(n: u32) -> Op {
    op(OpKind::Load, 0, n)
}

/// A store that takes `n` nanoseconds.
pub fn store(n: u32) -> Op {
    op(OpKind::Store, 0, n)
}

pub fn hand_off(number: u64) -> Op {
    op(OpKind::HandOff, number, 0)
}

pub fn wait_for(number: u64) -> Op {
    op(OpKind::Await, number, 0)
}

pub fn acquire(lock: u64) -> Op {
    op(OpKind::Acquire, lock, 0)
}

pub fn release(lock: u64) -> Op {
    op(OpKind::Release, lock, 0)
}

pub fn begin(id: u64) -> Op {
    op(OpKind::RegionBegin, id, 0)
}

pub fn end(id: u64) -> Op {
    op(OpKind::RegionEnd, id, 0)
}

/// Sums over threads.
pub fn ops(counts: &prestore_sim::Counts) -> OpCounts {
    let mut sum = OpCounts::default();
    for thread in &counts.threads {
        prestore_sim::Sum::add(&mut sum, &thread.ops);
    }
    sum
}
