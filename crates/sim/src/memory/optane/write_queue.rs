//! What waits in the controller before an Optane DIMM, which orders writes itself.

use prestore_machine::Controller;
use prestore_machine::device::Optane;

use crate::Time;
use crate::divide::Divisor;
use crate::memory::controller::{Path, Slots, Taken, WriteQueue};
use crate::memory::device::{self, Device};
use crate::random::Random;

/// Lines and blocks remembered: more than cores have on their way at once.
const REMEMBERED: usize = 256;

/// A line that was written.
#[derive(Clone, Copy, Debug)]
struct Line {
    /// Its bytes that were written.
    mask: u128,
    /// When it had its entry: its core knows then that it is taken, and a read of it is ordered behind that.
    taken: Time,
    /// When it had left for the device.
    left: Time,
    /// Which write it was.
    number: u64,
}

/// A write pending queue whose lines wait only for their turn.
///
/// Lines that wait for an entry get it in no particular order: streams of several cores mix at
/// random before they come to the device (OptaneStudy's effective write ratio by threads tells). A line is
/// accepted when it has its entry, and no sooner.
///
/// While nothing else of its block is written, a unit's lines are kept together with the device: a
/// line is sent again only some time after its last write, until the device has acknowledged that,
/// and what is written to it while it waits is added to it. (OptaneStudy: ntstore to the same 64 to
/// 256 B sends each line every 130 ns or later, whatever the threads write; to 512 B it does not.)
#[derive(Debug)]
pub(crate) struct OptaneWrites {
    slots: Slots,
    random: Random,
    gap: Time,
    unit: Divisor,
    block: Divisor,
    lines: Box<[Line; REMEMBERED]>,
    /// Their addresses, which is all that most reads look at.
    addrs: Box<[u64; REMEMBERED]>,
    /// Writes so far.
    writes: u64,
    /// The unit of each block that was written last, and since which write.
    open: Box<[(u64, u64); REMEMBERED]>,
}

impl OptaneWrites {
    pub(crate) fn new(c: &Controller, device: &Optane, seed: u64) -> Self {
        let none = Line {
            mask: 0,
            taken: Time::ZERO,
            left: Time::ZERO,
            number: 0,
        };
        Self {
            slots: Slots::new(c.write_queue),
            random: Random::new(seed),
            gap: Time::nanos(c.line_gap),
            unit: Divisor::new(device.unit.0),
            block: Divisor::new(device.block.0),
            lines: Box::new([none; REMEMBERED]),
            addrs: Box::new([u64::MAX; REMEMBERED]),
            writes: 0,
            open: Box::new([(u64::MAX, 0); REMEMBERED]),
        }
    }

    /// Since which write nothing of `addr`'s block was written but its unit.
    #[inline]
    fn open_since(&mut self, addr: u64) -> u64 {
        let unit = self.unit.quotient(addr);
        let open = &mut self.open[entry(self.block.quotient(addr))];
        if open.0 != unit {
            *open = (unit, self.writes);
        }
        open.1
    }
}

impl WriteQueue for OptaneWrites {
    /// A read waits until the last write of its line has its entry, where that is known to be on its way.
    #[inline]
    fn turn(&mut self, came: Time, addr: u64, _whole: u128, _to: &mut Path) -> Option<Time> {
        let at = entry(addr);
        Some(if self.addrs[at] == addr {
            came.max(self.lines[at].taken)
        } else {
            came
        })
    }

    fn write(&mut self, came: Time, addr: u64, mask: u128, to: &mut Path) -> Taken {
        let mut turn = came;
        self.writes += 1;
        let since = self.open_since(addr);
        // A line that shares its place is forgotten.
        let at = entry(addr);
        let line = &mut self.lines[at];
        if self.gap > Time::ZERO && self.addrs[at] == addr && line.number >= since {
            if came < line.left && mask & !line.mask == 0 {
                line.taken = came.max(line.taken);
                return Taken {
                    at: line.taken,
                    left: line.taken,
                    merged: true,
                };
            }
            turn = line.left + self.gap;
        }
        let taken = self.slots.wait_unordered(came, &mut self.random);
        let turn = turn.max(taken);
        let sent = match &mut to.bus {
            Some(bus) => bus.send(turn, device::burst(mask)),
            None => turn,
        };
        let left = to.device.write(sent, addr, mask);
        self.slots.take(left);
        self.addrs[at] = addr;
        *line = Line {
            mask,
            taken,
            left,
            number: self.writes,
        };
        Taken {
            at: taken,
            left,
            merged: false,
        }
    }
}

#[inline]
fn entry(number: u64) -> usize {
    (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize
}
