//! Open doors with nobody behind them change nothing.

use prestore_machine::Machine;
use prestore_sim::{
    Agents, Doors, NoMechanism, Op, OpKind, Probe, Results, Simulation, Stage, Step, Then, Time,
    Wakes,
};
use prestore_trace::{DemoteKind, FenceKind, FlushKind};

use crate::program::{Program, Thread};

struct Idle;

impl Probe for Idle {}

impl Stage for Idle {}

impl Agents for Idle {
    fn count(&self) -> u32 {
        0
    }

    fn comes_to(&mut self, _: u32, _: Time, _: &Op, _: &mut Wakes) -> Then {
        Then::Execute
    }

    fn step(&mut self, _: u32, _: Time, _: bool, _: &mut Wakes) -> Step {
        Step::Sleep
    }
}

/// All kinds of operations on shared lines and own ones.
fn mixed(number: u64) -> Thread {
    (0..3000).fold(Thread::default(), |thread, i: u64| {
        let random = (2 * i + number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let addr = (random >> 40) % (1 << 15);
        let line = addr & !63;
        let (kind, addr, size) = match random >> 58 {
            0..24 => (OpKind::Load, addr, 8),
            24..44 => (OpKind::Store, addr, 8),
            44..47 => (OpKind::NtStore, line, 64),
            47..50 => (OpKind::NtStore, addr, 4),
            50..52 => (OpKind::Atomic, line, 8),
            52..55 => (OpKind::Flush(FlushKind::Clwb), addr, 0),
            55..57 => (OpKind::Flush(FlushKind::Clflush), addr, 0),
            57..59 => (OpKind::Fence(FenceKind::Full), 0, 0),
            59..61 => (OpKind::Demote(DemoteKind::Cldemote), addr, 0),
            61 => (OpKind::Store, line, 1024),
            _ => (OpKind::Fence(FenceKind::Store), 0, 0),
        };
        thread.op(kind, addr, size, 0).work(random >> 20 & 7)
    })
}

fn run<P: Probe, S: Stage, A: Agents>(machine: &Machine, doors: Doors<P, S, A>) -> Results {
    let mut program = Program::new([mixed(0), mixed(1)]);
    let simulation = Simulation::new(machine);
    simulation
        .run_with(&mut program, &mut NoMechanism, doors)
        .unwrap()
}

#[test]
fn open_doors_change_no_result() {
    for name in [
        "tiny",
        "machine-a",
        "machine-b-fast",
        "genoa",
        "cxl-ssd",
        "hp-e5620",
    ] {
        let machine = Machine::find(name).unwrap();
        let closed = run(&machine, Doors::closed());
        let open = Doors::closed().probe(Idle).stage(Idle).agents(Idle);
        assert_eq!(run(&machine, open), closed, "{name}");
    }
}
