//! What the executions of a stored block amount to: instructions and events.
//!
//! A block whose accesses are all plain has the same events at every execution, so its executions
//! are counted and multiplied out at the end. Masked, repeated and scattered accesses depend on
//! the values and are counted one by one.

use super::Encoded;
use super::model::NONE;
use crate::block::{Block, BlockTable};
use crate::container::EventCounts;
use crate::container::counts::{ALLOC, FREE, KINDS, index_of};
use crate::container::stored::further_lines;
use crate::record::{Special, id};
use crate::replay::{cut_at, each_touch};

/// Instructions and events of one execution of a state's block.
#[derive(Clone, Debug, Default)]
struct Share {
    /// The block's id; 0 for special records.
    block: u32,
    instrs: u32,
    /// First of its kinds in [`Tally::kinds`].
    kinds: u32,
    /// How many of them there are.
    len: u32,
    /// All its accesses are plain.
    plain: bool,
    /// Their further lines, if they are.
    further_lines: u64,
}

/// Counts since the start of the stored block. Shares have the order of the model's states,
/// without the first.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    shares: Vec<Share>,
    kinds: Vec<(u8, u32)>,
    /// What was counted one by one.
    counts: EventCounts,
    further_lines: u64,
    /// Skipped less cut instructions.
    instrs: u64,
    ticks: Option<(u64, u64)>,
    /// Ticks of a time record that is the first of all records.
    begins: Option<u64>,
}

impl Tally {
    /// Adds the share of a new state; are all its block's accesses plain?
    pub(super) fn add_block(&mut self, block: &Block) -> bool {
        let plain = block.refs.iter().all(|r| r.is_plain());
        let kinds = self.kinds.len();
        if plain {
            let mut by_kind = [0u32; KINDS];
            for r in &block.refs {
                by_kind[index_of(r.kind)] += 1;
            }
            let some = by_kind.iter().enumerate().filter(|(_, n)| **n > 0);
            self.kinds.extend(some.map(|(kind, n)| (kind as u8, *n)));
        }
        self.shares.push(Share {
            block: block.id,
            instrs: block.instrs,
            kinds: kinds as u32,
            len: (self.kinds.len() - kinds) as u32,
            plain,
            further_lines: match plain {
                true => block
                    .refs
                    .iter()
                    .map(|r| further_lines(r.size.into()))
                    .sum(),
                false => 0,
            },
        });
        plain
    }

    /// Adds the share of a new state of special records.
    pub(super) fn add_special(&mut self, record: u32) {
        let kinds = self.kinds.len() as u32;
        match record {
            id::ALLOC => self.kinds.push((ALLOC as u8, 1)),
            id::FREE => self.kinds.push((FREE as u8, 1)),
            _ => {}
        }
        self.shares.push(Share {
            kinds,
            len: self.kinds.len() as u32 - kinds,
            ..Share::default()
        });
    }

    /// A special record behind an execution of state `cur`.
    pub(super) fn special(&mut self, cur: u32, record: u32, payload: &[u64], table: &BlockTable) {
        if let (id::CUT, &[pc, ..]) = (record, payload) {
            self.cut(cur, pc, table);
        }
        match Special::parse(record, payload) {
            Special::Skip { instrs } => self.instrs = self.instrs.wrapping_add(instrs),
            Special::Time { ticks } => {
                if cur == NONE {
                    self.begins = Some(ticks);
                }
                let first = self.ticks.map_or(ticks, |t| t.0);
                self.ticks = Some((first, ticks));
            }
            _ => {}
        }
    }

    /// Takes back what the execution just before did not come to.
    fn cut(&mut self, cur: u32, pc: u64, table: &BlockTable) {
        let share = (cur as usize)
            .checked_sub(1)
            .and_then(|i| self.shares.get(i));
        let Some((share, block)) = share.and_then(|s| Some((s, table.get(s.block)?))) else {
            return;
        };
        let executed = block.instrs_before(pc);
        self.instrs = self.instrs.wrapping_sub(u64::from(block.instrs - executed));
        if share.plain {
            for r in block.refs.iter().filter(|r| u32::from(r.instr) >= executed) {
                let n = &mut self.counts.0[index_of(r.kind)];
                *n = n.wrapping_sub(1);
                let lines = further_lines(r.size.into());
                self.further_lines = self.further_lines.wrapping_sub(lines);
            }
        }
    }

    /// One execution of a block with accesses that are not plain; `rest` are the words behind it.
    pub(super) fn counted(
        &mut self,
        block: &Block,
        table: &BlockTable,
        values: &[u64],
        rest: &[u64],
    ) {
        let cut = cut_at(rest, 0);
        let executed = cut.map_or(block.instrs, |(pc, _)| block.instrs_before(pc));
        let done = |r: &&crate::block::Ref| u32::from(r.instr) < executed;
        for r in block.refs.iter().take_while(done) {
            let n = &mut self.counts.0[index_of(r.kind)];
            let lines = &mut self.further_lines;
            each_touch(table.xsave(), r, values, |_, bytes| {
                *n = n.wrapping_add(1);
                *lines = lines.wrapping_add(further_lines(bytes));
            });
        }
    }

    /// Sums up, given how often each state was executed.
    pub(super) fn total(&self, execs: impl Fn(usize) -> u64) -> Encoded {
        let mut encoded = Encoded {
            instrs: self.instrs,
            ticks: self.ticks,
            begins: self.begins,
            counts: self.counts,
            further_lines: self.further_lines,
            ..Encoded::default()
        };
        for (i, share) in self.shares.iter().enumerate() {
            let n = execs(i + 1);
            encoded.execs += if share.block == 0 { 0 } else { n };
            let instrs = n.wrapping_mul(u64::from(share.instrs));
            encoded.instrs = encoded.instrs.wrapping_add(instrs);
            let lines = n.wrapping_mul(share.further_lines);
            encoded.further_lines = encoded.further_lines.wrapping_add(lines);
            let from = share.kinds as usize;
            for &(kind, each) in &self.kinds[from..from + share.len as usize] {
                let total = &mut encoded.counts.0[usize::from(kind)];
                *total = total.wrapping_add(n * u64::from(each));
            }
        }
        encoded
    }
}
