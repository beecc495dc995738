//! Executions of a block that follow one another are taken in at once, as a row: nothing may be found that is not found one by one.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "tests")]

mod synthetic;

use prestore_trace::record::Special;
use proptest::prelude::*;
use synthetic::Program;

/// Flags and data of few lines, so that threads meet at them.
const HEAP: u64 = 0x7f00_0000_0000;

/// A block is executed over and over, its values going on by these strides.
#[derive(Clone, Debug)]
struct Stream {
    thread: u32,
    block: usize,
    first: [u64; 2],
    strides: [u64; 2],
    times: u64,
}

fn stream() -> impl Strategy<Value = Stream> {
    let stride = || prop_oneof![3 => Just(0u64), 1 => Just(8), 1 => Just(64)];
    let first = [0..4u64, 0..4u64];
    let strides = [stride(), stride()];
    (0..2u32, 0..4usize, first, strides, 1..60u64).prop_map(
        |(thread, block, first, strides, times)| Stream {
            thread,
            block,
            first: first.map(|line| HEAP + line * 64),
            strides,
            times,
        },
    )
}

/// Everything that is found, and how many instructions were waiting. `apart`: what the analysis passes over lies between any two
/// executions, so that none is in a row.
fn found(streams: &[Stream], apart: bool) -> (String, u64) {
    let mut p = Program::default();
    let blocks = [
        p.block(1, 0).load(0, 0, 8).load(1, 0, 8).done(),
        p.block(2, 0).load(0, 0, 8).load(1, 0, 8).compute(90).done(),
        p.block(3, 0).load(0, 0, 8).store(1, 0, 8).done(),
        p.block(4, 0).store(0, 0, 8).store(1, 8, 16).done(),
    ];
    for s in streams {
        for n in 0..s.times {
            let value = |at: usize| s.first[at] + n * s.strides[at];
            p.run(s.thread, blocks[s.block], &[value(0), value(1)]);
            if apart {
                p.special(s.thread, Special::Time { ticks: n });
            }
        }
    }
    let o = p.analyze();
    let waited = o.findings.time.waited;
    let all = (&o.findings, &o.counts, &o.threads);
    (format!("{all:#?}"), waited)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_row_is_its_executions_one_by_one(streams in prop::collection::vec(stream(), 1..24)) {
        prop_assert_eq!(found(&streams, false), found(&streams, true));
    }
}

#[test]
fn a_row_waits_from_its_second_execution_on_and_by_all_of_its_values() {
    let stream = |thread, block, strides, times| Stream {
        thread,
        block,
        first: [HEAP, HEAP + 64],
        strides,
        times,
    };
    let waits = |strides, apart| {
        let rounds = [
            stream(1, 0, strides, 50),
            stream(0, 3, [0, 0], 1),
            stream(1, 0, [0, 0], 1),
        ];
        found(&rounds, apart).1
    };
    for apart in [false, true] {
        // Each round but the first one, of two instructions.
        assert_eq!(waits([0, 0], apart), 2 * 50);
        assert_eq!((waits([8, 0], apart), waits([0, 8], apart)), (0, 0));
    }
}
