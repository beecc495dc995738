//! Where threads' stacks may be: recordings do not say.

use std::ops::Range;

use prestore_machine::{Machine, RangeSelector};
use prestore_trace::container::Trace;
use prestore_trace::record::Special;
use prestore_trace::replay::{ExecSink, each_touch};
use prestore_trace::{EventKind, ProcessId, ThreadId};

use crate::cursor::Cursor;
use crate::{Options, SourceError, Space, chosen};

/// A thread's first store pushes a return address on its stack, if it comes so early.
const FIRST_INSTRUCTIONS: u64 = 16;

/// Arguments and environment of a process, or the C library's descriptor of a thread, lie above.
const ABOVE: u64 = 64 << 10;

/// The usual limit of a stack.
const STACK: u64 = 8 << 20;

/// A guess where a thread's stack is: 8 MiB around its first store, which is the return address
/// that the start code of a program or of a thread pushes, 64 KiB of them above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackGuess {
    /// Whose.
    pub thread: ThreadId,
    /// First address, simulated (see [`Space`]).
    pub start: u64,
    /// Address behind the last.
    pub end: u64,
}

impl StackGuess {
    /// The stacks of the threads that `options` choose. None for a thread whose start was not
    /// recorded: one whose first store comes later than its sixteenth instruction (a window
    /// opened later, its process was forked), or that runs on a stack of its own making.
    ///
    /// # Errors
    /// As [`crate::TraceSource::open`].
    pub fn all(trace: &Trace, options: &Options) -> Result<Vec<Self>, SourceError> {
        let mut decoder = chosen::decoder()?;
        let mut guesses = Vec::new();
        for (thread, process) in chosen::threads(trace, options)? {
            let inherited = trace.process(process).inherited;
            if inherited > 0 && is_first(trace, thread, process) {
                continue;
            }
            let mut cursor = Cursor::new(trace, thread, options.lenient)?;
            let mut first = FirstStore::default();
            while !first.full() && cursor.load(&mut decoder)? {
                cursor.replay(&mut first)?;
            }
            let space = Space::of(process);
            guesses.extend(first.store.map(|addr| Self {
                thread,
                start: space.place(addr.saturating_add(ABOVE).saturating_sub(STACK)),
                end: space.place(addr.saturating_add(ABOVE)),
            }));
        }
        Ok(guesses)
    }
}

fn is_first(trace: &Trace, thread: ThreadId, process: ProcessId) -> bool {
    let mut of_process = trace.manifest().threads.iter();
    of_process.find(|t| t.process == process).map(|t| t.id) == Some(thread)
}

#[derive(Default)]
struct FirstStore {
    store: Option<u64>,
    done: bool,
}

impl ExecSink for FirstStore {
    fn exec(
        &mut self,
        before: u64,
        block: &prestore_trace::block::Block,
        values: &[u64],
        executed: u32,
    ) {
        let mut stores = (block.refs.iter()).filter(|r| r.kind == EventKind::Store);
        if let Some(r) = stores.find(|r| u32::from(r.instr) < executed)
            && before + u64::from(r.instr) < FIRST_INSTRUCTIONS
        {
            each_touch(&[], r, values, |addr, _| self.store = Some(addr));
        }
        self.done |= self.store.is_some() || before >= FIRST_INSTRUCTIONS;
    }

    fn special(&mut self, _: u64, _: Special) {}

    fn full(&self) -> bool {
        self.done
    }
}

/// Where the stacks are, as far as a placement rule of `machine` asks for it: first address to
/// behind the last.
pub(crate) fn stacks(
    machine: &Machine,
    trace: &Trace,
    options: &Options,
) -> Result<Vec<Range<u64>>, SourceError> {
    let rules = &machine.placement.rules;
    if !rules.iter().any(|rule| rule.of == RangeSelector::Stacks) {
        return Ok(Vec::new());
    }
    let guesses = StackGuess::all(trace, options)?;
    Ok(guesses.iter().map(|g| g.start..g.end).collect())
}
