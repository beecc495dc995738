//! How much of each memory is allocated.

use std::ops::RangeInclusive;

use prestore_machine::Machine;
use rustc_hash::FxHashMap;

use super::placer::pieces;
use super::ranges::RangeMap;

/// Smaller allocations lie in larger ones, which the allocator asked the kernel for.
const LEAST: u64 = 64 << 10;

/// How full a memory is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fullness {
    /// Its name.
    pub memory: String,
    /// Bytes that are allocated in it at once.
    pub allocated: u64,
    /// Bytes that it has; `None`: as many as are asked for.
    pub capacity: Option<u64>,
}

impl Fullness {
    /// Is more allocated than there is?
    pub fn is_over(&self) -> bool {
        self.capacity
            .is_some_and(|capacity| self.allocated > capacity)
    }
}

/// Bytes of each memory that are allocated, by those allocations that others lie in.
#[derive(Clone, Debug)]
pub(crate) struct Room {
    memories: Vec<Fullness>,
    /// Memory of each allocated line.
    lines: RangeMap<u8>,
    /// The allocations that were noted, by address.
    live: FxHashMap<u64, RangeInclusive<u64>>,
    line_shift: u32,
}

impl Room {
    /// Nothing is allocated in `machine`.
    pub(crate) fn new(machine: &Machine) -> Self {
        let empty = machine.memories.iter().map(|memory| Fullness {
            memory: memory.name.clone(),
            allocated: 0,
            capacity: memory.capacity.map(|c| c.0),
        });
        Self {
            memories: empty.collect(),
            lines: RangeMap::new(),
            live: FxHashMap::default(),
            line_shift: machine.line.0.max(1).trailing_zeros(),
        }
    }

    /// Can any memory be full?
    fn is_limited(&self) -> bool {
        self.memories.iter().any(|m| m.capacity.is_some())
    }

    /// `bytes` bytes at `addr` were handed out; `memory_of` says where a line lives, and what is around it.
    /// Answers how full all memories are, if they do not fit.
    pub(crate) fn allocated(
        &mut self,
        addr: u64,
        bytes: u64,
        memory_of: impl Fn(u64) -> (u8, RangeInclusive<u64>),
    ) -> Option<&[Fullness]> {
        if bytes < LEAST || !self.is_limited() {
            return None;
        }
        let last = addr.saturating_add(bytes - 1);
        let lines = addr >> self.line_shift..=last >> self.line_shift;
        self.clear(&lines);
        self.live.insert(addr, lines.clone());
        let decided: Vec<_> = pieces(&lines, memory_of).collect();
        for (lines, memory) in decided {
            self.memories[usize::from(memory)].allocated += self.bytes(&lines);
            self.lines.set(lines, memory);
        }
        let is_over = self.memories.iter().any(Fullness::is_over);
        is_over.then_some(&*self.memories)
    }

    /// The allocation at `addr` was returned.
    pub(crate) fn freed(&mut self, addr: u64) {
        if let Some(lines) = self.live.remove(&addr) {
            self.clear(&lines);
        }
    }

    fn clear(&mut self, lines: &RangeInclusive<u64>) {
        let before: Vec<_> = pieces(lines, |line| self.lines.around(line)).collect();
        for (lines, memory) in before {
            if let Some(memory) = memory {
                self.memories[usize::from(memory)].allocated -= self.bytes(&lines);
            }
        }
        self.lines.clear(lines.clone());
    }

    fn bytes(&self, lines: &RangeInclusive<u64>) -> u64 {
        (lines.end() - lines.start() + 1) << self.line_shift
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// Lines from 2 GiB on live in the second of two memories.
    fn of(line: u64) -> (u8, RangeInclusive<u64>) {
        let border = (2 << 30) / 64;
        if line < border {
            (0, 0..=border - 1)
        } else {
            (1, border..=u64::MAX)
        }
    }

    fn room() -> Room {
        let settings = ["memories.dram.capacity=\"2 MiB\""];
        let Ok(mut machine) = Machine::find_with("tiny", &settings) else {
            unreachable!("tiny is shipped");
        };
        machine.memories.push(machine.memories[0].clone());
        machine.memories[1].capacity = None;
        Room::new(&machine)
    }

    #[test]
    fn what_is_returned_is_room_again() {
        let mut room = room();
        assert_eq!(room.allocated(0, 2 * MIB, of), None);
        room.freed(0);
        assert_eq!(room.allocated(64 * MIB, 2 * MIB, of), None);
        let full = room.allocated(0, MIB, of).map(<[_]>::to_vec);
        let full = full.unwrap_or_default();
        assert_eq!((full[0].allocated, full[0].is_over()), (3 * MIB, true));
    }

    #[test]
    fn what_lies_in_another_allocation_counts_once() {
        let mut room = room();
        assert_eq!(room.allocated(0, 2 * MIB, of), None);
        assert_eq!(room.allocated(4096, MIB, of), None);
        assert_eq!(room.allocated(0, 2 * MIB, of), None);
    }

    #[test]
    fn each_memory_has_its_own() {
        let mut room = room();
        // Half of it lives in the other.
        assert_eq!(room.allocated((2 << 30) - MIB, 400 * MIB, of), None);
        assert_eq!(room.allocated(0, MIB, of), None);
        assert!(room.allocated(8 * MIB, MIB, of).is_some());
    }

    #[test]
    fn without_limits_nothing_is_noted() {
        let Ok(machine) = Machine::find_with("tiny", &[]) else {
            unreachable!("tiny is shipped");
        };
        let mut room = Room::new(&machine);
        assert_eq!(room.allocated(0, 1 << 50, of), None);
        assert!(room.live.is_empty());
    }
}
