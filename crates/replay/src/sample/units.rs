//! A recording's units as the simulator's source.

mod planning;

use std::sync::mpsc::Sender;

use prestore_sim::{Next, Op, OpKind, Source, TICK_OPS};

use self::planning::Warms;
use super::filling::Filling;
use super::index::Index;
use super::pieces::Held;
use super::places::{Before, Units};
use super::ticks::{retain_from, spread};
use crate::source::ENOUGH;
use crate::{SourceError, TraceSource};

/// Much more than one reading brings.
const FAR: u64 = 4 * ENOUGH as u64;

/// What a core has read and not given.
#[derive(Debug, Default)]
struct Reading {
    held: Held,
    /// Lines of long accesses that its thread has read since it began, or since a stored block was gone to, beyond one for
    /// each.
    further_lines: u64,
    thread: usize,
}

/// Gives units of a recording.
pub(crate) struct UnitsOf<'t> {
    source: TraceSource<'t>,
    index: &'t Index,
    units: Units,
    /// Of each core.
    reading: Vec<Reading>,
    next: usize,
    before: Before,
    /// Operations that warmed so far.
    warmed: u64,
    filling: Filling,
    /// Where what is simulated in detail begins, and what warms for it now.
    begin: u64,
    warms: Warms,
    /// Nothing has warmed yet since it was gone to a unit.
    goes: bool,
    /// Units before which the largest cache was not turned over, though it was not said how much is to warm.
    pub stale: u64,
    /// Operations of each core where warming began, and where the unit does.
    from: Vec<u64>,
    to: Vec<u64>,
    /// Where each core was when the unit began: thread and events of it. `None`: only warming so far.
    begun: Option<Vec<(usize, u64)>>,
    /// Threads that have nothing more.
    ended: Vec<bool>,
    /// Who is told of each unit that is over.
    pub told: Option<Sender<()>>,
}

impl<'t> UnitsOf<'t> {
    /// The `units` of `source`, with what comes `before` each.
    pub fn new(source: TraceSource<'t>, index: &'t Index, units: Units, before: Before) -> Self {
        let count = source.threads() as usize;
        Self {
            source,
            index,
            units,
            reading: (0..count).map(|_| Reading::default()).collect(),
            next: 0,
            before,
            warmed: 0,
            filling: Filling::default(),
            begin: 0,
            warms: Warms::Last,
            goes: false,
            stale: 0,
            from: vec![0; count],
            to: vec![0; count],
            begun: None,
            ended: vec![false; count],
            told: None,
        }
    }

    /// What was read.
    pub fn inner(&self) -> &TraceSource<'t> {
        &self.source
    }

    /// Operations that `core` has given so far, or passed over.
    fn ops(&self, core: usize) -> u64 {
        let (thread, ops) = self.source.ops_of_thread(core);
        let reading = &self.reading[core];
        let read = self.index.before(core, thread) + ops + reading.further_lines;
        read.saturating_sub(reading.held.weight())
    }

    /// Some more operations of `core`, about `enough` at most.
    fn more(&mut self, core: usize, ops: &mut Vec<Op>, enough: u64) -> Result<Next, SourceError> {
        if self.reading[core].held.is_empty() {
            let from = ops.len();
            if let Next::End { instrs } = self.source.fill(core as u32, ops)? {
                return Ok(Next::End { instrs });
            }
            let (thread, given) = self.source.ops_of_thread(core);
            let reading = &mut self.reading[core];
            let further = reading.held.take(ops, from, enough);
            // What an ended thread had counts before its successor.
            if thread != reading.thread || given == 0 {
                (reading.thread, reading.further_lines) = (thread, 0);
            }
            if given > 0 {
                reading.further_lines += further;
            }
        }
        self.reading[core].held.give(ops, enough);
        Ok(Next::More)
    }

    /// Goes to where `ops` operations of all threads are done. One thread alone stays where that was passed; of several, those
    /// that are farther than they were at that time go back.
    fn go(&mut self, ops: u64) -> Result<(), SourceError> {
        let targets = self.index.at(ops);
        self.go_to(&targets)
    }

    /// Goes on where cores are, but for those that read, in the last unit, what they did not come to as they waited.
    fn stay(&mut self) -> Result<(), SourceError> {
        let mut targets = self.places();
        self.index.take_back(&mut targets);
        self.go_to(&targets)
    }

    fn go_to(&mut self, targets: &[u64]) -> Result<(), SourceError> {
        for (core, &target) in targets.iter().enumerate() {
            let at = self.ops(core);
            if let Some(entry) = self.index.block(core, target)
                && (entry.ops > at || (at > target && self.reading.len() > 1))
            {
                self.ended[core] = false;
                let base = self.index.before(core, entry.thread);
                self.source.seek(core, &entry, entry.ops - base)?;
                self.reading[core] = Reading {
                    thread: entry.thread,
                    ..Reading::default()
                };
            }
            self.pass(core, target)?;
            self.from[core] = self.ops(core);
        }
        Ok(())
    }

    /// Reads `core`'s operations up to about `target`, for nothing.
    fn pass(&mut self, core: usize, target: u64) -> Result<(), SourceError> {
        let mut ops = Vec::new();
        while self.ops(core) + ENOUGH as u64 <= target {
            ops.clear();
            if let Next::End { .. } = self.more(core, &mut ops, ENOUGH as u64)? {
                break;
            }
        }
        Ok(())
    }

    /// Operations of each core that were given so far, or passed over.
    fn places(&self) -> Vec<u64> {
        (0..self.reading.len()).map(|core| self.ops(core)).collect()
    }

    /// The same of all cores together.
    fn all_ops(&self) -> u64 {
        self.places().iter().sum()
    }

    /// Who has come least far on its way; `None`: all have come to its end.
    fn behind(&self) -> Option<usize> {
        let left = (0..self.to.len()).filter_map(|core| {
            let (at, to) = (self.ops(core), self.to[core]);
            let way = (to - self.from[core].min(to)).max(1);
            (at < to && !self.ended[core]).then(|| (((to - at) << 20) / way, core))
        });
        let least = left.max_by_key(|&(left, core)| (left, usize::MAX - core));
        least.map(|(_, core)| core)
    }

    /// Is hand-off `number` published by what came before the unit?
    fn is_past(&self, number: u64, begun: &[(usize, u64)]) -> bool {
        let number = u32::try_from(number).ok();
        let Some(published) = number.and_then(|n| self.index.published(n)) else {
            return true;
        };
        let (at, done) = begun[published.core];
        published.thread < at || (published.thread == at && published.events <= done)
    }
}

impl Source for UnitsOf<'_> {
    type Error = SourceError;

    fn threads(&self) -> u32 {
        self.source.threads()
    }

    fn fill(&mut self, thread: u32, ops: &mut Vec<Op>) -> Result<Next, SourceError> {
        let core = thread as usize;
        if self.begun.is_none() {
            let before = self.ops(core);
            let left = self.to[core].saturating_sub(before);
            // Far from there all that was read is given at once, a little more than it would be: nothing has to be held.
            let enough = match left > FAR {
                true => left,
                false => left.clamp(1, ENOUGH as u64),
            };
            let next = self.more(core, ops, enough)?;
            self.warmed += self.ops(core).saturating_sub(before);
            self.ended[core] |= matches!(next, Next::End { .. });
            return Ok(next);
        }
        let before = self.ops(core);
        let known = ops.len();
        let next = self.more(core, ops, ENOUGH as u64)?;
        self.ended[core] |= matches!(next, Next::End { .. });
        let after = self.ops(core);
        if let Some(begun) = &self.begun {
            retain_from(ops, known, |op| {
                op.kind != OpKind::Await || !self.is_past(op.addr, begun)
            });
        }
        let ticks = (after / TICK_OPS).saturating_sub(before / TICK_OPS);
        spread(ops, known, ticks);
        Ok(next)
    }
}
