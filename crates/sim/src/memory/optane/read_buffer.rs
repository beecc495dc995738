//! The buffer of units that were read from the media.

use super::presence::Presence;
use crate::Time;

/// Units read lately, the least recently used first to go.
#[derive(Debug)]
pub(super) struct ReadBuffer {
    units: Vec<u64>,
    known: Presence,
    state: Vec<State>,
    /// Where the unit is that was asked for last.
    recent: usize,
    capacity: usize,
    clock: u64,
}

#[derive(Clone, Copy, Debug)]
struct State {
    start: Time,
    ready: Time,
    /// Lines that were written since.
    stale: u64,
    used: u64,
}

impl ReadBuffer {
    pub(super) fn new(capacity: u64) -> Self {
        let capacity = capacity.max(1) as usize;
        Self {
            units: Vec::with_capacity(capacity),
            known: Presence::new(),
            state: Vec::with_capacity(capacity),
            recent: 0,
            capacity,
            clock: 0,
        }
    }

    #[inline]
    fn position(&self, unit: u64) -> Option<usize> {
        if !self.known.may_have(unit) {
            return None;
        }
        self.units.iter().position(|&u| u == unit)
    }

    /// When the media began to read line `line` of `unit`, and when it is (or was) here; `None`: it
    /// has to be read.
    pub(super) fn ready(&mut self, unit: u64, line: u32) -> Option<(Time, Time)> {
        let i = match self.units.get(self.recent) {
            Some(&recent) if recent == unit => self.recent,
            _ => self.position(unit)?,
        };
        self.recent = i;
        if self.state[i].stale >> line & 1 == 1 {
            return None;
        }
        self.clock += 1;
        self.state[i].used = self.clock;
        Some((self.state[i].start, self.state[i].ready))
    }

    /// Line `line` of `unit` is written: what is here is old.
    pub(super) fn written(&mut self, unit: u64, line: u32) {
        if let Some(i) = self.position(unit) {
            self.state[i].stale |= 1 << line;
        }
    }

    /// `unit`'s read begins at `start`; it will be here at `ready`.
    pub(super) fn insert(&mut self, unit: u64, start: Time, ready: Time) {
        self.clock += 1;
        let state = State {
            start,
            ready,
            stale: 0,
            used: self.clock,
        };
        if let Some(i) = self.position(unit) {
            self.state[i] = state;
            return;
        }
        self.known.add(unit);
        if self.units.len() < self.capacity {
            self.units.push(unit);
            self.state.push(state);
            return;
        }
        let oldest = (0..self.state.len()).min_by_key(|&i| self.state[i].used);
        if let Some(i) = oldest {
            self.known.remove(self.units[i]);
            self.units[i] = unit;
            self.state[i] = state;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ReadBuffer;
    use crate::Time;

    #[test]
    fn the_least_recently_used_unit_goes() {
        let mut buffer = ReadBuffer::new(2);
        buffer.insert(1, Time(5), Time(10));
        buffer.insert(2, Time(15), Time(20));
        assert_eq!(buffer.ready(1, 0), Some((Time(5), Time(10))));
        buffer.insert(3, Time(25), Time(30));
        assert_eq!(buffer.ready(2, 0), None);
        assert_eq!(buffer.ready(1, 0), Some((Time(5), Time(10))));
        assert_eq!(buffer.ready(3, 0), Some((Time(25), Time(30))));
    }

    #[test]
    fn a_written_line_is_read_again_and_its_neighbours_are_not() {
        let mut buffer = ReadBuffer::new(2);
        buffer.insert(1, Time(5), Time(10));
        buffer.written(1, 2);
        assert_eq!(buffer.ready(1, 2), None);
        assert_eq!(buffer.ready(1, 3), Some((Time(5), Time(10))));
        buffer.insert(1, Time(25), Time(30));
        assert_eq!(buffer.ready(1, 2), Some((Time(25), Time(30))));
    }
}
