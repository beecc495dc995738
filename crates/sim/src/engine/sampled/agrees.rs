//! What functional warming leaves in the caches is what cores would have left there.

use std::convert::Infallible;

use prestore_machine::Machine;
use prestore_trace::{FlushKind, LineAddr, SiteId};

use super::unit::Unit;
use super::warming::Warming;
use crate::core::Core;
use crate::doors::{NoAgents, NoProbe, NoStage};
use crate::engine::chip::Chip;
use crate::engine::run::{Plan, Run};
use crate::engine::thread::Thread;
use crate::mechanism::NoMechanism;
use crate::{Interest, Next, Op, OpKind, Random, Source, Time};

/// Operations of one thread.
struct One(Vec<Op>);

impl Source for One {
    type Error = Infallible;

    fn threads(&self) -> u32 {
        1
    }

    fn fill(&mut self, _: u32, ops: &mut Vec<Op>) -> Result<Next, Infallible> {
        if self.0.is_empty() {
            return Ok(Next::End { instrs: 0 });
        }
        ops.append(&mut self.0);
        Ok(Next::More)
    }
}

/// Bytes of memory that programs touch: some times the largest cache.
const SPAN: u64 = 1 << 20;

/// Loads and stores at random places and in streams, some flushes.
fn program(seed: u64, length: u64) -> Vec<Op> {
    let mut random = Random::new(seed);
    let (mut ops, mut stream) = (Vec::new(), 0);
    for i in 0..length {
        let (addr, kind) = match random.below(100) {
            0..=34 => (random.below(SPAN / 8) * 8, OpKind::Load),
            35..=49 => (random.below(SPAN / 8) * 8, OpKind::Store),
            50..=96 => {
                stream = (stream + 8) % SPAN;
                let kind = match random.below(2) {
                    0 => OpKind::Load,
                    _ => OpKind::Store,
                };
                (stream, kind)
            }
            _ => (stream & !63, OpKind::Flush(FlushKind::Clwb)),
        };
        ops.push(Op {
            instr: 2 * i,
            addr,
            size: if matches!(kind, OpKind::Flush(_)) {
                0
            } else {
                8
            },
            site: SiteId::NONE,
            kind,
            after: 0,
        });
    }
    ops
}

fn chip(machine: &Machine) -> Chip<'static, NoProbe, NoStage, false> {
    Chip::new(machine, 1, &|_| Vec::new(), (NoProbe, NoStage)).expect("a bundled machine")
}

fn in_detail(machine: &Machine, ops: Vec<Op>) -> Chip<'static, NoProbe, NoStage, false> {
    let plan = Plan {
        interest: Interest::All,
        warmup: 0,
        quantum: Time::ZERO,
        lenient: false,
    };
    let (mut source, mut mechanism) = (One(ops), NoMechanism);
    let threads = vec![Thread::new(0, Core::new(0, machine))];
    let parts = (&mut source, &mut mechanism as &mut _, NoAgents);
    let run = Run::unit(
        parts,
        threads,
        (chip(machine), plan),
        Unit::new(0, u64::MAX),
    );
    let Ok((_, _, chip, _)) = run.through_unit(true) else {
        panic!("it cannot fail");
    };
    chip
}

fn warmed(machine: &Machine, ops: &[Op]) -> Chip<'static, NoProbe, NoStage, false> {
    let (mut chip, mut warming) = (chip(machine), Warming::new(machine, 1));
    for batch in ops.chunks(4096) {
        warming.warm(0, batch, &mut chip);
    }
    warming.end(&mut chip);
    chip
}

/// Shares of the lines that either has, by level, that both have with the same bytes dirty.
fn alike(machine: &Machine, seed: u64) -> Vec<f64> {
    let ops = program(seed, 100_000);
    let (warm, detailed) = (warmed(machine, &ops), in_detail(machine, ops));
    let lines = 0..SPAN / machine.line.0;
    let levels = 0..machine.caches.len();
    let share = levels.map(|level| {
        let (mut same, mut all) = (0u64, 0u64);
        for line in lines.clone() {
            let of = |chip: &Chip<'_, NoProbe, NoStage, false>| {
                chip.hierarchy().copy(level, 0, LineAddr(line))
            };
            let (a, b) = (of(&warm), of(&detailed));
            all += u64::from(a.is_some() || b.is_some());
            same += u64::from(a.is_some() && a == b);
        }
        same as f64 / f64::max(all as f64, 1.0)
    });
    share.collect()
}

/// The mean of several programs, by level.
fn mean(name: &str) -> Vec<f64> {
    let machine = Machine::find(name).expect("a bundled machine");
    let each: Vec<Vec<f64>> = (1..=SEEDS).map(|seed| alike(&machine, seed)).collect();
    let levels = 0..machine.caches.len();
    let mean = levels.map(|l| each.iter().map(|e| e[l]).sum::<f64>() / SEEDS as f64);
    let mean: Vec<f64> = mean.collect();
    println!("{name}: {mean:?}");
    mean
}

const SEEDS: u64 = 5;

/// A core lets later loads overtake its stores, and some are pending at the end: the lines that came last differ,
/// which are many of 16 (the nearest level here) and few of a megabyte.
#[test]
fn the_same_lines_are_there_and_dirty_but_for_the_last() {
    for (name, nearest, next) in [
        ("tiny", 0.65, 0.9),
        ("machine-a", 0.8, 0.93),
        ("genoa", 0.8, 0.93),
    ] {
        let shares = mean(name);
        assert!(
            shares[0] > nearest && shares[1] > next,
            "{name}: {shares:?}"
        );
    }
}
