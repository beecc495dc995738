//! The host, as the tracer's pump and its `RingReader` go about it.

use std::time::Duration;

use loom::sync::atomic::Ordering;

use crate::shared::{Control, Ring};

/// Reads the oldest buffer, if there is one, and gives it back zeroed.
fn take(ring: &Ring) -> Option<u32> {
    let consumer = ring.consumer();
    if consumer.pending() == 0 {
        return None;
    }
    let slot = ring.slot(consumer.oldest());
    let used = slot.used.load(Ordering::Relaxed);
    // SAFETY: loom checks that nobody writes the words meanwhile.
    let words = slot.words.with(|words| unsafe { *words });
    // SAFETY: loom checks that nobody else accesses the words meanwhile.
    slot.words.with_mut(|words| unsafe { *words = 0 });
    consumer.give_back();
    assert_eq!(used, words, "the length belongs to the words");
    Some(words)
}

/// Takes buffers until all threads have ended, and sleeps in between: what came from each ring.
pub(crate) fn run(control: &Control, rings: &[&Ring]) -> Vec<Vec<u32>> {
    let mut taken = vec![Vec::new(); rings.len()];
    loop {
        let heard = control.bell().heard();
        let mut progress = false;
        for (ring, taken) in rings.iter().zip(&mut taken) {
            while let Some(words) = take(ring) {
                taken.push(words);
                progress = true;
            }
        }
        if progress {
            continue;
        }
        // In this order: what was handed over before the end is seen as pending.
        let over = |ring: &&Ring| ring.consumer().ended() && ring.consumer().pending() == 0;
        if rings.iter().all(over) {
            return taken;
        }
        control.bell().sleep(heard, Duration::MAX);
    }
}
