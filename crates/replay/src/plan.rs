//! What each block's executions become, worked out once.

use prestore_sim::{Op, OpKind};
use prestore_trace::block::{Block, BlockTable};
use prestore_trace::{EventKind, SiteId};
use rustc_hash::FxHashMap;

use crate::dataflow::{Carried, Decoder, Flow, From};
use crate::lane::{has_address, kind_of};
use crate::space::Space;

/// An operation but for where and when.
struct Template {
    /// Its count is that of the instruction in its block, its address the displacement.
    op: Op,
    /// The value that holds its base; beyond all values where it has none.
    slot: usize,
}

/// A block whose references are one event of a fixed size each.
struct Fixed {
    templates: Box<[Template]>,
    /// Of those that wait for what registers held before the block: which, those registers, and the loads of the block
    /// that come before.
    carried: Box<[(u16, u64, u16)]>,
    /// How many of the block's loads come before each reference, and how many it has.
    loads: Box<[u16]>,
}

/// The blocks and the calls of a process.
pub(crate) struct Plans {
    /// By block id; `None`: not all of its references are fixed.
    blocks: Vec<Option<Fixed>>,
    /// By block id.
    flows: Vec<Flow>,
    /// Where calls return to (and system calls come back), and the site of the call.
    calls: FxHashMap<u64, SiteId>,
}

impl Plans {
    /// Those of the process with `table`, whose addresses lie in `space`; with `dependences`: what loads wait for, too.
    pub(crate) fn new(table: &BlockTable, space: Space, dependences: bool) -> Self {
        let mut blocks = Vec::new();
        let mut flows = Vec::new();
        let mut decoder = Decoder::default();
        for block in table.iter() {
            let flow = if dependences {
                Flow::of(block, &mut decoder)
            } else {
                Flow::default()
            };
            let loads = loads_before(block);
            let templates = block.refs.iter().enumerate().map(|(at, r)| {
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
                    after: match flow.after.get(at) {
                        Some(From::Here(load)) => loads[at] - loads[usize::from(*load)],
                        _ => 0,
                    },
                };
                let slot = usize::from(r.slot);
                r.is_plain().then_some(Template { op, slot })
            });
            let id = block.id as usize;
            if blocks.len() <= id {
                blocks.resize_with(id + 1, || None);
                flows.resize_with(id + 1, Flow::default);
            }
            let templates: Option<Box<[Template]>> = templates.collect();
            blocks[id] = templates.map(|templates| Fixed {
                templates,
                carried: carried(&flow, &loads),
                loads,
            });
            flows[id] = flow;
        }
        let calls = table.iter().map(|b| (b.next_pc, b.last_site));
        Self {
            blocks,
            flows,
            calls: calls.collect(),
        }
    }

    /// Appends the operations of a whole execution of block `id`, whose first instruction counts
    /// `first`, and answers whether it could. Without `data` operations wait for loads of the same block alone.
    #[inline]
    pub(crate) fn append(
        &self,
        id: u32,
        first: u64,
        values: &[u64],
        data: Option<&mut Carried>,
        ops: &mut Vec<Op>,
    ) -> bool {
        let Some(Some(block)) = self.blocks.get(id as usize) else {
            return false;
        };
        let known = ops.len();
        let Fixed {
            templates, loads, ..
        } = block;
        ops.extend(templates.iter().map(|t| {
            let base = values.get(t.slot).copied().unwrap_or(0);
            Op {
                instr: first.wrapping_add(t.op.instr),
                addr: base.wrapping_add(t.op.addr),
                ..t.op
            }
        }));
        let Some(data) = data else {
            return true;
        };
        for &(at, registers, ahead) in &block.carried {
            if let Some(op) = ops.get_mut(known + usize::from(at)) {
                op.after = data.back_to(registers, ahead);
            }
        }
        let count = loads.last().copied().unwrap_or(0);
        let flow = &self.flows[id as usize];
        data.pass(&flow.behind, u64::from(count), |at| {
            loads.get(usize::from(at)).copied().map_or(0, u64::from)
        });
        true
    }

    /// How loaded values pass through block `id`.
    pub(crate) fn flow(&self, id: u32) -> &Flow {
        self.flows.get(id as usize).unwrap_or(Flow::none())
    }

    /// The site of the call that returns to `back`.
    pub(crate) fn call(&self, back: u64) -> SiteId {
        self.calls.get(&back).copied().unwrap_or(SiteId::NONE)
    }
}

/// How many of the block's loads come before each of its references, and how many it has.
fn loads_before(block: &Block) -> Box<[u16]> {
    let counts = block.refs.iter().scan(0u16, |loads, r| {
        let before = *loads;
        *loads += u16::from(r.kind == EventKind::Load);
        Some(before)
    });
    let total = block.refs.iter().filter(|r| r.kind == EventKind::Load);
    counts.chain([total.count() as u16]).collect()
}

/// The references that wait for what registers held before the block.
fn carried(flow: &Flow, loads: &[u16]) -> Box<[(u16, u64, u16)]> {
    let each = (0u16..).zip(flow.after.iter().zip(loads));
    let carried = each.filter_map(|(at, (after, loads))| match after {
        From::Before(registers) => Some((at, *registers, *loads)),
        _ => None,
    });
    carried.collect()
}
