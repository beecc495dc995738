//! Written lines on their way into the combining buffer.

use std::collections::VecDeque;

use super::lines::Lines;
use super::presence::Presence;
use crate::Time;

/// Lines of one unit that leave the queue together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    /// The unit.
    pub unit: u64,
    /// Its lines.
    pub lines: Lines,
    /// When the first of them came.
    pub came: Time,
}

/// A queue of units, in the order in which their first lines came (calls do not come in order of
/// time): while they wait, later lines catch up with them.
#[derive(Debug)]
pub(super) struct LineQueue {
    groups: VecDeque<Group>,
    known: Presence,
    capacity: usize,
}

impl LineQueue {
    pub(super) fn new(capacity: u32) -> Self {
        Self {
            groups: VecDeque::new(),
            known: Presence::new(),
            capacity: capacity.max(1) as usize,
        }
    }

    /// The lines of `unit` that wait here.
    pub(super) fn of(&self, unit: u64) -> Option<Lines> {
        self.position(unit).map(|i| self.groups[i].lines)
    }

    #[inline]
    fn position(&self, unit: u64) -> Option<usize> {
        if !self.known.may_have(unit) {
            return None;
        }
        self.groups.iter().position(|g| g.unit == unit)
    }

    /// The group whose turn it is.
    pub(super) fn head(&self) -> Option<Group> {
        self.groups.front().copied()
    }

    /// Takes the head out.
    pub(super) fn pop(&mut self) -> Option<Group> {
        let group = self.groups.pop_front()?;
        self.known.remove(group.unit);
        Some(group)
    }

    /// Would a line of `unit` need room that is not there?
    pub(super) fn lacks_room(&self, unit: u64) -> bool {
        self.groups.len() >= self.capacity && self.of(unit).is_none()
    }

    /// Puts `lines` of `unit` to those that wait here, or at the end.
    pub(super) fn push(&mut self, at: Time, unit: u64, lines: Lines) {
        match self.position(unit) {
            Some(i) => self.groups[i].lines.merge(lines),
            None => {
                self.known.add(unit);
                let after = self.groups.iter().rposition(|g| g.came <= at);
                let group = Group {
                    unit,
                    lines,
                    came: at,
                };
                self.groups.insert(after.map_or(0, |i| i + 1), group);
            }
        }
    }
}
