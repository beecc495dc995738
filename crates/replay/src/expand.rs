//! Block executions to operations.

use prestore_sim::{Op, OpKind};
use prestore_trace::block::{Block, BlockTable};
use prestore_trace::content::Content;
use prestore_trace::record::Special;
use prestore_trace::replay::{ExecSink, each_touch};

use crate::callers::{Callers, Path};
use crate::copies::StringCopy;
use crate::lane::{Lane, Make};
use crate::marks::Marks;
use crate::plan::Plans;
use crate::stored::StoredBytes;

/// Takes a thread's executions and appends operations.
pub(crate) struct Expander<'a> {
    pub(crate) lane: &'a mut Lane,
    pub(crate) marks: &'a Marks,
    pub(crate) table: &'a BlockTable,
    pub(crate) plans: &'a Plans,
    pub(crate) callers: &'a Callers,
    pub(crate) path: &'a mut Path,
    /// What stores write, where that was asked for.
    pub(crate) stored: Option<&'a mut StoredBytes>,
    pub(crate) ops: &'a mut Vec<Op>,
    /// Operations are told which loads of blocks before they wait for.
    pub(crate) depends: bool,
    /// Operations that are enough.
    pub(crate) enough: usize,
}

impl Expander<'_> {
    /// One event after the other.
    #[cold]
    #[inline(never)]
    fn each(&mut self, before: u64, block: &Block, values: &[u64], executed: u32) {
        let (lane, marks, ops) = (&mut *self.lane, self.marks, &mut *self.ops);
        let flow = self.plans.flow(block.id);
        lane.data.begin(block.refs.len());
        let mut refs = block.refs.iter().enumerate();
        while let Some((at, r)) = refs.next() {
            if u32::from(r.instr) >= executed {
                break;
            }
            let after = flow.after.get(at).copied().unwrap_or_default();
            let instr = before.wrapping_add(u64::from(r.instr));
            if lane.has_no_mark_within(2)
                && let Some(copy) = StringCopy::of(&block.refs[at..], values)
            {
                let behind = flow.after.get(at + 1).copied().unwrap_or_default();
                copy.append(lane, ops, (at, instr, r.site), [after, behind]);
                refs.next();
                continue;
            }
            each_touch(self.table.xsave(), r, values, |addr, size| {
                let make = Make::Event {
                    kind: r.kind,
                    addr,
                    size,
                    site: r.site,
                };
                let known = ops.len();
                lane.event(instr, marks, ops, make);
                for op in &mut ops[known..] {
                    if matches!(op.kind, OpKind::Load | OpKind::Store) {
                        op.after = lane.data.back(after);
                    }
                    if op.kind == OpKind::Load {
                        lane.data.loaded(at);
                    }
                }
            });
        }
        lane.data.end(&flow.behind);
    }

    #[inline]
    fn expand(&mut self, before: u64, block: &Block, values: &[u64], executed: u32) {
        let lane = &mut *self.lane;
        let events = block.refs.len() as u64;
        let whole = lane.has_no_mark_within(events)
            && executed == block.instrs
            && (self.plans).append(
                block.id,
                lane.instr(before),
                values,
                self.depends.then_some(&mut lane.data),
                self.ops,
            );
        if !whole {
            self.each(before, block, values, executed);
        } else if let Some(last) = self.ops.last().filter(|_| events > 0) {
            lane.passed(events, last.instr);
        }
    }
}

impl ExecSink for Expander<'_> {
    #[inline]
    fn exec(&mut self, before: u64, block: &Block, values: &[u64], executed: u32) {
        if self.callers.is_empty() && self.stored.is_none() {
            return self.expand(before, block, values, executed);
        }
        let known = self.ops.len();
        if !self.callers.is_empty() {
            self.path.enter(block);
        }
        self.expand(before, block, values, executed);
        if !self.callers.is_empty() {
            self.path.rename(self.callers, &mut self.ops[known..]);
        }
        if let Some(stored) = &mut self.stored {
            let (xsave, space, ops) = (self.table.xsave(), self.lane.space, &self.ops[known..]);
            stored.exec(xsave, space, block, values, executed, ops);
        }
    }

    fn special(&mut self, before: u64, special: Special) {
        let make = match special {
            Special::Alloc {
                addr, size, caller, ..
            } => Make::Alloc {
                addr,
                bytes: size,
                site: self.plans.call(caller),
            },
            Special::Free { addr, caller } => Make::Free {
                addr,
                site: self.plans.call(caller),
            },
            Special::Skip { instrs } => return self.lane.gap(instrs),
            _ => return,
        };
        self.lane.event(before, self.marks, self.ops, make);
    }

    fn content(&mut self, _: u64, content: Content<'_>) {
        if let Some(stored) = &mut self.stored {
            stored.content(self.lane.space, &content);
        }
    }

    #[inline]
    fn full(&self) -> bool {
        self.ops.len() >= self.enough && !self.stored.as_ref().is_some_and(|s| s.awaits())
    }
}
