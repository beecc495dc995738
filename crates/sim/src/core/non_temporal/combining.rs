//! Write-combining buffers of non-temporal stores.

use prestore_machine::Machine;
use prestore_trace::LineAddr;

use crate::core::env::Env;
use crate::core::fills::{FillBuffers, free_at_last};
use crate::{Below, ByteMask, Time};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Gathers bytes; the number says which is the oldest.
    Open(u64),
    /// Sent; free from this time on.
    Sent(Time),
}

#[derive(Clone, Copy, Debug)]
struct Buffer {
    line: LineAddr,
    bytes: ByteMask,
    state: State,
    /// When it was sent last, and when the controller took that.
    sent: Time,
    taken: Time,
    /// Which fill buffer it is.
    fill: Option<usize>,
}

/// Buffers that gather the bytes of lines: whole ones go at once, partial ones when their buffer
/// or the order of things asks for it. Where the machine says so, each takes a fill buffer while it lasts.
#[derive(Clone, Debug)]
pub(in crate::core) struct Combining {
    buffers: Box<[Buffer]>,
    /// Is there a fill buffer to spare?
    shares_fills: bool,
    /// Does a buffer need a free one?
    needs_fill: bool,
    /// From a sent buffer until it is on its way.
    delay: Time,
    /// From a line sent until a line that is still on its way can be opened again.
    rewrite: Time,
    /// When a line was sent last.
    sent: Time,
    /// How long a line takes that waits nowhere: the least that was seen.
    fastest: Time,
    /// How long a sent buffer is taken at most.
    hold: Option<Time>,
    opened: u64,
    open: usize,
    /// When the memory controller has taken all that was sent: fences wait for this.
    pub done: Time,
}

/// What must happen before a line can be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::core) enum Room {
    /// Nothing before this time.
    At(Time),
    /// The oldest must be sent.
    SendOldest,
}

impl Combining {
    /// `None` where non-temporal stores are plain stores.
    pub fn new(machine: &Machine) -> Option<Self> {
        let core = &machine.core;
        let combining = core.write_combining?;
        let wanted = combining.buffers;
        // A miss must always find a buffer in the end.
        let spare = match combining.shares_fill_buffers {
            true => core.fill_buffers.saturating_sub(1),
            false => 0,
        };
        let count = match spare {
            0 => wanted,
            spare => wanted.min(spare),
        };
        let free = Buffer {
            line: LineAddr(0),
            bytes: 0,
            state: State::Sent(Time::ZERO),
            sent: Time::ZERO,
            taken: Time::ZERO,
            fill: None,
        };
        Some(Self {
            buffers: vec![free; count.max(1) as usize].into(),
            shares_fills: spare > 0,
            needs_fill: combining.shares_fill_buffers,
            delay: Time::nanos(combining.delay),
            rewrite: Time::nanos(combining.rewrite),
            sent: Time::ZERO,
            fastest: Time(u64::MAX),
            hold: combining.hold.map(Time::nanos),
            opened: 0,
            open: 0,
            done: Time::ZERO,
        })
    }

    /// Is any line being gathered?
    #[inline]
    pub fn any_open(&self) -> bool {
        self.open > 0
    }

    /// The buffer that gathers `line`.
    #[inline]
    pub fn find(&self, line: LineAddr) -> Option<usize> {
        if self.open == 0 {
            return None;
        }
        let gathers = |b: &Buffer| b.line == line && matches!(b.state, State::Open(_));
        self.buffers.iter().position(gathers)
    }

    /// When there is room for one more line.
    pub fn room(&self, at: Time) -> Room {
        let free = self.buffers.iter().filter_map(|b| match b.state {
            State::Sent(taken) => Some(taken),
            State::Open(_) => None,
        });
        free.min().map_or(Room::SendOldest, |t| Room::At(t.max(at)))
    }

    /// When a buffer could be opened for want of a fill buffer: at once where they are apart.
    pub fn fill_free_at(&self, fills: &FillBuffers, at: Time) -> Time {
        match self.needs_fill {
            true => fills.free_at(at),
            false => at,
        }
    }

    /// When `line` can be opened: at once, but if the controller has not taken its last write yet, one
    /// such line after the other, and later if that write waits for an entry there.
    pub fn turn(&self, line: LineAddr, at: Time) -> Time {
        if self.rewrite == Time::ZERO {
            return at;
        }
        let on_its_way = self.buffers.iter().filter_map(|b| match b.state {
            State::Sent(_) if b.line == line && b.taken > at => {
                let wait = b.taken.since(b.sent + self.fastest);
                let turn = self.sent.max(b.sent + wait) + self.rewrite;
                Some(turn.min(b.taken))
            }
            _ => None,
        });
        on_its_way.max().unwrap_or(at).max(at)
    }

    /// Opens `line`: there is room at `at`, and a fill buffer.
    pub fn open<B: Below>(&mut self, line: LineAddr, at: Time, env: &mut Env<'_, B>) -> usize {
        let free = |b: &Buffer| matches!(b.state, State::Sent(taken) if taken <= at);
        let found = self.buffers.iter().position(free);
        debug_assert!(
            found.is_some(),
            "room is waited for before a buffer is opened"
        );
        let i = found.unwrap_or(0);
        self.buffers[i] = Buffer {
            line,
            bytes: 0,
            state: State::Open(self.opened),
            sent: Time::ZERO,
            taken: Time::ZERO,
            fill: self.shares_fills.then(|| env.fills.open(line, at)),
        };
        self.opened += 1;
        self.open += 1;
        i
    }

    /// Adds bytes to an open line. Answers whether that made it whole.
    pub fn add(&mut self, which: usize, bytes: ByteMask, whole: ByteMask) -> bool {
        let buffer = &mut self.buffers[which];
        buffer.bytes |= bytes;
        buffer.bytes == whole
    }

    /// The open line that was opened first.
    pub fn oldest(&self) -> Option<usize> {
        let age = |b: &Buffer| match b.state {
            State::Open(number) => Some(number),
            State::Sent(_) => None,
        };
        let open = self.buffers.iter().enumerate();
        open.filter_map(|(i, b)| age(b).map(|number| (number, i)))
            .min()
            .map(|(_, i)| i)
    }

    /// Sends an open line. Answers when the memory controller has taken it.
    pub fn send<B: Below>(&mut self, which: usize, at: Time, env: &mut Env<'_, B>) -> Time {
        let buffer = &mut self.buffers[which];
        if buffer.bytes == env.params.whole {
            env.results.combined_whole += 1;
        } else {
            env.results.combined_partial += 1;
        }
        let (line, bytes) = (buffer.line, buffer.bytes);
        let by = if B::NAMES {
            env.names.combined(line)
        } else {
            Vec::new()
        };
        let taken = env
            .below
            .write_around(env.params.id, at + self.delay, line, bytes, &by)
            .max(at);
        buffer.sent = at;
        buffer.taken = taken;
        self.sent = self.sent.max(at);
        self.fastest = self.fastest.min(taken - at);
        let free = match buffer.fill.take() {
            Some(fill) => env.fills.close(fill, at, taken, self.hold),
            None => free_at_last(at, taken, self.hold),
        };
        buffer.state = State::Sent(free);
        self.open -= 1;
        self.done = self.done.max(taken);
        taken
    }

    /// Sends all open lines, the oldest first.
    pub fn send_all<B: Below>(&mut self, at: Time, env: &mut Env<'_, B>) {
        while let Some(oldest) = self.oldest() {
            self.send(oldest, at, env);
        }
    }
}
