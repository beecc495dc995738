//! Loops without a reset: what they hold before the first iteration comes from `init` alone, or is zero.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use std::ops::ControlFlow;

use common::{Event, Recorder, survivors_log};
use prestore_crash::{CrashImage, Domain, Survivors};
use prestore_recompute::{
    Array, Arrays, Dependence, Durability, Error, Initial, Kernel, Medium, Memory, Nest, Options,
    Order, Report, Scheme, Session, State,
};

const ROUNDS: usize = 5;
const BLOCKS: usize = 4;
/// Numbers a block.
const BLOCK: usize = 3;
const NUMBERS: usize = BLOCKS * BLOCK;

/// Sums of what is only read and of what is written; every operation is one that cannot be done twice unseen.
#[derive(Clone, Copy)]
struct Sums {
    initial: Initial,
    dependence: Dependence,
}

/// What is only read.
const GIVEN: usize = 0;

impl Sums {
    /// The array that is read besides and the one that is written.
    fn places(&self, outer: usize) -> (usize, usize) {
        match self.dependence {
            Dependence::Carried => (1, 1),
            Dependence::Fresh => (1 + outer % 2, 1 + (outer + 1) % 2),
        }
    }

    fn result(&self) -> usize {
        self.places(ROUNDS - 1).1
    }
}

// SAFETY: a step writes its block of one array, and reads the same block of that or of the other.
unsafe impl Kernel for Sums {
    type Scratch = ();

    fn nest(&self) -> Nest {
        let numbers = || Array::output(NUMBERS, 8, BLOCK, 8);
        let written = match self.dependence {
            Dependence::Carried => vec![numbers()],
            Dependence::Fresh => vec![numbers().in_phase(2, 1), numbers().in_phase(2, 0)],
        };
        Nest {
            name: "sums".to_string(),
            outer: ROUNDS,
            arrays: [vec![Array::input(NUMBERS, 8)], written].concat(),
            dependence: self.dependence,
            order: Order::Together,
        }
    }

    fn initial(&self) -> Initial {
        self.initial
    }

    /// Adds, so that it shows whether it finds zeros.
    fn init<M: Medium>(&self, arrays: &Arrays<'_, M>) {
        let arrays_filled = if self.initial == Initial::Zeros { 1 } else { 2 };
        for array in 0..arrays_filled {
            let numbers = arrays.of::<u64>(array);
            for at in 0..numbers.len() {
                numbers.put(at, numbers.get(at) + 1000 * (array + 1) as u64 + at as u64);
            }
        }
    }

    fn reset<M: Medium>(&self, _: &Arrays<'_, M>, _: usize) {
        panic!("there is no reset");
    }

    fn step<M: Medium>(&self, arrays: &Arrays<'_, M>, (): &mut (), outer: usize, region: usize) {
        let (from, to) = self.places(outer);
        let (given, from, to) = (
            arrays.of::<u64>(GIVEN),
            arrays.of::<u64>(from),
            arrays.of::<u64>(to),
        );
        for at in region * BLOCK..(region + 1) * BLOCK {
            let next = from.get(at).wrapping_mul(6_364_136_223_846_793_005);
            to.put(at, next.wrapping_add(given.get(at) + outer as u64));
        }
    }
}

fn sums(initial: Initial, dependence: Dependence) -> Sums {
    Sums {
        initial,
        dependence,
    }
}

fn alone(scheme: &str) -> Options {
    Options {
        scheme: scheme.parse().unwrap(),
        workers: 1,
    }
}

/// Every loop without a reset, with every scheme that takes it.
fn all() -> Vec<(Sums, Scheme)> {
    let mut all = Vec::new();
    for dependence in [Dependence::Carried, Dependence::Fresh] {
        for initial in [Initial::Init, Initial::Zeros] {
            for scheme in ["none", "CP", "CP2", "CPall2", "CP9", "L", "R", "HRx2"] {
                let scheme: Scheme = scheme.parse().unwrap();
                let hybrid = matches!(scheme, Scheme::Hybrid { .. });
                let anew = hybrid || scheme == Scheme::Recompute;
                let takes = match dependence {
                    Dependence::Carried => !anew || initial == Initial::Zeros,
                    Dependence::Fresh => !hybrid,
                };
                if takes {
                    all.push((sums(initial, dependence), scheme));
                }
            }
        }
    }
    all
}

/// What the loop computes, without this library.
fn expected(kernel: &Sums) -> Vec<u64> {
    let second = usize::from(kernel.initial == Initial::Init);
    (0..NUMBERS as u64)
        .map(|at| {
            (0..ROUNDS as u64).fold(second as u64 * (2000 + at), |sum, outer| {
                sum.wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1000 + at + outer)
            })
        })
        .collect()
}

fn run(kernel: &Sums, medium: impl Medium, options: Options) -> Vec<u64> {
    let mut session = Session::open(kernel, medium, options, "memory").unwrap();
    session.run().unwrap();
    session.read(kernel.result())
}

/// Every image that a cut may leave of what is logged from an event on, adversarial ones and some by chance, until one is
/// wrong; how many were tried, or none if one was wrong.
fn images(
    before: &[u8],
    events: &[Event],
    most: u64,
    mut right: impl FnMut(&CrashImage<'_>) -> bool,
) -> Option<u64> {
    let log = survivors_log(before, events);
    let mut survivors = Survivors::new(&log, Domain::Adr);
    let mut check = |image: &CrashImage<'_>| {
        if right(image) {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    };
    let first = survivors.systematic(most, &mut check);
    let second = survivors.random(most, 1, &mut check);
    (first.stopped.is_none() && second.stopped.is_none()).then_some(first.images + second.images)
}

fn needs(kernel: &Sums, options: Options) -> usize {
    Session::<Sums, Memory>::needs(kernel, options).unwrap()
}

/// A run on what is there: what happened, and the result.
fn logged(kernel: &Sums, options: Options, before: &[u8]) -> (Vec<Event>, Vec<u64>) {
    let recorder = Recorder::on(Memory::of(before));
    let result = run(kernel, &recorder, options);
    (recorder.into_events(), result)
}

#[test]
fn from_every_crash_image() {
    let mut tried = 0;
    for (kernel, scheme) in all() {
        for workers in [1, 2] {
            let options = Options { scheme, workers };
            let blank = vec![0; needs(&kernel, options)];
            let (events, result) = logged(&kernel, options, &blank);
            assert_eq!(result, expected(&kernel), "{scheme}");
            let mut memory = Memory::new(blank.len());
            let mut again = Vec::new();
            let mut right = |image: &CrashImage<'_>| {
                memory.fill(image.bytes());
                run(&kernel, &memory, options) == expected(&kernel)
            };
            let first = images(&blank, &events, 800, |image| {
                if image.number().is_multiple_of(100) {
                    again.push(image.bytes().to_vec());
                }
                right(image)
            });
            tried += first.unwrap_or_else(|| panic!("{scheme}, {workers} workers: wrong"));
            // The power fails again while the loop recovers.
            for before in again {
                let (events, result) = logged(&kernel, options, &before);
                assert_eq!(result, expected(&kernel), "{scheme}");
                let second = images(&before, &events, 100, &mut right);
                tried += second.unwrap_or_else(|| {
                    panic!("{scheme}, {workers} workers: wrong after a second cut")
                });
            }
        }
    }
    println!("{tried} images, none wrong");
}

/// The images see a recovery that does not make durable what `init` filled in, before a checkpoint says that it is.
#[test]
fn a_missing_flush_is_caught() {
    let kernel = sums(Initial::Init, Dependence::Carried);
    let options = alone("CP");
    let mut begun = Memory::new(needs(&kernel, options));
    drop(Session::open(&kernel, &begun, options, "memory").unwrap());
    // What a crash in the first iterations leaves.
    let before = bytes_of(&mut begun);
    let (events, _) = logged(&kernel, options, &before);
    let mut memory = Memory::new(before.len());
    let mut right = |image: &CrashImage<'_>| {
        memory.fill(image.bytes());
        run(&kernel, &memory, options) == expected(&kernel)
    };
    assert!(images(&before, &events, 2000, &mut right).is_some());
    let first_flush = events
        .iter()
        .position(|event| matches!(event, Event::Flush { .. }))
        .unwrap();
    let mut broken = events;
    broken.remove(first_flush);
    assert!(images(&before, &broken, 2000, &mut right).is_none());
}

fn bytes_of(memory: &mut Memory) -> Vec<u8> {
    let mut bytes = vec![0; memory.len()];
    // SAFETY: the memory is that long, and nobody else has it.
    unsafe {
        memory
            .base()
            .copy_to_nonoverlapping(bytes.as_mut_ptr(), bytes.len());
    }
    bytes
}

#[test]
fn started_again_and_again() {
    let folder = tempfile::tempdir().unwrap();
    for (number, (kernel, scheme)) in all().into_iter().enumerate() {
        let path = folder.path().join(number.to_string());
        let options = Options { scheme, workers: 2 };
        for start in 0..4 {
            let mut session = Session::on_file(&kernel, &path, options, Durability::Flush).unwrap();
            for _ in 0..2 {
                session.run().unwrap();
                assert_eq!(
                    session.read::<u64>(kernel.result()),
                    expected(&kernel),
                    "{scheme}, start {start}"
                );
            }
        }
    }
}

/// There is nothing to bring back, so that nothing is written over.
#[test]
fn a_first_run_goes_on_from_what_is_there() {
    for (kernel, scheme) in all() {
        let options = Options { scheme, workers: 2 };
        let memory = Memory::new(needs(&kernel, options));
        let mut session = Session::open(&kernel, memory, options, "memory").unwrap();
        let first = session.address(1).cast::<u64>();
        // SAFETY: the array has that many, and nobody runs the loop yet.
        let numbers = unsafe { std::slice::from_raw_parts_mut(first, NUMBERS) };
        numbers.iter_mut().for_each(|number| *number += 5);
        session.run().unwrap();
        let factor = (0..ROUNDS).fold(5_u64, |factor, _| {
            factor.wrapping_mul(6_364_136_223_846_793_005)
        });
        let moved = expected(&kernel)
            .into_iter()
            .map(|sum| sum.wrapping_add(factor));
        assert!(
            session.read::<u64>(kernel.result()) == moved.collect::<Vec<_>>(),
            "{scheme}"
        );
    }
}

/// `none` says nothing of a result that nobody made durable: the loop is done again.
#[test]
fn without_a_scheme_a_finished_loop_begins_again() {
    let kernel = sums(Initial::Init, Dependence::Fresh);
    let options = alone("none");
    let memory = Memory::new(needs(&kernel, options));
    let report = Report {
        steps: (ROUNDS * BLOCKS) as u64,
        ..Report::default()
    };
    for state in [State::New, State::Begun, State::Begun] {
        let mut session = Session::open(&kernel, &memory, options, "memory").unwrap();
        assert_eq!(session.state(), state);
        assert_eq!(session.run().unwrap(), report);
    }
}

#[test]
fn what_cannot_be_computed_anew_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("loop");
    let with = |initial| sums(initial, Dependence::Carried);
    for scheme in ["R", "HRx2"] {
        let options = alone(scheme);
        let refused = || {
            let kernel = with(Initial::Init);
            let Err(error) = Session::on_file(&kernel, &path, options, Durability::Flush) else {
                panic!("{scheme} was taken");
            };
            assert!(matches!(error, Error::Description { .. }), "{error}");
            assert!(error.to_string().contains("write a reset"), "{error}");
        };
        refused();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        // Nor is one gone on with that was begun with a reset.
        let zeros = with(Initial::Zeros);
        drop(Session::on_file(&zeros, &path, options, Durability::Flush).unwrap());
        let before = std::fs::read(&path).unwrap();
        refused();
        assert!(std::fs::read(&path).unwrap() == before);
        std::fs::remove_file(&path).unwrap();
    }
}
