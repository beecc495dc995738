//! What is not simulated, and what is said then.

use prestore_sim::{NoMechanism, OpKind, Simulation, SimulationError};

use crate::source::{Program, read_lines, tiny};

#[test]
fn more_threads_than_cores_are_refused() {
    let machine = tiny(&[]);
    let error = Simulation::new(&machine)
        .run(&mut Program::new(3, read_lines(1)), &mut NoMechanism)
        .unwrap_err();
    let SimulationError::TooManyThreads { threads, cores, .. } = error else {
        panic!("{error}");
    };
    assert_eq!((threads, cores), (3, 2));
    let text = error.to_string();
    assert!(text.contains("--set core.count=3"), "{text}");
}

#[test]
fn nothing_is_refused() {
    let machine = tiny(&[]);
    let error = Simulation::new(&machine)
        .run(&mut Program::new(0, read_lines(1)), &mut NoMechanism)
        .unwrap_err();
    assert!(matches!(error, SimulationError::NoThreads), "{error}");
}

#[test]
fn more_memory_than_there_is_is_refused_with_what_fits_where() {
    let machine = tiny(&["memories.dram.capacity=\"1 MiB\""]);
    let allocating = |bytes: u32| {
        let alloc = OpKind::Alloc { size_high: 0 };
        let mut program = Program::new(1, move |_, i| (i < 2).then_some((alloc, i << 30, bytes)));
        Simulation::new(&machine).run(&mut program, &mut NoMechanism)
    };
    assert!(allocating(512 << 10).is_ok());
    let error = allocating(768 << 10).unwrap_err().to_string();
    for part in [
        "more than tiny has",
        "1572864 in dram (1048576 B)",
        "--set memories.dram.capacity=",
    ] {
        assert!(error.contains(part), "{error}");
    }
}
