//! The way of written lines: line queue, combining buffer, media.

use std::collections::VecDeque;

use prestore_machine::device::Optane;

use super::buffer::CombiningBuffer;
use super::lines::{LINE, Lines};
use super::media::Media;
use super::queue::LineQueue;
use super::wear::spread;
use super::writing::Writing;
use crate::Time;
use crate::divide::Divisor;
use crate::memory::pipe::Pipe;

/// Blocks whose open units are known: more than streams can be told apart.
const OPEN_BLOCKS: usize = 256;

/// The turn of the queue's head.
#[derive(Clone, Copy, Debug)]
struct Turn {
    /// When it leaves.
    at: Time,
    /// It waits for the media.
    pressed: bool,
}

/// What was written and is not on the media yet.
#[derive(Debug)]
pub(super) struct Store {
    unit_lines: u32,
    settle: Time,
    accept: Pipe,
    queue: LineQueue,
    buffer: CombiningBuffer,
    /// Whole units, by when they have settled if nothing accesses them; closed ones first.
    settling: VecDeque<(Time, u64)>,
    block: Divisor,
    /// The unit of each block that was written last, by the block's number.
    open: Box<[Option<u64>; OPEN_BLOCKS]>,
    writing: Writing,
}

impl Store {
    pub(super) fn new(config: &Optane, unit: u64, seed: u64) -> Self {
        Self {
            unit_lines: (unit / LINE) as u32,
            settle: Time::nanos(config.settle),
            accept: Pipe::new(config.accept),
            queue: LineQueue::new(config.line_queue),
            buffer: CombiningBuffer::new(
                config.buffer.0 / unit,
                (unit / LINE) as u32,
                config.random_eviction.0,
                seed,
            ),
            settling: VecDeque::new(),
            block: Divisor::new(config.block.0 / unit),
            open: Box::new([None; OPEN_BLOCKS]),
            writing: Writing::new(),
        }
    }

    /// Takes lines of a unit; answers when they are taken.
    pub(super) fn write(&mut self, at: Time, unit: u64, lines: Lines, media: &mut Media) -> Time {
        media.soon(unit);
        let mut taken = self.accept.send(at, LINE) + self.accept.time(LINE);
        while self.queue.lacks_room(unit) {
            let Some(turn) = self.turn(media) else {
                break;
            };
            self.pass_head(turn, media);
            taken = taken.max(turn.at);
        }
        self.queue.push(taken, unit, lines);
        taken
    }

    /// Is line `line` of `unit` here to be read?
    pub(super) fn read(&mut self, at: Time, unit: u64, line: u32) -> bool {
        if self.queue.of(unit).is_some_and(|lines| lines.has(line)) {
            return true;
        }
        if let Some(entry) = self.buffer.get(unit)
            && entry.lines.has(line)
        {
            entry.touched = at;
            return true;
        }
        false
    }

    /// When the media can be read for `unit`: not while it is being written.
    pub(super) fn readable(&self, at: Time, unit: u64) -> Time {
        at.max(self.writing.readable(unit))
    }

    /// Does what is due by `now`.
    pub(super) fn advance(&mut self, now: Time, media: &mut Media) {
        loop {
            // Nothing goes before it has come or settled.
            let came = self.queue.head().filter(|head| head.came <= now);
            let head = came.and_then(|_| self.turn(media));
            let settled = self.settled().filter(|due| *due <= now);
            let settled = settled.map(|due| media.room(due));
            match (head, settled) {
                // The host's lines go first: it waits.
                (Some(turn), due) if turn.at <= now && due.is_none_or(|due| turn.at <= due) => {
                    self.pass_head(turn, media);
                }
                (_, Some(due)) if due <= now => self.write_settled(due, media),
                _ => break,
            }
        }
        self.writing.forget(now);
    }

    /// Sends all to the media; answers when it is there.
    pub(super) fn drain(&mut self, at: Time, media: &mut Media) -> Time {
        let mut at = at;
        while let Some(turn) = self.turn(media) {
            self.pass_head(turn, media);
            at = at.max(turn.at);
        }
        while let Some((unit, entry)) = self.buffer.evict() {
            self.write_unit(at, unit, entry.lines.complete(self.unit_lines), media);
        }
        self.settling.clear();
        at.max(self.writing.all_done())
    }

    /// When the head of the queue can leave it.
    fn turn(&mut self, media: &Media) -> Option<Turn> {
        let head = self.queue.head()?;
        let joins = match self.buffer.get(head.unit) {
            Some(entry) => !entry.closed || self.writing.done(head.unit) > head.came,
            None => !self.buffer.full() || self.writing.waits(head.unit, head.came),
        };
        let at = if joins {
            head.came
        } else {
            media.room(head.came)
        };
        Some(Turn {
            at,
            pressed: at > head.came,
        })
    }

    /// Passes the head of the queue on, whose turn it is.
    fn pass_head(&mut self, turn: Turn, media: &mut Media) {
        if let Some(head) = self.queue.pop() {
            self.combine(turn.at, head.unit, head.lines, turn.pressed, media);
        }
    }

    /// Lines of a unit reach the combining buffer.
    fn combine(&mut self, at: Time, unit: u64, lines: Lines, pressed: bool, media: &mut Media) {
        self.open(at, unit);
        if self.writing.waits(unit, at) {
            return;
        }
        let whole = lines.complete(self.unit_lines);
        if self.buffer.get(unit).is_some_and(|entry| entry.closed) && self.writing.done(unit) <= at
        {
            self.buffer.remove(unit);
            self.write_unit(at, unit, true, media);
        }
        if let Some(entry) = self.buffer.get(unit) {
            let was_whole = entry.lines.complete(self.unit_lines);
            entry.lines.merge(lines);
            entry.touched = at;
            let whole = entry.lines.complete(self.unit_lines);
            if whole && !was_whole {
                entry.ahead_since = at;
            }
            let long = was_whole && at >= entry.ahead_since + self.settle;
            if long && media.room(at) == at {
                entry.ahead_since = at;
                media.write(at, unit, true, Time::ZERO);
            }
            if whole && !was_whole {
                self.settling.push_back((at + self.settle, unit));
            }
            return;
        }
        if pressed {
            self.write_unit(at, unit, whole, media);
            return;
        }
        if self.buffer.full()
            && let Some((victim, entry)) = self.buffer.evict()
        {
            self.write_unit(at, victim, entry.lines.complete(self.unit_lines), media);
        }
        self.buffer.insert(unit, lines, at);
        if whole {
            self.settling.push_back((at + self.settle, unit));
        }
    }

    /// `unit` is written: another one of its block, if it is whole, will not be written again soon.
    fn open(&mut self, at: Time, unit: u64) {
        let block = self.block.quotient(unit);
        let open = &mut self.open[spread(block) as usize % OPEN_BLOCKS];
        let Some(other) = open.replace(unit).filter(|other| *other != unit) else {
            return;
        };
        if self.block.quotient(other) == block
            && let Some(entry) = self.buffer.get(other)
            && entry.lines.complete(self.unit_lines)
            && !entry.closed
        {
            entry.closed = true;
            let done = self.writing.done(other);
            if done > at {
                self.settling.push_back((done, other));
            } else {
                self.settling.push_front((at, other));
            }
        }
    }

    /// When the next settled unit can go, if the media have time.
    fn settled(&mut self) -> Option<Time> {
        while let Some(&(due, unit)) = self.settling.front() {
            if let Some(entry) = self.buffer.get(unit) {
                let again = entry.touched + self.settle;
                if entry.closed || again <= due {
                    return Some(due);
                }
                self.settling.push_back((again, unit));
            }
            self.settling.pop_front();
        }
        None
    }

    fn write_settled(&mut self, at: Time, media: &mut Media) {
        if let Some((_, unit)) = self.settling.pop_front()
            && self.buffer.remove(unit).is_some()
        {
            self.write_unit(at, unit, true, media);
        }
    }

    /// Hands a unit to the media.
    fn write_unit(&mut self, at: Time, unit: u64, whole: bool, media: &mut Media) {
        let slot = media.write(at, unit, whole, self.writing.done(unit));
        self.writing.push(unit, slot);
    }
}
