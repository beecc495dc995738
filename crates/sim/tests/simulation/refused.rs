//! What is not simulated, and what is said then.

use prestore_sim::{NoMechanism, Simulation, SimulationError};

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
