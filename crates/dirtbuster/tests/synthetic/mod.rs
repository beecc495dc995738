//! Hand-made programs: blocks and the words their execution would have recorded.
#![allow(dead_code, reason = "each test and bench uses its part")]

pub mod copy;

use std::collections::HashMap;

use prestore_dirtbuster::{Analyzer, Outcome, SiteClass, SiteOracle, Thresholds};
use prestore_trace::block::{Block, BlockEnd, BlockTable, Direction, NO_SLOT, Ref, RefMode};
use prestore_trace::record::{Special, header};
use prestore_trace::{EventKind, FenceKind, FlushKind, ProcessId, SiteId, SiteTable, ThreadId};

/// Sites of a function: `function * SITES ..`; functions from [`GENERIC`] on are generic.
pub const SITES: u32 = 1000;
pub const GENERIC: u32 = 1000;

/// Knows functions by the numbers of their sites.
#[derive(Clone, Copy, Debug, Default)]
pub struct Numbers;

impl SiteOracle for Numbers {
    fn classify(&mut self, site: SiteId, _: &SiteTable) -> SiteClass {
        let function = site.0 / SITES;
        SiteClass {
            function: u64::from(function),
            generic: function >= GENERIC,
        }
    }
}

/// Blocks, and the buffers of the threads in the order they were filled.
#[derive(Clone, Default)]
pub struct Program {
    pub table: BlockTable,
    pub buffers: Vec<(u32, Vec<u64>)>,
    blocks: u32,
    instrs: u64,
    /// Its memory is the kernel's to make; else, that of a file.
    pub fresh: bool,
}

/// A block being made. Instruction numbers go up by one a reference, unless told otherwise.
pub struct Draft<'a> {
    program: &'a mut Program,
    function: u32,
    site: u32,
    refs: Vec<Ref>,
    words: u16,
    instr: u16,
    end: BlockEnd,
    start: Option<u64>,
}

impl Program {
    /// Begins a block of `function` whose sites start at `site`.
    pub fn block(&mut self, function: u32, site: u32) -> Draft<'_> {
        Draft {
            program: self,
            function,
            site,
            refs: Vec::new(),
            words: 0,
            instr: 0,
            end: BlockEnd::Jump,
            start: None,
        }
    }

    /// Executes `block` in `thread`.
    pub fn run(&mut self, thread: u32, block: u32, values: &[u64]) {
        let b = self.table.get(block).expect("a block of this program");
        assert_eq!(b.words as usize, values.len());
        self.instrs += u64::from(b.instrs);
        let words = self.words(thread);
        words.push(header(block, 0));
        words.extend_from_slice(values);
    }

    /// Executes `block` up to before its instruction `executed`.
    pub fn run_cut(&mut self, thread: u32, block: u32, values: &[u64], executed: u64) {
        let pc = self.table.get(block).map(|b| b.start_pc).unwrap_or(0) + executed;
        self.run(thread, block, values);
        let words = self.words(thread);
        words.extend([header(prestore_trace::record::id::CUT, 1), pc]);
    }

    /// `instrs` instructions without memory accesses.
    pub fn compute(&mut self, thread: u32, instrs: u64) {
        self.special(thread, Special::Skip { instrs });
    }

    pub fn special(&mut self, thread: u32, special: Special) {
        special.write(self.words(thread));
    }

    /// Ends the buffer of the thread that runs.
    pub fn flush(&mut self) {
        self.buffers.push((u32::MAX, Vec::new()));
    }

    fn words(&mut self, thread: u32) -> &mut Vec<u64> {
        if self.buffers.last().is_none_or(|b| b.0 != thread) {
            self.buffers.push((thread, Vec::new()));
        }
        &mut self.buffers.last_mut().expect("just pushed").1
    }

    pub fn analyze(&self) -> Outcome<Numbers> {
        self.analyze_with(Analyzer::new(everything(), Numbers))
    }

    pub fn analyze_with(&self, analyzer: Analyzer<Numbers>) -> Outcome<Numbers> {
        self.analyze_as(analyzer, false, |thread| {
            (ProcessId(0), ThreadId(thread), &self.table)
        })
    }

    /// Each thread is a process of its own, with its table, which `ends` behind its last buffer.
    pub fn analyze_processes(&self, tables: &[BlockTable], ends: bool) -> Outcome<Numbers> {
        let analyzer = Analyzer::new(everything(), Numbers);
        self.analyze_as(analyzer, ends, |thread| {
            (ProcessId(thread), ThreadId(0), &tables[thread as usize])
        })
    }

    fn analyze_as<'a>(
        &'a self,
        mut analyzer: Analyzer<Numbers>,
        ends: bool,
        who: impl Fn(u32) -> (ProcessId, ThreadId, &'a BlockTable),
    ) -> Outcome<Numbers> {
        let mut sites = SiteTable::default();
        let mut begun = Vec::new();
        let buffers = || (0..).zip(self.buffers.iter().filter(|b| b.0 != u32::MAX));
        let last: HashMap<u32, usize> = buffers().map(|(number, b)| (b.0, number)).collect();
        for (number, (of, words)) in buffers() {
            let (process, thread, table) = who(*of);
            let mut all = Vec::new();
            if !self.fresh && !begun.contains(&process) {
                begun.push(process);
                Special::Mapped {
                    addr: 0,
                    size: u64::MAX,
                    offset: 0,
                    file: 0,
                    writable: true,
                }
                .write(&mut all);
            }
            all.extend(words);
            let taken = analyzer.feed(process, thread, table, &mut sites, &all);
            assert_eq!(taken, Ok(all.len()));
            if ends && last[of] == number {
                analyzer.end(process);
            }
        }
        analyzer.finish()
    }
}

/// The default thresholds, but nothing is too small to be listed.
pub fn everything() -> Thresholds {
    Thresholds {
        min_store_share: 0.0,
        ..Thresholds::default()
    }
}

impl Draft<'_> {
    fn push(mut self, kind: EventKind, mode: RefMode, slot: u16, disp: u64, size: u32) -> Self {
        if slot != NO_SLOT {
            self.words = self.words.max(slot + 1);
        }
        self.refs.push(Ref {
            kind,
            mode,
            instr: self.instr,
            slot,
            value_slot: NO_SLOT,
            size,
            disp,
            site: SiteId(self.function * SITES + self.site),
            frame: false,
            compare: prestore_trace::block::NO_SLOT,
        });
        self.site += 1;
        self.instr += 1;
        self
    }

    pub fn load(self, slot: u16, disp: i64, size: u32) -> Self {
        self.push(EventKind::Load, RefMode::Plain, slot, disp as u64, size)
    }

    pub fn store(self, slot: u16, disp: i64, size: u32) -> Self {
        self.push(EventKind::Store, RefMode::Plain, slot, disp as u64, size)
    }

    pub fn nt_store(self, slot: u16, disp: i64, size: u32) -> Self {
        self.push(EventKind::NtStore, RefMode::Plain, slot, disp as u64, size)
    }

    /// `inc [slot]`: a load and a store of one instruction.
    pub fn increment(mut self, slot: u16, disp: i64, size: u32) -> Self {
        self = self.load(slot, disp, size);
        self.instr -= 1;
        self.store(slot, disp, size)
    }

    pub fn atomic(self, slot: u16, disp: i64, size: u32) -> Self {
        self.push(
            EventKind::AtomicRmw,
            RefMode::Plain,
            slot,
            disp as u64,
            size,
        )
    }

    pub fn fence(self, kind: FenceKind) -> Self {
        self.push(EventKind::Fence(kind), RefMode::Plain, NO_SLOT, 0, 0)
    }

    /// `rep stos`: `size` bytes times the value in slot `count`.
    pub fn rep_store(mut self, slot: u16, count: u16, size: u32) -> Self {
        self.words = self.words.max(count + 1);
        let mode = RefMode::Rep {
            count,
            direction: Direction::Up,
        };
        self.push(EventKind::Store, mode, slot, 0, size)
    }

    /// The last reference is to the frame.
    pub fn in_frame(mut self) -> Self {
        if let Some(last) = self.refs.last_mut() {
            last.frame = true;
        }
        self
    }

    /// `clwb`.
    pub fn flush(self, slot: u16) -> Self {
        let kind = EventKind::Flush(FlushKind::Clwb);
        self.push(kind, RefMode::Plain, slot, 0, 0)
    }

    /// `n` instructions without accesses.
    pub fn compute(mut self, n: u16) -> Self {
        self.instr += n;
        self
    }

    pub fn call(mut self) -> Self {
        self.end = BlockEnd::Call;
        self
    }

    pub fn ret(mut self) -> Self {
        self.end = BlockEnd::Ret;
        self
    }

    /// Starts where the call block `call` returns to.
    pub fn after(mut self, call: u32) -> Self {
        self.start = self.program.table.get(call).map(|b| b.next_pc);
        self
    }

    pub fn done(self) -> u32 {
        let id = prestore_trace::record::FIRST_BLOCK + self.program.blocks;
        self.program.blocks += 1;
        let instrs = u32::from(self.instr) + u32::from(self.end != BlockEnd::Jump);
        let start_pc = self.start.unwrap_or(0x40_0000 + u64::from(id) * 0x1000);
        let site = SiteId(self.function * SITES + self.site);
        self.program.table.put(Block {
            id,
            instrs,
            words: u32::from(self.words),
            end: self.end,
            start_pc,
            next_pc: start_pc + u64::from(instrs),
            last_site: site,
            start_site: SiteId(self.function * SITES),
            refs: self.refs.into(),
            lengths: vec![1; instrs as usize].into(),
            code: Box::default(),
        });
        id
    }
}
