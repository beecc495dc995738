//! One thread's events to operations: which are left out, what comes between them, when.

use prestore_sim::{Op, OpKind, SHARED_LOCK};
use prestore_trace::{EventKind, SiteId};

use crate::Gaps;
use crate::dataflow::Carried;
use crate::marks::{Mark, Marks, Reader};
use crate::space::Space;

/// Larger accesses (a `rep movs` of gigabytes) become several.
const MAX_SIZE: u64 = 1 << 30;

/// What is remembered of a thread between two fillings.
#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) space: Space,
    gaps: Gaps,
    reader: Reader,
    /// Events before the next mark; `u64::MAX`: no more marks.
    pub(crate) next_mark: u64,
    /// Events so far, those left out included.
    pub(crate) events: u64,
    /// Events so far, without those left out.
    pub(crate) kept: u64,
    /// Open stretches that are left out.
    pub(crate) leaving: u32,
    /// The thread's count where the outermost of them began.
    left_at: u64,
    /// Instructions left out so far, less the simulated count of the first; wrapping.
    pub(crate) left_out: u64,
    /// Count of the last operation.
    last: u64,
    /// Which loads its registers' values came from.
    pub(crate) data: Carried,
}

impl Lane {
    /// One whose first instruction has the simulated count `start`.
    pub(crate) fn new(space: Space, gaps: Gaps, marks: &Marks, start: u64) -> Self {
        let mut lane = Self {
            space,
            gaps,
            reader: Reader::default(),
            next_mark: 0,
            events: 0,
            kept: 0,
            leaving: 0,
            left_at: 0,
            left_out: 0u64.wrapping_sub(start),
            last: start,
            data: Carried::default(),
        };
        lane.look(marks);
        lane
    }

    /// One that goes on behind `events` events, `kept` of them not left out, with recorded instruction `recorded`, whose
    /// simulated count is `start`.
    pub(crate) fn at(
        space: Space,
        gaps: Gaps,
        marks: &Marks,
        (recorded, start): (u64, u64),
        (events, kept): (u64, u64),
    ) -> Self {
        let mut lane = Self::new(space, gaps, marks, start);
        lane.left_out = lane.left_out.wrapping_add(recorded);
        lane.left_at = recorded;
        (lane.events, lane.kept) = (events, kept);
        while let Some(mark) = lane.look(marks) {
            // What the last event before does for others came with it.
            let behind = matches!(mark, Mark::HandOff(_) | Mark::Release(_));
            if lane.next_mark > events || (lane.next_mark == events && !(behind && events > 0)) {
                break;
            }
            match mark {
                Mark::Leave => lane.leaving += 1,
                Mark::Resume => lane.leaving = lane.leaving.saturating_sub(1),
                _ => {}
            }
            lane.pass(marks);
        }
        lane
    }

    fn look(&mut self, marks: &Marks) -> Option<Mark> {
        let next = self.reader.peek(marks);
        self.next_mark = next.map_or(u64::MAX, |n| n.0);
        next.map(|n| n.1)
    }

    /// The simulated count of the recorded count `instr`.
    #[inline]
    pub(crate) fn instr(&self, instr: u64) -> u64 {
        instr.wrapping_sub(self.left_out)
    }

    /// Instructions passed that were not recorded.
    pub(crate) fn gap(&mut self, instrs: u64) {
        // Inside a stretch that is left out they are left out with it.
        if self.gaps == Gaps::LeaveOut && self.leaving == 0 {
            self.left_out = self.left_out.wrapping_add(instrs);
        }
    }

    /// Brings the marks before the next event, which is at `instr`.
    pub(crate) fn before(&mut self, instr: u64, marks: &Marks, ops: &mut Vec<Op>) {
        while self.next_mark <= self.events {
            let Some(mark) = self.look(marks) else { break };
            match mark {
                Mark::HandOff(number) => self.behind(OpKind::HandOff, number.into(), ops),
                Mark::Release(lock) => self.behind(OpKind::Release, lock.into(), ops),
                Mark::Await(number) => self.in_front(OpKind::Await, number.into(), instr, ops),
                Mark::Acquire(lock) => self.in_front(OpKind::Acquire, lock.into(), instr, ops),
                Mark::Share(lock) => {
                    let lock = u64::from(lock) | SHARED_LOCK;
                    self.in_front(OpKind::Acquire, lock, instr, ops);
                }
                Mark::Leave => {
                    if self.leaving == 0 {
                        self.left_at = instr;
                    }
                    self.leaving += 1;
                }
                Mark::Resume => {
                    self.leaving = self.leaving.saturating_sub(1);
                    if self.leaving == 0 {
                        let waited = instr.wrapping_sub(self.left_at);
                        self.left_out = self.left_out.wrapping_add(waited);
                    }
                }
            }
            self.pass(marks);
        }
    }

    /// Brings the hand-offs that the last event publishes, and the locks that it releases. At once, so that they carry its count:
    /// what the thread does next may be far.
    pub(crate) fn after(&mut self, marks: &Marks, ops: &mut Vec<Op>) {
        while self.next_mark <= self.events {
            match self.look(marks) {
                Some(Mark::HandOff(number)) => self.behind(OpKind::HandOff, number.into(), ops),
                Some(Mark::Release(lock)) => self.behind(OpKind::Release, lock.into(), ops),
                _ => break,
            }
            self.pass(marks);
        }
    }

    fn pass(&mut self, marks: &Marks) {
        self.reader.pass_to(self.next_mark);
        self.look(marks);
    }

    /// Something that the last operation does for others.
    fn behind(&mut self, kind: OpKind, number: u64, ops: &mut Vec<Op>) {
        self.between(kind, number, self.last, ops);
    }

    /// Something that the next operation, at `instr`, waits for.
    fn in_front(&mut self, kind: OpKind, number: u64, instr: u64, ops: &mut Vec<Op>) {
        let at = if self.leaving > 0 {
            self.left_at
        } else {
            instr
        };
        self.between(kind, number, self.instr(at), ops);
    }

    fn between(&mut self, kind: OpKind, number: u64, instr: u64, ops: &mut Vec<Op>) {
        ops.push(Op {
            instr,
            addr: number,
            size: 0,
            site: SiteId::NONE,
            kind,
            after: 0,
        });
    }

    /// Brings one event, and the marks around it.
    pub(crate) fn event(&mut self, instr: u64, marks: &Marks, ops: &mut Vec<Op>, make: Make) {
        self.before(instr, marks, ops);
        self.events += 1;
        if self.leaving == 0 {
            self.kept += 1;
            self.last = self.instr(instr);
            make.push(self.last, self.space, ops);
        }
        self.after(marks, ops);
    }

    /// Are the next events, so many, all kept and without marks around them?
    #[inline]
    pub(crate) fn has_no_mark_within(&self, events: u64) -> bool {
        self.leaving == 0 && self.next_mark - self.events > events
    }

    /// Brings a part of an event; then [`Lane::passed`].
    pub(crate) fn part(&self, instr: u64, ops: &mut Vec<Op>, make: Make) {
        make.push(self.instr(instr), self.space, ops);
    }

    /// Notes that events without marks between them were brought, the last at the simulated
    /// count `last`.
    #[inline]
    pub(crate) fn passed(&mut self, events: u64, last: u64) {
        self.events += events;
        self.kept += events;
        self.last = last;
    }

    /// The thread is at its end, after `instrs` recorded instructions: brings what is left.
    pub(crate) fn end(&mut self, instrs: u64, marks: &Marks, ops: &mut Vec<Op>) {
        self.events = u64::MAX - 1;
        self.before(instrs, marks, ops);
    }
}

/// An event, to become an operation.
#[derive(Clone, Copy)]
pub(crate) enum Make {
    /// One of an instruction.
    Event {
        kind: EventKind,
        addr: u64,
        size: u64,
        site: SiteId,
    },
    Alloc {
        addr: u64,
        bytes: u64,
        site: SiteId,
    },
    Free {
        addr: u64,
        site: SiteId,
    },
}

impl Make {
    fn push(self, instr: u64, space: Space, ops: &mut Vec<Op>) {
        match self {
            Self::Alloc { addr, bytes, site } => {
                ops.push(Op::alloc(instr, space.place(addr), bytes, site));
            }
            Self::Free { addr, site } => ops.push(Op {
                instr,
                addr: space.place(addr),
                size: 0,
                site,
                kind: OpKind::Free,
                after: 0,
            }),
            Self::Event {
                kind,
                addr,
                size,
                site,
            } => {
                let Some(op) = kind_of(kind) else { return };
                let addr = if has_address(kind) {
                    space.place(addr)
                } else {
                    addr
                };
                let (mut addr, mut left) = (addr, size);
                loop {
                    let size = left.min(MAX_SIZE);
                    ops.push(Op {
                        instr,
                        addr,
                        size: size as u32,
                        site,
                        kind: op,
                        after: 0,
                    });
                    left -= size;
                    if left == 0 {
                        break;
                    }
                    addr = addr.wrapping_add(size);
                }
            }
        }
    }
}

/// Is the event's address one of memory?
#[inline]
pub(crate) fn has_address(kind: EventKind) -> bool {
    !matches!(
        kind,
        EventKind::Fence(_) | EventKind::RegionBegin | EventKind::RegionEnd
    )
}

/// The operation of an instruction's event; `None` for those that no instruction makes.
#[inline]
pub(crate) fn kind_of(kind: EventKind) -> Option<OpKind> {
    Some(match kind {
        EventKind::Load => OpKind::Load,
        EventKind::Store => OpKind::Store,
        EventKind::NtStore => OpKind::NtStore,
        EventKind::AtomicRmw => OpKind::Atomic,
        EventKind::Flush(kind) => OpKind::Flush(kind),
        EventKind::Demote(kind) => OpKind::Demote(kind),
        EventKind::Fence(kind) => OpKind::Fence(kind),
        EventKind::RegionBegin => OpKind::RegionBegin,
        EventKind::RegionEnd => OpKind::RegionEnd,
        EventKind::Alloc | EventKind::Free | EventKind::ThreadStart | EventKind::ThreadEnd => {
            return None;
        }
    })
}
