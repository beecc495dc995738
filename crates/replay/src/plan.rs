//! What each block's executions become, worked out once.

use prestore_sim::{Op, OpKind};
use prestore_trace::SiteId;
use prestore_trace::block::BlockTable;
use rustc_hash::FxHashMap;

use crate::lane::{has_address, kind_of};
use crate::space::Space;

/// An operation but for where and when.
struct Template {
    /// Its count is that of the instruction in its block, its address the displacement.
    op: Op,
    /// The value that holds its base; beyond all values where it has none.
    slot: usize,
}

/// The blocks and the calls of a process.
pub(crate) struct Plans {
    /// By block id; `None`: not all of its references are one event of a fixed size each.
    blocks: Vec<Option<Box<[Template]>>>,
    /// Where calls return to (and system calls come back), and the site of the call.
    calls: FxHashMap<u64, SiteId>,
}

impl Plans {
    /// Those of the process with `table`, whose addresses lie in `space`.
    pub(crate) fn new(table: &BlockTable, space: Space) -> Self {
        let mut blocks = Vec::new();
        for block in table.iter() {
            let templates = block.refs.iter().map(|r| {
                let kind: OpKind = kind_of(r.kind)?;
                let addressed = has_address(r.kind);
                let op = Op {
                    instr: u64::from(r.instr),
                    addr: if addressed {
                        space.place(r.disp)
                    } else {
                        r.disp
                    },
                    size: r.size,
                    site: r.site,
                    kind,
                };
                let slot = usize::from(r.slot);
                r.is_plain().then_some(Template { op, slot })
            });
            let id = block.id as usize;
            if blocks.len() <= id {
                blocks.resize_with(id + 1, || None);
            }
            blocks[id] = templates.collect();
        }
        let calls = table.iter().map(|b| (b.next_pc, b.last_site));
        Self {
            blocks,
            calls: calls.collect(),
        }
    }

    /// Appends the operations of a whole execution of block `id`, whose first instruction counts
    /// `first`, and answers whether it could.
    #[inline]
    pub(crate) fn append(&self, id: u32, first: u64, values: &[u64], ops: &mut Vec<Op>) -> bool {
        let Some(Some(templates)) = self.blocks.get(id as usize) else {
            return false;
        };
        ops.extend(templates.iter().map(|t| {
            let base = values.get(t.slot).copied().unwrap_or(0);
            Op {
                instr: first.wrapping_add(t.op.instr),
                addr: base.wrapping_add(t.op.addr),
                ..t.op
            }
        }));
        true
    }

    /// The site of the call that returns to `back`.
    pub(crate) fn call(&self, back: u64) -> SiteId {
        self.calls.get(&back).copied().unwrap_or(SiteId::NONE)
    }
}
