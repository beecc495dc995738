//! Events of a row's loads.

use super::super::execution::Execution;
use super::super::quiet::{times, values};
use super::{FAR, NEVER, Stream, Sweep};
use crate::batch::Batch;
use crate::lines::{LINE_SHIFT, RegionHint};
use crate::memory::Memory;

impl Stream {
    /// In how many executions behind that one the load finds nothing; `None`: it does in that one already, or may.
    #[inline(always)]
    fn without_event(
        &self,
        memory: &mut Memory,
        hint: &mut RegionHint,
        execution: usize,
    ) -> Option<usize> {
        let (down, up) = memory.nothing_around(hint, self.at(execution), self.size as u32)?;
        Some(times(self.stride, down, up).min(FAR) as usize)
    }
}

impl Execution<'_> {
    /// Does anything happen in that execution, in which no store comes to another line? If nothing does, loads that might have come to
    /// something are told when else.
    #[inline(always)]
    pub(super) fn happens(&mut self, execution: usize) -> bool {
        let sweep = &mut self.looked.sweep;
        let (mut ahead, mut found) = (false, false);
        for load in sweep.loads_mut() {
            if load.next != execution {
                continue;
            }
            if load.ahead_of != 0 {
                ahead = true;
                continue;
            }
            if !load.meets {
                found = true;
                continue;
            }
            let hint = &mut self.thread.steps[load.step].hint;
            match load.without_event(self.memory, hint, execution) {
                None => found = true,
                Some(more) => load.next = execution + 1 + more,
            }
        }
        found || ahead && !self.read_ahead(execution)
    }

    /// No other loads have an event in that execution than such as read what a store is about to write: they make their reads. False: they
    /// are to be made one by one.
    #[inline(always)]
    pub(super) fn read_ahead(&mut self, execution: usize) -> bool {
        let Sweep {
            loads,
            load_count,
            stores,
            ..
        } = &mut self.looked.sweep;
        let loads = &mut loads[..*load_count];
        let (thread, memory) = (&*self.thread, &mut *self.memory);
        let streak_of = |load: &Stream| {
            let step = &thread.steps[stores[load.ahead_of - 1].step];
            &thread.streaks[step.streak as usize]
        };
        let now = |load: &&mut Stream| load.next == execution;
        if !loads.iter_mut().filter(now).all(|load| {
            let what = (load.at(execution), load.size);
            memory.is_ahead(streak_of(load), what, self.index)
        }) {
            return false;
        }
        for load in loads.iter_mut().filter(now) {
            memory.read_ahead(streak_of(load));
            load.next = NEVER;
        }
        true
    }

    /// Makes the loads that have an event in that execution, in which stores come to other lines or not. False: they may read what
    /// stores have just written, which is to be written down first.
    pub(super) fn look(&mut self, batch: &Batch, i: usize, execution: usize, enters: bool) -> bool {
        let sweep = &self.looked.sweep;
        for load in sweep.loads().iter() {
            if load.next != execution || load.ahead_of != 0 || !load.meets {
                continue;
            }
            let (addr, end) = (load.at(execution), load.at(execution) + load.size - 1);
            let lines = addr >> LINE_SHIFT..=end >> LINE_SHIFT;
            if (0..sweep.store_count).any(|number| lines.contains(&self.line_of(number))) {
                return false;
            }
        }
        let mut group = 0;
        while group < self.looked.sweep.load_count {
            group = self.look_at(batch, i, (group, execution), enters);
        }
        self.looked(execution);
        self.looked.sweep.looked_at = execution;
        true
    }

    /// Makes those loads of a group, which begins with number `from`, that may have an event in that execution: also those ahead of
    /// stores, if these come to other lines. Says where the next group begins.
    #[inline(always)]
    pub(super) fn look_at(
        &mut self,
        batch: &Batch,
        i: usize,
        (from, execution): (usize, usize),
        enters: bool,
    ) -> usize {
        let item = &batch.items[i + execution];
        let values = values(&batch.words, item);
        let sweep = &self.looked.sweep;
        let Stream {
            first,
            end,
            is_lone,
            step,
            ..
        } = sweep.loads[from];
        let anew = self.memory.epochs != sweep.epochs;
        let (mut at, mut found) = (from, 0);
        while at < sweep.load_count && sweep.loads[at].first == first {
            let load = &sweep.loads[at];
            // Where an epoch has begun, lines of the sample are to be looked at that were not.
            if load.next <= execution || enters && load.ahead_of != 0 || anew {
                let step = &mut self.thread.steps[load.step];
                let addr = load.at(execution);
                if is_lone {
                    found = 1;
                } else if self.memory.unread(&mut step.hint, addr, load.size) != 0 {
                    found |= step.own;
                }
            }
            at += 1;
        }
        if found != 0 && is_lone {
            self.step(step, item.before, values);
        } else if found != 0 {
            self.found_loads((first as usize, end as usize), found, item.before, values);
        }
        at
    }

    /// The loads up to that execution are made: when are their next events?
    #[inline(always)]
    pub(super) fn looked(&mut self, execution: usize) {
        let sweep = &mut self.looked.sweep;
        for load in sweep.loads_mut() {
            if load.next > execution {
                continue;
            }
            if load.ahead_of != 0 {
                load.next = NEVER;
                continue;
            }
            let hint = &mut self.thread.steps[load.step].hint;
            let more = load.without_event(self.memory, hint, execution);
            load.next = execution + 1 + more.unwrap_or(0);
        }
    }

    /// If an epoch has begun, lines of the sample are to be looked at again: `made` is made.
    #[inline(always)]
    pub(super) fn look_again(&mut self, made: usize) {
        let sweep = &mut self.looked.sweep;
        if self.memory.epochs != sweep.epochs {
            sweep.epochs = self.memory.epochs;
            let next = made.max(sweep.looked_at) + 1;
            let loads = sweep.loads_mut();
            loads.iter_mut().for_each(|l| l.next = next);
        }
    }
}
