//! Writes to a device that orders them itself (CXL, FPGA): they wait only for their turn.

use super::queue::{Path, Taken, WriteQueue};
use super::slots::Slots;
use crate::Time;
use crate::memory::device::{self, Device};

/// A write pending queue whose lines go to the device as they come.
#[derive(Clone, Debug)]
pub(crate) struct InOrderWrites(Slots);

impl InOrderWrites {
    /// Of so many entries.
    pub(crate) fn new(entries: u32) -> Self {
        Self(Slots::new(entries))
    }
}

impl WriteQueue for InOrderWrites {
    #[inline]
    fn write(&mut self, came: Time, addr: u64, mask: u128, to: &mut Path) -> Taken {
        let at = self.0.wait(came);
        let sent = match &mut to.bus {
            Some(bus) => bus.send(at, device::burst(mask)),
            None => at,
        };
        let left = to.device.write(sent, addr, mask);
        self.0.take(left);
        Taken {
            at,
            left,
            merged: false,
        }
    }

    #[inline]
    fn turn(&mut self, came: Time, _addr: u64, _whole: u128, _to: &mut Path) -> Option<Time> {
        Some(came)
    }
}
