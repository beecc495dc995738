//! All write queues, told apart by a match instead of a pointer.

use prestore_machine::{Controller, device as described};

use super::queue::{Path, Taken, WriteQueue};
use super::{BatchedWrites, InOrderWrites};
use crate::Time;
use crate::memory::optane::OptaneWrites;

/// How writes wait.
#[derive(Debug)]
pub(crate) enum AnyQueue {
    /// Until there are enough of them (DRAM, PCM).
    Batched(BatchedWrites),
    /// Only for their turn: the device orders them itself (CXL, FPGA).
    InOrder(InOrderWrites),
    /// The same, and the controller merges and mixes them.
    Optane(OptaneWrites),
}

impl AnyQueue {
    /// That of `controller` in front of a device of this kind.
    pub(crate) fn new(controller: &Controller, kind: &described::Device, seed: u64) -> Self {
        match kind {
            described::Device::Dram(_) | described::Device::Pcm(_) => {
                Self::Batched(BatchedWrites::new(controller))
            }
            described::Device::Optane(optane) => {
                Self::Optane(OptaneWrites::new(controller, optane, seed))
            }
            described::Device::Cxl(_) | described::Device::Fpga(_) => {
                Self::InOrder(InOrderWrites::new(controller.write_queue))
            }
        }
    }
}

impl WriteQueue for AnyQueue {
    #[inline]
    fn write(&mut self, came: Time, addr: u64, mask: u128, to: &mut Path) -> Taken {
        match self {
            Self::Batched(queue) => queue.write(came, addr, mask, to),
            Self::InOrder(queue) => queue.write(came, addr, mask, to),
            Self::Optane(queue) => queue.write(came, addr, mask, to),
        }
    }

    #[inline]
    fn turn(&mut self, came: Time, addr: u64, whole: u128, to: &mut Path) -> Option<Time> {
        match self {
            Self::Batched(queue) => queue.turn(came, addr, whole, to),
            Self::InOrder(queue) => queue.turn(came, addr, whole, to),
            Self::Optane(queue) => queue.turn(came, addr, whole, to),
        }
    }

    fn finish(&mut self, at: Time, to: &mut Path) -> Time {
        match self {
            Self::Batched(queue) => queue.finish(at, to),
            Self::InOrder(queue) => queue.finish(at, to),
            Self::Optane(queue) => queue.finish(at, to),
        }
    }
}
