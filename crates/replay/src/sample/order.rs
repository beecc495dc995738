//! Where cores wait for each other, by their operations.

use prestore_trace::container::StoredBlock;
use rustc_hash::FxHashMap;

use super::cut::Wait;
use super::index::LeftOut;
use crate::marks::{Mark, Marks};

/// Where a hand-off is published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Published {
    pub core: usize,
    /// Which of the core's threads, and events of it before.
    pub thread: usize,
    pub events: u64,
    /// Operations of the core before.
    pub ops: u64,
}

/// What cores wait for and publish.
#[derive(Debug, Default)]
pub(super) struct Order {
    pub waits: Vec<Wait>,
    /// By hand-off.
    pub published: FxHashMap<u32, Published>,
}

impl Order {
    /// Adds thread number `thread` of `core`, which has done `before` operations before it.
    pub fn add<'a>(
        &mut self,
        (core, thread): (usize, usize),
        before: u64,
        (blocks, marks): (impl Iterator<Item = &'a StoredBlock>, &Marks),
    ) {
        let mut left = LeftOut::new(marks);
        let events_of = |block: &StoredBlock| block.counts.iter().map(|(_, n)| n).sum::<u64>();
        let mut blocks = blocks.peekable();
        // Those of the blocks that are passed.
        let (mut passed, mut lines) = (0, 0);
        for (events, mark) in marks.iter() {
            while let Some(block) = blocks.next_if(|block| passed + events_of(block) <= events) {
                passed += events_of(block);
                lines += block.further_lines;
            }
            // Within a stored block long accesses are taken to lie evenly, as time is.
            let within = blocks.peek().map_or(0, |block| {
                u128::from(block.further_lines) * u128::from(events - passed)
                    / u128::from(events_of(block).max(1))
            });
            let ops = before + lines + within as u64 + events - left.by(events);
            match mark {
                Mark::HandOff(number) => {
                    let published = Published {
                        core,
                        thread,
                        events,
                        ops,
                    };
                    self.published.insert(number, published);
                }
                Mark::Await(number) => self.waits.push(Wait { core, ops, number }),
                _ => {}
            }
        }
    }
}
