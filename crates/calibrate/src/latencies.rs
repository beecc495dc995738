//! Latency of each cache, and how much of it this host gets.

use std::thread;
use std::time::Duration;

use crate::buffer::Buffer;
use crate::calibration::LevelLatency;
use crate::curve::Curve;
use crate::{CacheInfo, CacheSharing, Effort, Figure, chase};

/// Rounds of which the least disturbed counts.
const ROUNDS: usize = 3;
/// Most rounds, where levels cannot be told apart.
const MOST_ROUNDS: usize = 40;
/// Between two rounds: longer than what disturbed one of them may last.
const PAUSE: Duration = Duration::from_millis(25);
/// A level takes at most this share of the next one's time, or they cannot be told apart.
pub(crate) const APART: f64 = 0.9;

/// Latencies, nearest first; a level that cannot be measured ends them.
///
/// Whoever uses the core's other hardware thread, of whom a VM knows nothing, has part of its caches. That only adds:
/// of private levels the fastest of a few rounds counts, and there are more of them while a level takes as long as the
/// next one.
pub(crate) fn levels(memory: &Buffer, effort: Effort, caches: &[CacheInfo]) -> Vec<LevelLatency> {
    let mut best: Vec<LevelLatency> = Vec::new();
    for round in 0..MOST_ROUNDS {
        if round >= ROUNDS && told_apart(&best) {
            break;
        }
        if round > 0 {
            thread::sleep(PAUSE);
        }
        let measured = one_round(memory, effort, caches);
        if best.is_empty() {
            best = measured;
            continue;
        }
        for ((kept, new), cache) in best.iter_mut().zip(measured).zip(caches) {
            let faster = new.figure.value() < kept.figure.value();
            if faster && (cache.sharing == CacheSharing::Private || round >= ROUNDS) {
                *kept = new;
            }
        }
    }
    best
}

fn told_apart(levels: &[LevelLatency]) -> bool {
    levels
        .windows(2)
        .all(|pair| pair[0].figure.value() < pair[1].figure.value() * APART)
}

fn one_round(memory: &Buffer, effort: Effort, caches: &[CacheInfo]) -> Vec<LevelLatency> {
    let levels = caches.iter().enumerate().map_while(|(index, cache)| {
        let nearer = index.checked_sub(1).and_then(|nearer| caches.get(nearer));
        Some(LevelLatency {
            level: cache.name(),
            figure: chase::level_latency(memory, effort, nearer, cache)?,
            seen_bytes: None,
        })
    });
    levels.collect()
}

/// The largest size that is chased through nearer to this level's latency than to the next one's.
pub(crate) fn see_sizes(latencies: &mut [LevelLatency], memory: Option<&Figure>, by_size: &Curve) {
    let values: Vec<f64> = latencies
        .iter()
        .map(|l| l.figure.value())
        .chain(memory.map(Figure::value))
        .collect();
    for (index, latency) in latencies.iter_mut().enumerate() {
        let Some(next) = values.get(index + 1) else {
            continue;
        };
        let between = (values[index] * next).sqrt();
        let within = by_size
            .points
            .iter()
            .filter(|point| point.summary.median <= between);
        latency.seen_bytes = within.map(|point| point.at).max();
    }
}

/// Latencies of the last private and the last shared cache.
pub(crate) fn private_and_shared(
    caches: &[CacheInfo],
    latencies: &[LevelLatency],
) -> [Option<f64>; 2] {
    [CacheSharing::Private, CacheSharing::Shared].map(|sharing| {
        let mut levels = caches.iter().zip(latencies).rev();
        let last = levels.find(|(cache, _)| cache.sharing == sharing);
        last.map(|(_, latency)| latency.figure.value())
    })
}
