//! Written lines on their way into the combining buffer.

use std::collections::VecDeque;

use super::lines::Lines;
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
    capacity: usize,
}

impl LineQueue {
    pub(super) fn new(capacity: u32) -> Self {
        Self {
            groups: VecDeque::new(),
            capacity: capacity.max(1) as usize,
        }
    }

    /// The lines of `unit` that wait here.
    pub(super) fn of(&self, unit: u64) -> Option<Lines> {
        self.groups.iter().find(|g| g.unit == unit).map(|g| g.lines)
    }

    /// The group whose turn it is.
    pub(super) fn head(&self) -> Option<Group> {
        self.groups.front().copied()
    }

    /// Takes the head out.
    pub(super) fn pop(&mut self) {
        self.groups.pop_front();
    }

    /// Would a line of `unit` need room that is not there?
    pub(super) fn lacks_room(&self, unit: u64) -> bool {
        self.groups.len() >= self.capacity && self.of(unit).is_none()
    }

    /// Puts `lines` of `unit` to those that wait here, or at the end.
    pub(super) fn push(&mut self, at: Time, unit: u64, lines: Lines) {
        match self.groups.iter_mut().find(|g| g.unit == unit) {
            Some(group) => group.lines.merge(lines),
            None => {
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
