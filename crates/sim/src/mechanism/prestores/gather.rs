//! What is gathered elsewhere before it is written around the caches: by the library's writer, or in a buffer.

use prestore_trace::LineAddr;

use super::held::Held;
use super::rule::{Costs, Way};
use crate::{ByteMask, Op, OpKind};

/// Pieces gathered at once by a thread: more than the arrays that one loop writes side by side.
const PIECES: usize = 16;
/// Lines of a buffer: 4 KiB.
const BUFFER_LINES: usize = 64;
/// Where a thread's buffers lie: above what programs use, below the bits that tell processes apart.
const BUFFERS: u64 = 0x7ff0_0000_0000;
/// Bytes of a thread's buffers, and of one of them with what belongs to it.
const PER_THREAD: u64 = 1 << 20;
const PER_PIECE: u64 = PER_THREAD / PIECES as u64;

/// Neighbouring lines of which bytes are gathered.
#[derive(Clone, Debug)]
struct Piece {
    rule: u16,
    way: Way,
    first: LineAddr,
    /// Bytes of each line.
    lines: Vec<ByteMask>,
    /// When it was stored to last, in operations of the thread.
    last: u64,
    /// Which buffer it is in.
    slot: u64,
    /// The store that began it.
    store: Op,
}

impl Piece {
    /// Which line of its buffer holds `line`: the writer's two take turns.
    fn place(&self, line: LineAddr) -> u64 {
        match self.way {
            Way::Writer => line.0 % 2,
            _ => line.0 - self.first.0,
        }
    }

    /// The writer begins a line when the one before is complete.
    fn may_grow(&self, whole: ByteMask) -> bool {
        match self.way {
            Way::Writer => self.lines.last() == Some(&whole),
            _ => self.lines.len() < BUFFER_LINES,
        }
    }
}

/// What a thread gathers, the piece begun first in front.
#[derive(Clone, Debug, Default)]
pub(super) struct Gather {
    pieces: Vec<Piece>,
    /// Operations of the thread so far.
    now: u64,
}

/// What a store is replaced by, and where.
pub(super) struct Target<'a> {
    pub thread: u32,
    pub line_shift: u32,
    pub whole: ByteMask,
    pub costs: Costs,
    /// The thread's count where it is.
    pub instr: u64,
    pub out: &'a mut Vec<Held>,
}

impl Target<'_> {
    fn buffer(&self, op: &Op, slot: u64) -> u64 {
        let process = op.addr >> 48 << 48;
        process | (BUFFERS + u64::from(self.thread) * PER_THREAD + slot * PER_PIECE)
    }

    fn push(&mut self, like: &Op, kind: OpKind, addr: u64, size: u32, extra: u32) {
        let op = Op {
            addr,
            size,
            kind,
            instr: self.instr,
            // It waits for nothing, unless it is said.
            after: 0,
            ..*like
        };
        let added = true;
        self.out.push(Held { op, extra, added });
    }
}

impl Gather {
    /// Is anything gathered?
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// One more operation of the thread; what was not stored to in the last `reach` goes.
    pub fn tick(&mut self, reach: u64, to: &mut Target<'_>) {
        self.now += 1;
        while let Some(i) = (self.pieces.iter()).position(|p| self.now - p.last > reach) {
            self.write(i, to);
        }
    }

    /// A store of `rule` to `bytes` of `line`, in place of `op`.
    pub fn store(
        &mut self,
        (rule, way): (u16, Way),
        (line, bytes): (LineAddr, ByteMask),
        op: &Op,
        to: &mut Target<'_>,
    ) {
        let i = self.piece(rule, way, line, op, to);
        let piece = &mut self.pieces[i];
        piece.last = self.now;
        let at = (line.0 - piece.first.0) as usize;
        piece.lines[at] |= bytes;
        let completes = piece.lines[at] == to.whole;
        let (base, shift) = (to.buffer(op, piece.slot), to.line_shift);
        let (from, size) = (bytes.trailing_zeros(), bytes.count_ones());
        let place = base + (piece.place(line) << shift) + u64::from(from);
        if way == Way::Writer {
            let slow = completes || size > 8;
            let extra = if slow {
                to.costs.put_line
            } else {
                to.costs.put
            };
            // The writer's position lies behind its line.
            let position = base + (2 << shift);
            to.push(op, OpKind::Load, position, 4, extra);
            to.push(op, OpKind::Store, position, 4, 0);
        }
        to.push(op, OpKind::Store, place, size, 0);
        if let Some(stored) = to.out.last_mut() {
            stored.op.after = op.after;
        }
        if way == Way::Writer && completes && at > 0 {
            self.write_first(i, to);
        }
    }

    /// The writer writes a line when the next is complete, too.
    fn write_first(&mut self, i: usize, to: &mut Target<'_>) {
        let piece = &mut self.pieces[i];
        let rest = Piece {
            first: LineAddr(piece.first.0 + 1),
            lines: piece.lines.split_off(1),
            ..piece.clone()
        };
        self.write(i, to);
        self.pieces.insert(i, rest);
    }

    /// A load of `bytes` of `line`: what is gathered of them goes first. The line's other bytes are still in memory.
    pub fn load(&mut self, line: LineAddr, bytes: ByteMask, to: &mut Target<'_>) {
        let gathers = |p: &Piece| {
            let at = line.0.checked_sub(p.first.0);
            at.and_then(|at| p.lines.get(at as usize))
                .is_some_and(|gathered| gathered & bytes != 0)
        };
        if let Some(i) = self.pieces.iter().position(gathers) {
            self.write(i, to);
        }
    }

    /// Everything goes.
    pub fn write_all(&mut self, to: &mut Target<'_>) {
        while !self.pieces.is_empty() {
            self.write(0, to);
        }
    }

    /// The piece that `line` belongs to: one that has it, one that ends before it, or a new one.
    fn piece(
        &mut self,
        rule: u16,
        way: Way,
        line: LineAddr,
        op: &Op,
        to: &mut Target<'_>,
    ) -> usize {
        let has = |p: &Piece| {
            let lines = p.lines.len() as u64 + u64::from(p.may_grow(to.whole));
            let at = line.0.checked_sub(p.first.0);
            p.rule == rule && at.is_some_and(|at| at < lines)
        };
        if let Some(i) = self.pieces.iter().position(has) {
            let piece = &mut self.pieces[i];
            if (line.0 - piece.first.0) as usize == piece.lines.len() {
                piece.lines.push(0);
            }
            return i;
        }
        // One that ends before the line and is full, or a writer's that left a line incomplete.
        let ends = |p: &Piece| p.rule == rule && p.first.0 + p.lines.len() as u64 == line.0;
        if let Some(full) = self.pieces.iter().position(ends) {
            self.write(full, to);
        } else if self.pieces.len() == PIECES {
            self.write(0, to);
        }
        let taken = |slot: &u64| self.pieces.iter().any(|p| p.slot == *slot);
        let slot = (0..).find(|slot| !taken(slot)).unwrap_or(0);
        self.pieces.push(Piece {
            rule,
            way,
            first: line,
            lines: vec![0],
            last: self.now,
            slot,
            store: *op,
        });
        self.pieces.len() - 1
    }

    /// Writes a piece: whole lines around the caches, others by stores, as the library does.
    fn write(&mut self, i: usize, to: &mut Target<'_>) {
        let piece = self.pieces.remove(i);
        let base = to.buffer(&piece.store, piece.slot);
        let mut extra = match piece.way {
            Way::Buffer => to.costs.buffer,
            _ => 0,
        };
        for (line, &bytes) in (piece.first.0..).zip(&piece.lines) {
            let from = base + (piece.place(LineAddr(line)) << to.line_shift);
            let line = line << to.line_shift;
            if piece.way == Way::Buffer {
                extra += to.costs.buffer_line;
            }
            let kind = match bytes == to.whole {
                true => OpKind::NtStore,
                false => OpKind::Store,
            };
            for (first, size) in runs(bytes) {
                let first = u64::from(first);
                to.push(&piece.store, OpKind::Load, from + first, size, extra);
                to.push(&piece.store, kind, line + first, size, 0);
                extra = 0;
            }
        }
    }
}

/// First and number of each run of bytes.
pub(super) fn runs(bytes: ByteMask) -> impl Iterator<Item = (u32, u32)> {
    let mut left = bytes;
    std::iter::from_fn(move || {
        if left == 0 {
            return None;
        }
        let from = left.trailing_zeros();
        let size = (left >> from).trailing_ones();
        left &= !(ByteMask::MAX >> (ByteMask::BITS - size) << from);
        Some((from, size))
    })
}
