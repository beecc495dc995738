//! What must hold in every interleaving: all buffers arrive whole and in order, none is written
//! before it was given back, and nobody sleeps over something to do.

use loom::model::Builder;
use loom::sync::Arc;
use loom::thread;

use crate::shared::{Control, Ring};
use crate::{client, host};

/// Threads with rings of `slots` buffers hand over so many buffers each. Loom switches away from a
/// thread that could go on at most `preemptions` times; from one that waits, always.
fn check(slots: usize, buffers: &'static [u32], preemptions: usize) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(move || {
        let control = Arc::new(Control::new());
        let rings: Vec<_> = buffers.iter().map(|_| Arc::new(Ring::new(slots))).collect();
        let threads: Vec<_> = rings
            .iter()
            .zip(buffers)
            .map(|(ring, buffers)| {
                let (control, ring) = (Arc::clone(&control), Arc::clone(ring));
                thread::spawn(move || client::run(&control, &ring, *buffers))
            })
            .collect();
        let rings: Vec<_> = rings.iter().map(|ring| &**ring).collect();
        let taken = host::run(&control, &rings);
        for (taken, buffers) in taken.iter().zip(buffers) {
            assert!(taken.iter().copied().eq(1..=*buffers), "{taken:?}");
        }
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

#[test]
fn a_ring_of_one_buffer_makes_both_sides_wait() {
    check(1, &[3], 3);
}

#[test]
fn a_ring_of_two_buffers_goes_round() {
    check(2, &[3], 2);
}

#[test]
fn two_threads_ring_one_doorbell() {
    check(2, &[1, 1], 2);
}
