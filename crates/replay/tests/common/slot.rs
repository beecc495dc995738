//! Threads that hand messages over to each other through a flag.

use super::made_up::time;
use super::{ATOMIC, LOAD, PlainBlock, Process, REGION_BEGIN, STORE, exec, stamp};

pub const FLAG: u64 = 0x9000;
pub const POLL: u32 = 64;
pub const PUBLISH: u32 = 65;
pub const FREE: u32 = 66;
pub const DATA_STORE: u32 = 67;
pub const DATA_LOAD: u32 = 68;
pub const LOCK: u32 = 69;
pub const PLAIN_SET: u32 = 70;
pub const MARK: u32 = 71;

pub fn process(threads: Vec<Vec<u64>>) -> Process {
    let blocks: &[PlainBlock<'_>] = &[
        (POLL, 1, &[(LOAD, 0)]),
        (PUBLISH, 1, &[(ATOMIC, 0)]),
        (FREE, 1, &[(ATOMIC, 0)]),
        (DATA_STORE, 1, &[(STORE, 0)]),
        (DATA_LOAD, 1, &[(LOAD, 0)]),
        (LOCK, 1, &[(ATOMIC, 0)]),
        (PLAIN_SET, 1, &[(STORE, 0)]),
        (MARK, 1, &[(REGION_BEGIN, 0)]),
    ];
    Process::new(blocks, threads)
}

/// `parts`, behind the time stamp that every buffer has.
pub fn words(start: u64, parts: &[Vec<u64>]) -> Vec<u64> {
    let mut words = time(start);
    words.extend(parts.concat());
    words
}

pub fn at_flag(block: u32) -> Vec<u64> {
    exec(block, &[FLAG])
}

/// A producer and a consumer of `messages` messages through one slot, the `k`-th from tick 100 k
/// on; the consumer polls `polls` times for each.
pub fn one_slot(messages: u64, polls: usize) -> Vec<Vec<u64>> {
    let producer = (0..messages).flat_map(|k| {
        let make = exec(DATA_STORE, &[0x5000 + 8 * k]);
        [at_flag(POLL), make, stamp(1000 + 100 * k), at_flag(PUBLISH)]
    });
    let consumer = (0..messages).flat_map(|k| {
        let mut one = vec![at_flag(POLL); polls];
        one.push(exec(DATA_LOAD, &[0x5000 + 8 * k]));
        one.extend([stamp(1050 + 100 * k), at_flag(FREE)]);
        one
    });
    vec![
        words(10, &producer.collect::<Vec<_>>()),
        words(20, &consumer.collect::<Vec<_>>()),
    ]
}
