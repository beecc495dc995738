//! Memory that several processes have in common (`MAP_SHARED`, `shmat`): what one of them writes another one gets, as between threads.
//!
//! Each process's memory is looked at by itself, by the process's own addresses. Of the lines that processes share it is known who wrote
//! them last. What another process does to such a line is done once more, to the memory of the one that wrote it, by a thread there that
//! stands for all other processes: the *others*. Nobody pays for that before a second process has memory that may be shared.

use std::collections::VecDeque;
use std::ops::Range;

use prestore_trace::ProcessId;
use prestore_trace::block::SharedMemory;
use rustc_hash::FxHashMap;

use super::BackProcess;
use super::touches::{Touched, each_touch_of};
use crate::batch::Batch;
use crate::clock::{ProcessClock, ThreadClock};
use crate::lines::{LINE, LINE_SHIFT, RegionHint};
use crate::memory::{Moment, Others};

/// Processes that have ended and whose lines others may yet read, at most: sums of older ones are made without.
const ENDED: usize = 64;

/// Lines whose last writers are remembered, at most. Memory that processes share comes and goes, each time as another one: when so many
/// are known all are forgotten, and each is known again once it is written again.
const LINES: usize = 1 << 21;

/// What a process has in common with others.
#[derive(Debug)]
pub(crate) struct Common {
    memory: SharedMemory,
    /// From its first byte to its last.
    within: Range<u64>,
    /// It has been a line's last writer.
    wrote: bool,
}

/// A line in the memory of a process.
#[derive(Clone, Copy, Debug)]
struct Line {
    process: ProcessId,
    number: u64,
}

/// Who wrote a line last, and which other process has read that last.
#[derive(Clone, Copy, Debug)]
struct Last {
    writer: Line,
    reader: Option<Line>,
}

/// Lines that a batch has touched lately: until it ends nobody else does, so that nothing comes of doing it once more.
#[derive(Debug)]
struct Done([(u64, bool); DONE]);

const DONE: usize = 64;

impl Default for Done {
    fn default() -> Self {
        Self([(u64::MAX, false); DONE])
    }
}

impl Done {
    /// Has the line been touched so before, or written?
    #[inline]
    fn is_again(&mut self, number: u64, writes: bool) -> bool {
        let known = &mut self.0[number as usize % DONE];
        let is_again = known.0 == number && (known.1 || !writes);
        if !is_again {
            *known = (number, writes);
        }
        is_again
    }
}

/// Where processes meet.
#[derive(Debug, Default)]
pub(super) struct Meeting {
    /// Processes that have had memory which may be shared.
    processes: usize,
    /// By number of the line among all that is shared.
    last: FxHashMap<u64, Last>,
    clock: ProcessClock,
    /// Those that have ended and are kept, the first one first.
    pub(super) ended: VecDeque<ProcessId>,
}

impl Common {
    fn line(&self, addr: u64) -> Option<u64> {
        match self.within.contains(&addr) {
            true => Some(self.memory.place(addr)? >> LINE_SHIFT),
            false => None,
        }
    }
}

impl Last {
    fn of(writer: Line) -> Self {
        Self {
            writer,
            reader: None,
        }
    }
}

impl Meeting {
    /// `process` has this in common with others, from now on; the thread `others` is free to stand for them.
    pub(super) fn joins(&mut self, process: &mut BackProcess, memory: SharedMemory, others: usize) {
        process.begin_threads(others);
        let before = process.common.take();
        self.processes += usize::from(before.is_none());
        process.memory.others.get_or_insert_with(|| Others {
            thread: others as u32,
            clock: ThreadClock::starting(&ProcessClock::default()),
        });
        process.memory.lines.watch(memory.clone());
        process.common = Some(Common {
            within: memory.within(),
            memory,
            wrote: before.is_some_and(|before| before.wrote),
        });
        self.has_come(process);
    }

    /// Are there two processes that may share memory?
    pub(super) fn is_possible(&self) -> bool {
        self.processes > 1
    }

    /// May what `process` has done matter to others, or what others did to it?
    pub(super) fn concerns(&self, process: &BackProcess) -> bool {
        let wrote = !self.last.is_empty() || process.memory.lines.has_written_watched();
        self.is_possible() && process.common.is_some() && wrote
    }

    /// What the process, alone until now, has written of what it shares is known from now on.
    pub(super) fn learn(&mut self, id: ProcessId, process: &mut BackProcess) {
        let Some(common) = &mut process.common else {
            return;
        };
        for number in process.memory.lines.owned_within(&common.within) {
            if let Some(place) = common.line(number << LINE_SHIFT) {
                common.wrote = true;
                let line = Line {
                    process: id,
                    number,
                };
                self.wrote(place, line);
            }
        }
    }

    /// The line at `place` of all that is shared is written, and was not known.
    fn wrote(&mut self, place: u64, line: Line) {
        if self.last.len() == LINES {
            self.last.clear();
        }
        self.last.insert(place, Last::of(line));
    }

    /// `process`, called `id`, has executed the batch: what it did to lines of others is done there.
    pub(super) fn take(
        &mut self,
        (id, process): (ProcessId, &mut BackProcess),
        all: &mut FxHashMap<ProcessId, BackProcess>,
        batch: &Batch,
    ) {
        let Some(mut common) = process.common.take() else {
            return;
        };
        let others = process.memory.others.as_ref();
        let lead = others.map_or(0, |others| others.clock.lead());
        let lead = process.memory.clocks[batch.thread].lead() + lead;
        let mut done = Done::default();
        let (memory, thread) = (&mut process.memory, &mut process.threads[batch.thread]);
        each_touch_of(thread, batch, |touch, received| {
            let end = touch.addr.saturating_add(touch.size);
            let within = &common.within;
            let (first, end) = (touch.addr.max(within.start), end.min(within.end));
            for number in first >> LINE_SHIFT..end.div_ceil(LINE) {
                if done.is_again(number, touch.writes) {
                    continue;
                }
                let Some(place) = common.line(number << LINE_SHIFT) else {
                    continue;
                };
                let own = Line {
                    process: id,
                    number,
                };
                let last = self.last.get_mut(&place);
                let Some(last) = last else {
                    if touch.writes {
                        common.wrote = true;
                        self.wrote(place, own);
                    }
                    continue;
                };
                let mut meets = |other: Line| {
                    let touch = touch.within(number, other.number);
                    let other = all.get_mut(&other.process);
                    other.is_some_and(|other| other.is_met(touch, lead))
                };
                if last.writer.process != id {
                    *received |= meets(last.writer);
                    if touch.writes {
                        memory.takes(number);
                    } else {
                        last.reader = Some(own);
                    }
                }
                if touch.writes {
                    // What it has read is another's now.
                    if let Some(reader) = last.reader.filter(|reader| reader.process != id) {
                        meets(reader);
                    }
                    common.wrote = true;
                    *last = Last::of(own);
                }
            }
        });
        process.common = Some(common);
    }

    /// A buffer of the process ended.
    pub(super) fn buffer_ended(&mut self, process: &mut BackProcess, batch: &Batch) {
        let clock = &mut process.memory.clocks[batch.thread];
        clock.buffer_ended(batch.instrs, &mut process.clock);
        self.has_come(process);
    }

    /// The process has come to its present time.
    fn has_come(&mut self, process: &mut BackProcess) {
        if let Some(others) = &mut process.memory.others {
            let now = process.clock.furthest();
            others.clock.buffer_ended(now, &mut self.clock);
        }
    }

    /// `process` has ended. Is it to be kept, as others may yet read what it wrote? And who is kept no longer?
    pub(super) fn ends(
        &mut self,
        id: ProcessId,
        process: &BackProcess,
    ) -> (bool, Option<ProcessId>) {
        let is_kept = (process.common.as_ref()).is_some_and(|c| c.wrote || !self.is_possible());
        if is_kept {
            self.ended.push_back(id);
        }
        let too_many = self.ended.len() > ENDED;
        (is_kept, too_many.then(|| self.ended.pop_front()).flatten())
    }
}

impl BackProcess {
    /// Another process, whose time is `lead` behind that of all, touches what is in this one's line; true: it reads what this one wrote,
    /// for the first time.
    fn is_met(&mut self, touch: Touched, lead: u64) -> bool {
        let Some(others) = &self.memory.others else {
            return false;
        };
        let at = Moment {
            thread: others.thread,
            now: touch.now + lead,
        };
        let hint = &mut RegionHint::default();
        self.memory.turn_of(at.thread);
        let received = touch.reads && self.memory.read(hint, touch.addr, touch.size, at);
        if touch.writes {
            self.memory.taken_by(touch.addr, at);
        }
        received
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_that_come_and_go_take_no_more_and_more() {
        let mut meeting = Meeting::default();
        let line = |number| Line {
            process: ProcessId(1),
            number,
        };
        for number in 0..=LINES as u64 {
            meeting.wrote(number, line(number));
            assert!(meeting.last.len() <= LINES);
        }
        assert!(meeting.last.contains_key(&(LINES as u64)));
    }
}
