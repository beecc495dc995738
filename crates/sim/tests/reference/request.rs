//! Loads and requests for ownership.

use prestore_sim::{ByteMask, MemoryPort, Served, ServedBy, Time};
use prestore_trace::LineAddr;

use super::cache::Copy;
use super::model::{Operation, Reference};
use super::search::Taken;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    Read,
    Own { whole: bool },
}

/// Who has the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A level of the core's own.
    Private(usize),
    /// Another core that has it exclusive.
    Owner(u32),
    Shared(usize),
    /// Other cores that share it.
    Sharers,
    Memory,
}

/// A request on its way from level to level.
pub(super) struct Way {
    pub start: usize,
    pub want: Want,
    pub is_prefetch: bool,
    /// When it asks: later where it had to wait for a place among the misses.
    pub at: Time,
    /// The places it holds: level and place.
    pub held: Vec<(usize, usize)>,
    /// It used a prefetched line first.
    pub is_first_use: bool,
    /// When its data came.
    came: Time,
}

/// How a request ended.
pub(super) struct Answer {
    pub served: Served,
    pub source: Source,
    pub is_first_use: bool,
}

impl<M: MemoryPort> Reference<M> {
    pub fn request(&mut self, core: u32, at: Time, line: u64, want: Want) -> Served {
        let start = if want == Want::Read {
            0
        } else {
            self.writes_at
        };
        let answer = self.fetch(core, at, line, want, start, false);
        self.prefetch_after(core, at, line, want, start, &answer);
        answer.served
    }

    pub(super) fn fetch(
        &mut self,
        core: u32,
        at: Time,
        line: u64,
        want: Want,
        start: usize,
        is_prefetch: bool,
    ) -> Answer {
        let mut way = Way {
            start,
            want,
            is_prefetch,
            at,
            held: Vec::new(),
            is_first_use: false,
            came: Time::ZERO,
        };
        let (source, found) = self.look(core, line, &mut way);
        let mut op = Operation {
            core,
            began: at,
            now: found,
        };
        let served = match source {
            Source::Private(level) => self.serve_privately(&mut op, line, &way, level),
            _ => self.serve_from_beyond(&mut op, line, &mut way, source),
        };
        for (level, place) in way.held {
            let instance = self.instance(level, core);
            self.levels[level].mshrs.as_mut().unwrap()[instance]
                .hold(place, if is_prefetch { way.came } else { served.done });
        }
        self.end();
        Answer {
            served,
            source,
            is_first_use: way.is_first_use,
        }
    }

    fn serve_privately(
        &mut self,
        op: &mut Operation,
        line: u64,
        way: &Way,
        level: usize,
    ) -> Served {
        let copy = self.copy(level, op.core, line).unwrap();
        let mut exclusive = copy.exclusive;
        let mut come = Taken::default();
        if way.want != Want::Read && !exclusive {
            self.counters.coherence.upgrades += 1;
            let others = self.others(op.core, line);
            if others.is_empty() {
                op.now = op.now.max(way.at + self.directory_latency());
            } else {
                self.counters.coherence.snoops += 1;
                come = self.take_from_others(op, line, way, &others);
            }
            self.ask_device(op, line, way.at + self.far());
            if let Some(filter) = &mut self.filter {
                filter.added(line);
            }
            exclusive = true;
        }
        let mut dirty = come.dirty;
        if level > way.start && self.moves_nearer(level) {
            dirty |= self.cache(level, op.core).remove(line).unwrap().dirty;
        }
        self.bring(op, line, way, level, dirty, exclusive);
        self.up(way.start, level);
        let by = ServedBy::Cache(level as u8);
        Served {
            done: op.now,
            granted: op.now,
            by,
        }
    }

    fn serve_from_beyond(
        &mut self,
        op: &mut Operation,
        line: u64,
        way: &mut Way,
        source: Source,
    ) -> Served {
        let others = self.others(op.core, line);
        let owns = way.want != Want::Read;
        let mut granted = op.now;
        let mut dirty = 0;
        let (by, from) = match source {
            Source::Shared(level) => (ServedBy::Cache(level as u8), level),
            Source::Memory => (self.read(op, line, way), self.levels.len()),
            _ => (ServedBy::Peer, self.privates.max(way.start + 1)),
        };
        if matches!(source, Source::Owner(_) | Source::Sharers) {
            self.counters.coherence.peer_lines += 1;
        }
        if (owns && !others.is_empty()) || by == ServedBy::Peer {
            self.counters.coherence.snoops += 1;
        }
        if owns {
            if !others.is_empty() {
                granted = granted.max(self.last_answer(&others, line, way.at));
                dirty |= self.take_from_others(op, line, way, &others).dirty;
            }
            if self.device.is_some() && source == Source::Memory {
                granted = op.now;
            }
            let at = if source == Source::Memory {
                op.now
            } else {
                way.at + self.far()
            };
            if let Some(answer) = self.ask_device(op, line, at) {
                granted = granted.max(answer);
            }
        } else if let Source::Owner(owner) = source {
            self.share(op, line, owner);
        }
        let exclusive = if owns {
            true
        } else {
            self.load_is_exclusive(op.core, line, &others)
        };
        if let (false, Some(device)) = (owns, &mut self.device) {
            device.read(op.core, line);
        }
        if let Source::Shared(level) = source
            && exclusive
            && level > way.start
            && self.moves_nearer(level)
        {
            dirty |= self.cache(level, op.core).remove(line).unwrap().dirty;
        }
        way.came = op.now;
        self.enter(op, line, way);
        self.bring(op, line, way, from, dirty, exclusive);
        if !(source == Source::Memory && way.want == (Want::Own { whole: true })) {
            self.up(way.start, from);
        }
        let granted = if owns { granted } else { op.now };
        Served {
            done: op.now,
            granted,
            by,
        }
    }

    /// Asks memory, unless the line is overwritten.
    fn read(&mut self, op: &mut Operation, line: u64, way: &Way) -> ServedBy {
        if way.want == (Want::Own { whole: true }) {
            return ServedBy::Cache(self.levels.len() as u8 - 1);
        }
        if way.want != Want::Read {
            self.counters.coherence.ownership_reads += 1;
        }
        let (done, memory) = self.memory.read(op.core, op.now, LineAddr(line));
        op.now = done;
        ServedBy::Memory(memory)
    }

    fn load_is_exclusive(&self, core: u32, line: u64, others: &[u32]) -> bool {
        let device_agrees = self
            .device
            .as_ref()
            .is_none_or(|device| device.is(core, line));
        others.is_empty() && device_agrees && self.writes_at < self.privates
    }

    /// Other cores' copies go.
    fn take_from_others(
        &mut self,
        op: &mut Operation,
        line: u64,
        way: &Way,
        others: &[u32],
    ) -> Taken {
        op.now = op.now.max(self.last_answer(others, line, way.at));
        let mut all = Taken::default();
        for &other in others {
            let taken = self.take_private(other, line);
            all.dirty |= taken.dirty;
        }
        all
    }

    /// The device has to know who may write.
    fn ask_device(&mut self, op: &mut Operation, line: u64, at: Time) -> Option<Time> {
        let device = self.device.as_mut()?;
        if device.is(op.core, line) {
            return None;
        }
        device.becomes(op.core, line);
        self.counters.coherence.device_upgrades += 1;
        let answer = self.memory.upgrade(op.core, at, LineAddr(line));
        op.now = op.now.max(answer);
        Some(answer)
    }

    /// Another core's copies become shared, their dirty bytes go to the nearest shared level.
    fn share(&mut self, op: &mut Operation, line: u64, owner: u32) {
        let mut dirty: ByteMask = 0;
        for level in 0..self.privates {
            if let Some(copy) = self.cache(level, owner).get_mut(line) {
                copy.exclusive = false;
                dirty |= copy.dirty;
                copy.dirty = 0;
            }
        }
        if dirty != 0 {
            let victim = Copy {
                dirty,
                arrives: op.now,
                ..Copy::default()
            };
            self.arrive(op, self.privates, line, victim, false);
        }
    }
}
