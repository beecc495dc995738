//! What fences and atomics cost.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::Effort;
use crate::arch::{FENCES, full_fence, store};
use crate::buffer::Buffer;
use crate::calibration::FENCED;
use crate::chase::random_line;
use crate::curve::Curve;
use crate::figure::{Figure, each};

/// A full fence with nothing pending.
pub(crate) fn full(effort: Effort) -> Option<Figure> {
    let runs = each(effort, |times| {
        for _ in 0..times {
            full_fence();
        }
    });
    Figure::of(
        &runs,
        "ns",
        format!("{} after {0}, nothing pending", FENCES.0),
    )
}

/// A store fence with nothing pending.
pub(crate) fn stores(effort: Effort) -> Option<Figure> {
    let runs = each(effort, |times| {
        for _ in 0..times {
            prestore::fence();
        }
    });
    Figure::of(
        &runs,
        "ns",
        format!("{} after {0}, nothing pending", FENCES.1),
    )
}

/// An atomic addition to a line in L1.
pub(crate) fn atomic(effort: Effort) -> Option<Figure> {
    let word = AtomicU64::new(0);
    let runs = each(effort, |times| {
        for _ in 0..times {
            word.fetch_add(1, Ordering::SeqCst);
        }
    });
    Figure::of(
        &runs,
        "ns",
        "atomic addition after atomic addition to one word",
    )
}

/// Atomic additions that miss every cache and do not wait for each other's lines.
pub(crate) fn missing_atomics(effort: Effort, memory: &Buffer) -> Option<Figure> {
    let mut next = 1u64;
    let runs = each(effort, |times| {
        for _ in 0..times {
            let line = random_line(&mut next, memory.lines() as u64) as usize;
            // SAFETY: the second word of a line of the buffer, aligned: the first may be another measurement's pointer.
            let word = unsafe { AtomicU64::from_ptr(memory.line(line).add(8).cast()) };
            word.fetch_add(1, Ordering::SeqCst);
        }
    });
    let how = format!(
        "atomic additions to random lines of {} MiB, one after the other",
        memory.size() >> 20
    );
    Figure::of(&runs, "ns", how)
}

/// Stores that miss every cache, then a full fence.
pub(crate) fn by_pending(effort: Effort, memory: &Buffer) -> Curve {
    let mut curve = Curve {
        name: "full fence after stores to memory".into(),
        over: FENCED,
        unit: "ns",
        how: format!(
            "stores to random lines of {} MiB, then {}",
            memory.size() >> 20,
            FENCES.0
        ),
        points: Vec::new(),
    };
    let mut next = 1usize;
    for pending in [0, 1, 2, 4, 8, 16, 32, 64] {
        let runs = each(effort, |times| {
            for _ in 0..times {
                for _ in 0..pending {
                    next = next.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                    // The second word of a line: the first may be another measurement's pointer.
                    // SAFETY: within a line of the buffer, aligned.
                    unsafe { store(memory.line(next >> 16).add(8), 1) };
                }
                full_fence();
            }
        });
        curve.push(pending, &runs);
    }
    curve
}
