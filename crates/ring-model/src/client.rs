//! A transliteration of `tracer/client/ring.h`: the same steps under the same names, in the same
//! order and with the same memory orders. To be changed together with it.

use loom::sync::atomic::{Ordering, fence};

use crate::protocol::Word;
use crate::shared::{Control, Ring};

fn doorbell_ring(control: &Control) {
    control.doorbell.word.fetch_add(1, Ordering::Release);
    fence(Ordering::SeqCst);
    if control.asleep.load(Ordering::Relaxed) != 0 {
        control.doorbell.wake();
    }
}

fn ring_filling(ring: &Ring) -> u32 {
    ring.produced.load(Ordering::Relaxed)
}

fn ring_produce(ring: &Ring, words: u32) {
    let number = ring_filling(ring);
    ring.slot(number).used.store(words, Ordering::Relaxed);
    ring.produced.store(number + 1, Ordering::Release);
}

fn ring_end(ring: &Ring) {
    ring.ended.store(1, Ordering::Release);
}

fn ring_has_room(ring: &Ring) -> bool {
    let consumed = ring.consumed.load(Ordering::Acquire);
    ring_filling(ring) - consumed < ring.slots.len() as u32
}

/// Without a way to give up: the model's host stays.
fn ring_wait_for_room(ring: &Ring) {
    loop {
        ring.waiting.store(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        let consumed = ring.consumed.load(Ordering::Acquire);
        if ring_filling(ring) - consumed < ring.slots.len() as u32 {
            break;
        }
        ring.consumed.wait(consumed, std::time::Duration::MAX);
        if ring_has_room(ring) {
            break;
        }
    }
    ring.waiting.store(0, Ordering::Relaxed);
}

/// What `client/channel.c` makes of it: a thread that fills `buffers` buffers, each with its number
/// plus one, and ends.
pub(crate) fn run(control: &Control, ring: &Ring, buffers: u32) {
    for number in 0..buffers {
        // As `wait_for_slot`: a glance first.
        if number > 0 && !ring_has_room(ring) {
            ring_wait_for_room(ring);
        }
        // SAFETY: loom checks that nobody else accesses the words meanwhile.
        ring.slot(number).words.with_mut(|words| unsafe {
            assert_eq!(*words, 0, "buffers come back zeroed");
            *words = number + 1;
        });
        ring_produce(ring, number + 1);
        doorbell_ring(control);
    }
    ring_end(ring);
    doorbell_ring(control);
}
