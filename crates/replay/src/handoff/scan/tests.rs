//! What is passed over at once is what would have been passed over one by one.

use std::sync::Arc;

use prestore_trace::block::{Block, BlockEnd, BlockTable, Direction, NO_SLOT, Ref, RefMode};
use prestore_trace::replay::{ExecSink, each_touch};
use prestore_trace::{EventKind, FenceKind, SiteId};
use proptest::prelude::*;

use super::{Blocks, Counts, Done, Item, Scan};
use crate::ProcessMemory;
use crate::handoff::blocks::MOST;
use crate::handoff::places::{Places, Seen};

/// Values of an execution; the last is a count.
const VALUES: u16 = 4;

fn reference() -> impl Strategy<Value = Ref> {
    let kinds = prop_oneof![
        6 => Just(EventKind::Load),
        4 => Just(EventKind::Store),
        1 => Just(EventKind::NtStore),
        1 => Just(EventKind::AtomicRmw),
        1 => Just(EventKind::Fence(FenceKind::Full)),
        1 => Just(EventKind::RegionEnd),
    ];
    let slots = prop_oneof![9 => 0..VALUES - 1, 1 => Just(NO_SLOT)];
    let repeats = RefMode::Rep {
        count: VALUES - 1,
        direction: Direction::Up,
    };
    let modes = prop_oneof![19 => Just(RefMode::Plain), 1 => Just(repeats)];
    (kinds, slots, 0..64u64, modes, 0..40u32).prop_map(|(kind, slot, disp, mode, site)| Ref {
        kind,
        mode,
        instr: 0,
        slot,
        value_slot: NO_SLOT,
        size: 8,
        disp: disp * 8,
        site: SiteId(site),
        frame: false,
        compare: NO_SLOT,
    })
}

/// Each reference is an instruction.
fn block(id: u32, mut refs: Vec<Ref>) -> Block {
    for (instr, r) in (0..).zip(&mut refs) {
        r.instr = instr;
    }
    Block {
        id,
        instrs: refs.len() as u32,
        words: VALUES.into(),
        end: BlockEnd::Jump,
        start_pc: 0,
        next_pc: 0,
        last_site: SiteId::NONE,
        start_site: SiteId::NONE,
        lengths: vec![1; refs.len()].into(),
        code: Box::default(),
        refs: refs.into(),
    }
}

/// All of it, one event after the other.
fn one_by_one(
    seen: &Seen,
    blocks: &[Block],
    ran: &[(usize, Vec<u64>, u32)],
) -> (Vec<Item>, Done, u64) {
    let (mut items, done) = (Vec::new(), Done::default());
    let mut counts = Counts { done, polled: 0 };
    for (at, values, executed) in ran {
        let refs = blocks[at % blocks.len()].refs.iter();
        for r in refs.filter(|r| u32::from(r.instr) < *executed) {
            each_touch(&[], r, values, |addr, _| {
                items.extend(counts.event(seen, r.kind, addr, r.site));
            });
        }
    }
    (items, counts.done, counts.polled)
}

proptest! {
    #[test]
    fn what_is_passed_over_at_once_is_what_is_one_by_one(
        refs in prop::collection::vec(prop::collection::vec(reference(), 1..12), 1..5),
        met in prop::collection::vec(0..4096u64, 0..4),
        ran in prop::collection::vec((0..5usize, prop::collection::vec(0..4096u64, usize::from(VALUES)), 0..40u32), 1..400),
    ) {
        let mut places = Places::default();
        met.iter().for_each(|addr| places.note(addr * 8));
        let seen = places.seen();
        // Some share a place among those that are known.
        let id = |n: u32| n / 2 * MOST as u32 + n % 2;
        let blocks: Vec<Block> = (0..).zip(refs).map(|(n, refs)| block(id(n), refs)).collect();
        let ran: Vec<_> = ran.into_iter().map(|(at, mut values, cut)| {
            values.iter_mut().for_each(|v| *v *= 8);
            values[usize::from(VALUES) - 1] %= 3;
            let all = blocks[at % blocks.len()].instrs;
            (at, values, if cut < all { cut } else { all })
        }).collect();
        let mut known = Blocks::default();
        known.are(&Arc::new(BlockTable::default()));
        let mut scan = Scan {
            blocks: &mut known,
            xsave: &[],
            memory: ProcessMemory::of_all(),
            seen: &seen,
            done: Done::default(),
            polled: 0,
            items: Vec::new(),
        };
        for (at, values, executed) in &ran {
            scan.exec(0, &blocks[at % blocks.len()], values, *executed);
        }
        let expected = one_by_one(&seen, &blocks, &ran);
        prop_assert_eq!((scan.items, scan.done, scan.polled), expected);
    }
}
