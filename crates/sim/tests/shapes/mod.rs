//! Machines of every policy, inclusion and shape, small enough that everything happens soon.

use prestore_machine::quantity::{Cycles, Share, Size};
use prestore_machine::{
    CacheLevel, Directory, DirectoryHome, Inclusion, Machine, Prefetch, Replacement, Scope,
    SliceHash, SnoopFilter, WritePolicy,
};
use proptest::prelude::*;

use crate::machine::{level, machine};

fn replacement() -> impl Strategy<Value = Replacement> {
    let qlru =
        (0..3u8, 0..4u8, prop_oneof![Just(0.0), Just(0.3)]).prop_map(|(hit, insert, distant)| {
            Replacement::Qlru {
                hit,
                insert,
                distant: Share(distant),
            }
        });
    prop_oneof![
        2 => Just(Replacement::Lru),
        1 => Just(Replacement::TreePlru),
        2 => qlru,
        1 => Just(Replacement::Random),
        1 => Just(Replacement::Nru),
    ]
}

fn inclusion() -> impl Strategy<Value = Inclusion> {
    prop_oneof![
        Just(Inclusion::Inclusive),
        Just(Inclusion::NonInclusive),
        Just(Inclusion::NonInclusiveVictim),
        Just(Inclusion::Exclusive),
    ]
}

fn levels() -> impl Strategy<Value = CacheLevel> {
    (
        (1..5u64, 1..4u32, 1..5u32),
        (
            replacement(),
            inclusion(),
            prop_oneof![
                2 => Just(SliceHash::None),
                1 => Just(SliceHash::XorFold),
                1 => Just(SliceHash::RegionFold),
            ],
            prop::bool::weighted(0.2),
        ),
        prop::option::weighted(0.3, 1..4u32),
    )
        .prop_map(
            |((sets, slices, ways), (replacement, inclusion, hash, through), mshrs)| {
                let ways = match replacement {
                    Replacement::TreePlru => ways.next_power_of_two(),
                    _ => ways,
                };
                CacheLevel {
                    size: Size(sets * u64::from(slices) * u64::from(ways)),
                    replacement,
                    hash,
                    slices,
                    write: if through {
                        WritePolicy::Through
                    } else {
                        WritePolicy::Back
                    },
                    mshrs,
                    ..level(Scope::Shared, inclusion, 1, ways, 0)
                }
            },
        )
}

fn directory() -> impl Strategy<Value = Directory> {
    let filter = (1..4u64, 1..5u32).prop_map(|(sets, ways)| SnoopFilter {
        entries: sets * u64::from(ways),
        ways,
    });
    (any::<bool>(), prop::option::weighted(0.4, filter)).prop_map(|(device, filter)| Directory {
        home: if device {
            DirectoryHome::Device { upgrade: None }
        } else {
            DirectoryHome::OnChip
        },
        snoop: Cycles(60.0),
        filter,
    })
}

fn prefetch() -> impl Strategy<Value = Prefetch> {
    let on = (any::<bool>(), 0..3u32, 0..5u32, 0..3u32).prop_map(
        |(next_line, streams, degree, step)| Prefetch {
            next_line,
            stride_streams: streams,
            stride_degree: degree,
            stride_step: step,
        },
    );
    prop_oneof![2 => Just(Prefetch::default()), 1 => on]
}

/// Any machine whose caches can be built.
pub fn machines() -> impl Strategy<Value = Machine> {
    (
        1..5u32,
        prop::collection::vec(levels(), 1..4),
        0..4usize,
        prop_oneof![3 => Just(64u64), 1 => Just(128), 1 => Just(32)],
        directory(),
        prefetch(),
        any::<(bool, bool, bool)>(),
    )
        .prop_map(
            |(
                cores,
                mut caches,
                privates,
                line,
                directory,
                prefetch,
                (to_shared, when_granted, asks),
            )| {
                let last = caches.len() - 1;
                caches[last].write = WritePolicy::Back;
                let mut through = false;
                for (number, level) in caches.iter_mut().enumerate() {
                    level.name = format!("level {number}");
                    level.latency = Cycles([4.0, 14.0, 40.0][number]);
                    level.size = Size(level.size.0 * line);
                    if number < privates {
                        level.scope = Scope::Private;
                    }
                    if through && level.inclusion == Inclusion::Exclusive {
                        level.inclusion = Inclusion::NonInclusiveVictim;
                    }
                    through |= level.write == WritePolicy::Through;
                }
                let mut machine = machine(cores, caches);
                machine.line = Size(line);
                machine.directory = directory;
                machine.core.prefetch = prefetch;
                machine.core.clwb_to_shared = to_shared;
                machine.core.flushes_ask_memory = asks;
                machine.core.store_buffer.leaves_when_granted = when_granted;
                machine
            },
        )
}
