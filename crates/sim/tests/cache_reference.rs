//! The fast hierarchy and the plain one agree exactly, on any machine and any sequence of operations.

#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "cache/machine.rs"]
mod machine;
#[path = "cache/memory.rs"]
mod memory;
mod reference;
mod shapes;

use memory::Log;
use prestore_machine::Machine;
use prestore_sim::{Below, ByteMask, Flushed, Hierarchy, Served, Time};
use prestore_trace::{FlushKind, LineAddr};
use proptest::prelude::*;
use reference::{Reference, Want};

/// One call from above.
#[derive(Clone, Copy, Debug)]
enum Call {
    Load,
    Own {
        whole: bool,
    },
    /// As a core stores: owned or not, then written.
    Store(ByteMask),
    Write(ByteMask),
    WriteAround(ByteMask),
    WriteThrough(ByteMask),
    LoadAround,
    Flush(FlushKind, bool),
    Demote,
}

/// A call, by whom, how long after the one before, of which line.
type Step = (Call, u32, i64, u64);

#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Served(Served),
    Done(Time),
    Flushed(Flushed),
}

impl Answer {
    /// When a load is granted means nothing.
    fn loaded(served: Served) -> Self {
        Self::Served(Served {
            granted: served.done,
            ..served
        })
    }
}

fn fast(caches: &mut Hierarchy<Log>, core: u32, at: Time, line: LineAddr, call: Call) -> Answer {
    match call {
        Call::Load => Answer::loaded(caches.load(core, at, line)),
        Call::Own { whole } => Answer::Served(caches.own(core, at, line, whole)),
        Call::Store(bytes) => {
            let at = if caches.owned(core, line) {
                at
            } else {
                caches.own(core, at, line, false).done
            };
            Answer::Done(caches.write(core, at, line, bytes, &[]))
        }
        Call::Write(bytes) => Answer::Done(caches.write(core, at, line, bytes, &[])),
        Call::WriteAround(bytes) => Answer::Done(caches.write_around(core, at, line, bytes, &[])),
        Call::WriteThrough(bytes) => Answer::Done(caches.write_through(core, at, line, bytes, &[])),
        Call::LoadAround => Answer::loaded(caches.load_around(core, at, line)),
        Call::Flush(kind, retain) => Answer::Flushed(caches.flush(core, at, line, kind, retain)),
        Call::Demote => Answer::Done(caches.demote(core, at, line)),
    }
}

fn plain(caches: &mut Reference<Log>, core: u32, at: Time, line: u64, call: Call) -> Answer {
    match call {
        Call::Load => Answer::loaded(caches.request(core, at, line, Want::Read)),
        Call::Own { whole } => Answer::Served(caches.request(core, at, line, Want::Own { whole })),
        Call::Store(bytes) => {
            let at = if caches.owned(core, line) {
                at
            } else {
                let want = Want::Own { whole: false };
                caches.request(core, at, line, want).done
            };
            Answer::Done(caches.write(core, at, line, bytes))
        }
        Call::Write(bytes) => Answer::Done(caches.write(core, at, line, bytes)),
        Call::WriteAround(bytes) => Answer::Done(caches.write_around(core, at, line, bytes)),
        Call::WriteThrough(bytes) => Answer::Done(caches.write_through(core, at, line, bytes)),
        Call::LoadAround => Answer::loaded(caches.load_around(core, at, line)),
        Call::Flush(kind, retain) => Answer::Flushed(caches.flush(core, at, line, kind, retain)),
        Call::Demote => Answer::Done(caches.demote(core, at, line)),
    }
}

fn agree(machine: &Machine, seed: u64, steps: &[Step]) -> Result<(), TestCaseError> {
    let mut fast_one = Hierarchy::new(machine, Log::default(), seed).unwrap();
    let mut plain_one = Reference::new(machine, Log::default(), seed);
    let bytes = ByteMask::MAX >> (128 - machine.line.0);
    let mut now = 1_000_000_i64;
    for (number, &(call, core, later, line)) in steps.iter().enumerate() {
        let call = match call {
            Call::Store(mask) => Call::Store(mask & bytes | 1),
            Call::Write(mask) => Call::Write(mask & bytes | 1),
            Call::WriteAround(mask) => Call::WriteAround(mask & bytes | 1),
            Call::WriteThrough(mask) => Call::WriteThrough(mask & bytes | 1),
            call => call,
        };
        now = (now + later).max(0);
        let core = core % machine.core.count;
        let at = Time(now as u64);
        let ours = fast(&mut fast_one, core, at, LineAddr(line), call);
        let theirs = plain(&mut plain_one, core, at, line, call);
        prop_assert_eq!(ours, theirs, "step {} {:?} of line {}", number, call, line);
        let (ours, theirs) = (fast_one.memory(), &plain_one.memory);
        prop_assert_eq!(ours, theirs, "step {} {:?} of line {}", number, call, line);
        let (ours, theirs) = (fast_one.counters(), &plain_one.counters);
        prop_assert_eq!(ours, theirs, "step {} {:?} of line {}", number, call, line);
    }
    Ok(())
}

fn masks() -> impl Strategy<Value = ByteMask> {
    prop_oneof![
        Just(ByteMask::MAX),
        Just(u128::from(u64::MAX)),
        (0..120u32).prop_map(|byte| 0xFF << byte),
    ]
}

fn calls() -> impl Strategy<Value = Call> {
    let flush = prop_oneof![
        Just(FlushKind::Clflush),
        Just(FlushKind::Clflushopt),
        Just(FlushKind::Clwb),
        Just(FlushKind::DcCivac),
        Just(FlushKind::DcCvac),
    ];
    prop_oneof![
        8 => Just(Call::Load),
        2 => any::<bool>().prop_map(|whole| Call::Own { whole }),
        6 => masks().prop_map(Call::Store),
        1 => masks().prop_map(Call::Write),
        1 => masks().prop_map(Call::WriteAround),
        1 => masks().prop_map(Call::WriteThrough),
        1 => Just(Call::LoadAround),
        1 => (flush, any::<bool>()).prop_map(|(kind, retain)| Call::Flush(kind, retain)),
        1 => Just(Call::Demote),
    ]
}

/// Lines on both sides of a page's end, so that prefetchers meet it; and some far away, in more pages than prefetchers
/// follow and in other regions of the slices' hashes.
fn lines() -> impl Strategy<Value = u64> {
    let far = (13..34u64, 50..58u64).prop_map(|(region, line)| (1 << region) + line);
    prop_oneof![7 => 50..82u64, 1 => far]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (calls(), 0..4u32, -3_000..90_000i64, lines());
    prop::collection::vec(step, 1..200)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn the_fast_caches_agree_with_the_plain_ones(
        machine in shapes::machines(),
        seed in any::<u64>(),
        steps in steps(),
    ) {
        agree(&machine, seed, &steps)?;
    }
}
