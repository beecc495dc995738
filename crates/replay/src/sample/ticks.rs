//! Operations of a unit, with ticks among them.

use prestore_sim::{Op, OpKind, TICK};
use prestore_trace::SiteId;

use super::pieces::weight;

/// Keeps what `wanted` says of what stands from `from` on.
pub(super) fn retain_from(ops: &mut Vec<Op>, from: usize, wanted: impl Fn(&Op) -> bool) {
    let mut at = 0;
    ops.retain(|op| {
        at += 1;
        at <= from || wanted(op)
    });
}

/// Puts `ticks` ticks between what stands from `from` on, evenly.
pub(super) fn spread(ops: &mut Vec<Op>, from: usize, ticks: u64) {
    let fresh = ops.split_off(from);
    let count: u64 = fresh.iter().map(weight).sum();
    let (mut given, mut passed) = (0, 0);
    for op in fresh {
        let (instr, site) = (op.instr, SiteId::NONE);
        passed += weight(&op);
        ops.push(op);
        while given < ticks * passed / count.max(1) {
            given += 1;
            ops.push(Op {
                instr,
                addr: TICK,
                // Whatever a mechanism makes of its count.
                size: instr as u32,
                site,
                kind: OpKind::RegionBegin,
                after: 0,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_lie_evenly_and_none_is_lost() {
        let op = |addr| Op {
            instr: addr,
            addr,
            size: 8,
            site: SiteId::NONE,
            kind: OpKind::Load,
            after: 0,
        };
        let mut ops: Vec<Op> = (0..10).map(op).collect();
        spread(&mut ops, 4, 3);
        let addrs: Vec<u64> = ops.iter().map(|o| o.addr).collect();
        let t = TICK;
        assert_eq!(addrs, [0, 1, 2, 3, 4, 5, t, 6, 7, t, 8, 9, t]);
        assert_eq!(ops[6].instr, 5, "a tick shares its neighbour's count");
        retain_from(&mut ops, 5, |op| op.addr != TICK);
        assert_eq!(ops.len(), 10);
    }
}
