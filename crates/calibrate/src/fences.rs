//! What fences and atomics cost.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::Effort;
use crate::arch::{FENCES, full_fence, store};
use crate::buffer::Buffer;
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

/// Stores that miss every cache, then a full fence.
pub(crate) fn by_pending(effort: Effort, memory: &Buffer) -> Curve {
    let mut curve = Curve {
        name: "full fence after stores to memory".into(),
        over: "stores pending",
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
