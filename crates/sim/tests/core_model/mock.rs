//! The neighbours, and threads written as lists of operations.

use std::collections::{HashMap, HashSet, VecDeque};

use prestore_machine::{Machine, MemoryType};
use prestore_sim::{
    Asks, Below, ByteMask, Core, Flushed, LineState, Op, OpKind, Served, ServedBy, Stored, Time,
};
use prestore_trace::{FenceKind, FlushKind, LineAddr, SiteId};

/// Nanoseconds, which are cycles here.
pub fn ns(n: u64) -> Time {
    Time(n * 1000)
}

/// What the core asked for, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    Load(u64),
    Own(u64, bool),
    Write(u64, ByteMask),
    Around(u64, ByteMask),
    Flush(u64, FlushKind, bool),
    Demote(u64),
    Through(u64, ByteMask),
    LoadAround(u64),
}

/// One level of cache that loses nothing, behind it a "peer" that has everything.
#[derive(Clone, Debug)]
pub struct Mock {
    pub present: HashSet<u64>,
    pub owned: HashSet<u64>,
    pub dirty: HashSet<u64>,
    pub hit: u64,
    pub miss: u64,
    pub own: u64,
    /// When a line that is asked for is granted.
    pub grant: u64,
    pub flush: u64,
    pub around: u64,
    /// How much longer than that the first lines sent around take.
    pub around_waits: VecDeque<u64>,
    pub demote: u64,
    /// A line that is read is owned.
    pub read_owns: bool,
    /// A line that takes another time to be read.
    pub slow: Option<(u64, u64)>,
    /// Lines of other types than write-back.
    pub types: HashMap<u64, MemoryType>,
    /// Until when, in nanoseconds, others refuse to give these lines up.
    pub refused: HashMap<u64, u64>,
    pub calls: Vec<(Time, Call)>,
    /// The names of the stores of each call that has some.
    pub names: Vec<(Call, Vec<Stored>)>,
}

impl Default for Mock {
    fn default() -> Self {
        Self {
            present: HashSet::new(),
            owned: HashSet::new(),
            dirty: HashSet::new(),
            hit: 4,
            miss: 100,
            own: 50,
            grant: 20,
            flush: 80,
            around: 60,
            around_waits: VecDeque::new(),
            demote: 30,
            read_owns: false,
            slow: None,
            types: HashMap::new(),
            refused: HashMap::new(),
            calls: Vec::new(),
            names: Vec::new(),
        }
    }
}

impl Mock {
    /// With these lines owned.
    pub fn owning(lines: impl IntoIterator<Item = u64>) -> Self {
        let lines: HashSet<u64> = lines.into_iter().collect();
        Self {
            present: lines.clone(),
            owned: lines,
            ..Self::default()
        }
    }

    /// Calls that `keep` keeps, with their time in nanoseconds.
    pub fn calls(&self, keep: impl Fn(&Call) -> bool) -> Vec<(u64, Call)> {
        let kept = self.calls.iter().filter(|(_, call)| keep(call));
        kept.map(|&(at, call)| (at.0 / 1000, call)).collect()
    }

    fn note(&mut self, at: Time, call: Call, by: &[Stored]) {
        self.calls.push((at, call));
        self.names.push((call, by.to_vec()));
    }

    /// With memory of this type at these lines.
    pub fn typed(of: MemoryType, lines: impl IntoIterator<Item = u64>) -> Self {
        Self {
            types: lines.into_iter().map(|line| (line, of)).collect(),
            ..Self::default()
        }
    }

    pub fn writes(&self) -> Vec<(u64, Call)> {
        self.calls(|c| matches!(c, Call::Write(..)))
    }

    pub fn owns(&self) -> Vec<(u64, Call)> {
        self.calls(|c| matches!(c, Call::Own(..)))
    }

    pub fn loads(&self) -> Vec<(u64, Call)> {
        self.calls(|c| matches!(c, Call::Load(_)))
    }

    pub fn arounds(&self) -> Vec<(u64, Call)> {
        self.calls(|c| matches!(c, Call::Around(..)))
    }

    pub fn flushes(&self) -> Vec<(u64, Call)> {
        self.calls(|c| matches!(c, Call::Flush(..)))
    }
}

/// All doors are open, so that all tests show that this by itself changes nothing.
impl Below for Mock {
    const NAMES: bool = true;
    const REFUSES: bool = true;
    const TYPES: bool = true;

    fn memory_type(&mut self, _: u32, line: LineAddr) -> MemoryType {
        self.types.get(&line.0).copied().unwrap_or_default()
    }

    fn refused(&mut self, _: u32, at: Time, line: LineAddr, asks: Asks) -> Option<Time> {
        let had = match asks {
            Asks::Read => &self.present,
            Asks::Own | Asks::Clean | Asks::Flush => &self.owned,
        };
        let until = self.refused.get(&line.0).map(|until| ns(*until));
        until.filter(|until| *until > at && !had.contains(&line.0))
    }

    fn write_through(
        &mut self,
        _: u32,
        at: Time,
        line: LineAddr,
        bytes: ByteMask,
        by: &[Stored],
    ) -> Time {
        self.note(at, Call::Through(line.0, bytes), by);
        at + ns(self.around + self.around_waits.pop_front().unwrap_or(0))
    }

    fn load_around(&mut self, _: u32, at: Time, line: LineAddr) -> Served {
        self.calls.push((at, Call::LoadAround(line.0)));
        Served {
            done: at + ns(self.miss),
            granted: at + ns(self.miss),
            by: ServedBy::Peer,
        }
    }

    fn load(&mut self, _: u32, at: Time, line: LineAddr) -> Served {
        self.calls.push((at, Call::Load(line.0)));
        if self.present.insert(line.0) {
            if self.read_owns {
                self.owned.insert(line.0);
            }
            let slow = self.slow.filter(|(slow, _)| *slow == line.0);
            Served {
                done: at + ns(slow.map_or(self.miss, |(_, miss)| miss)),
                granted: at + ns(slow.map_or(self.miss, |(_, miss)| miss)),
                by: ServedBy::Peer,
            }
        } else {
            Served {
                done: at + ns(self.hit),
                granted: at + ns(self.hit),
                by: ServedBy::Cache(0),
            }
        }
    }

    fn owned(&self, _: u32, line: LineAddr) -> bool {
        self.owned.contains(&line.0)
    }

    fn own(&mut self, _: u32, at: Time, line: LineAddr, whole: bool) -> Served {
        self.calls.push((at, Call::Own(line.0, whole)));
        self.present.insert(line.0);
        self.owned.insert(line.0);
        Served {
            done: at + ns(self.own),
            granted: at + ns(self.grant),
            by: ServedBy::Peer,
        }
    }

    fn write(&mut self, _: u32, at: Time, line: LineAddr, bytes: ByteMask, by: &[Stored]) -> Time {
        self.note(at, Call::Write(line.0, bytes), by);
        self.dirty.insert(line.0);
        if self.owned.insert(line.0) {
            self.present.insert(line.0);
            return at + ns(self.own);
        }
        at
    }

    fn write_around(
        &mut self,
        _: u32,
        at: Time,
        line: LineAddr,
        bytes: ByteMask,
        by: &[Stored],
    ) -> Time {
        self.note(at, Call::Around(line.0, bytes), by);
        self.present.remove(&line.0);
        self.owned.remove(&line.0);
        at + ns(self.around + self.around_waits.pop_front().unwrap_or(0))
    }

    fn flush(
        &mut self,
        _: u32,
        at: Time,
        line: LineAddr,
        kind: FlushKind,
        retain: bool,
    ) -> Flushed {
        self.calls.push((at, Call::Flush(line.0, kind, retain)));
        let state = match (self.dirty.remove(&line.0), self.present.contains(&line.0)) {
            (true, _) => LineState::Dirty,
            (false, true) => LineState::Clean,
            (false, false) => LineState::Absent,
        };
        if !retain {
            self.present.remove(&line.0);
            self.owned.remove(&line.0);
        }
        Flushed {
            done: at + ns(self.flush),
            state,
        }
    }

    fn demote(&mut self, _: u32, at: Time, line: LineAddr) -> Time {
        self.calls.push((at, Call::Demote(line.0)));
        at + ns(self.demote)
    }
}

/// A thread written down: each operation one instruction after the one before, unless told.
#[derive(Clone, Debug, Default)]
pub struct Thread {
    pub ops: Vec<Op>,
    instr: u64,
}

impl Thread {
    fn op(mut self, addr: u64, size: u32, kind: OpKind) -> Self {
        self.ops.push(Op {
            instr: self.instr,
            addr,
            size,
            site: SiteId(self.instr as u32),
            kind,
            after: 0,
        });
        self.instr += 1;
        self
    }

    /// `n` instructions that touch nothing.
    pub fn work(mut self, n: u64) -> Self {
        self.instr += n;
        self
    }

    /// 8 bytes at the beginning of `line`.
    pub fn load(self, line: u64) -> Self {
        self.op(line * 64, 8, OpKind::Load)
    }

    /// The same, at an address that the load `back` loads before brings.
    pub fn load_after(self, line: u64, back: u16) -> Self {
        self.load(line).after(back)
    }

    /// 8 bytes at the beginning of `line`, which the load `back` loads before brings.
    pub fn store_after(self, line: u64, back: u16) -> Self {
        self.store(line).after(back)
    }

    fn after(mut self, back: u16) -> Self {
        if let Some(last) = self.ops.last_mut() {
            last.after = back;
        }
        self
    }

    pub fn load_at(self, addr: u64, size: u32) -> Self {
        self.op(addr, size, OpKind::Load)
    }

    /// 8 bytes at the beginning of `line`.
    pub fn store(self, line: u64) -> Self {
        self.op(line * 64, 8, OpKind::Store)
    }

    pub fn store_at(self, addr: u64, size: u32) -> Self {
        self.op(addr, size, OpKind::Store)
    }

    pub fn nt_store_at(self, addr: u64, size: u32) -> Self {
        self.op(addr, size, OpKind::NtStore)
    }

    pub fn atomic(self, line: u64) -> Self {
        self.op(line * 64, 8, OpKind::Atomic)
    }

    pub fn flush(self, line: u64, kind: FlushKind) -> Self {
        self.op(line * 64, 0, OpKind::Flush(kind))
    }

    pub fn clwb(self, line: u64) -> Self {
        self.flush(line, FlushKind::Clwb)
    }

    pub fn demote(self, line: u64) -> Self {
        self.op(
            line * 64,
            0,
            OpKind::Demote(prestore_trace::DemoteKind::Cldemote),
        )
    }

    pub fn fence(self, kind: FenceKind) -> Self {
        self.op(0, 0, OpKind::Fence(kind))
    }

    pub fn sfence(self) -> Self {
        self.fence(FenceKind::Store)
    }

    /// Executes it; answers the core as it is after the last operation.
    pub fn run(&self, machine: &Machine, below: &mut Mock) -> Core {
        let mut core = Core::new(0, machine);
        for op in &self.ops {
            core.step(op, below);
        }
        core
    }

    /// Executes it to its end; answers the core, and when the end was, in nanoseconds.
    pub fn finish(&self, machine: &Machine, below: &mut Mock) -> (Core, u64) {
        let mut core = self.run(machine, below);
        let end = core.finish(self.instr, below);
        (core, end.0 / 1000)
    }
}

/// The core's clock in nanoseconds.
pub fn now(core: &Core) -> u64 {
    core.now().0 / 1000
}
