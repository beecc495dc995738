//! The contract of a controller's write queue.

use crate::Time;
use crate::memory::any::AnyDevice;
use crate::memory::pipe::Pipe;

/// The discipline of a controller: where writes wait before the device, and reads because of them.
pub(crate) trait WriteQueue {
    /// Bytes of the line at `addr`, those of `mask`, come at `came`.
    fn write(&mut self, came: Time, addr: u64, mask: u128, to: &mut Path) -> Taken;

    /// A read of the line at `addr`, whose bytes are `whole`, comes at `came`. Answers when it has its turn;
    /// `None`: all of the line waits here, and it is answered from that.
    fn turn(&mut self, came: Time, addr: u64, whole: u128, to: &mut Path) -> Option<Time>;

    /// All that waits goes to the device. Answers when the last is there.
    fn finish(&mut self, at: Time, to: &mut Path) -> Time {
        let _ = to;
        at
    }
}

/// What is behind a queue.
#[derive(Debug)]
pub(crate) struct Path {
    /// Data bus between controller and device, if it is a limit.
    pub bus: Option<Pipe>,
    /// The device.
    pub device: AnyDevice,
    /// Until when all that was sent to the device keeps it.
    pub idle: Time,
}

/// What became of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    /// When it has its entry in the queue: it is accepted.
    pub at: Time,
    /// When it has left the entry, where the device orders writes by itself; else as `at`.
    pub left: Time,
    /// It was added to a line that waited already.
    pub merged: bool,
}
