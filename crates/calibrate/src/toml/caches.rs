//! The caches and what keeps them coherent.

use super::core::cycles;
use super::file::{File, quoted};
use super::lines::lines_under_way;
use crate::assumptions::{INCLUSION_WHY, NEARER, REPLACEMENT_WHY, SNOOP};
use crate::calibration::Calibration;
use crate::figure::number;
use crate::measure::FAR_LESS;
use crate::{CacheInfo, CacheSharing};

pub(super) fn caches(file: &mut File, host: &Calibration) {
    let last = host.caches.len().saturating_sub(1);
    let levels = host.caches.iter().zip(&host.latencies);
    for (index, ((cache, latency), assumed)) in levels.zip(host.in_order()).enumerate() {
        file.line(&format!("\n[caches.{}]", cache.name()));
        let nearer = index
            .checked_sub(1)
            .and_then(|nearer| host.caches.get(nearer));
        let size = effective_size(cache, nearer, latency.seen_bytes);
        let source = if size == cache.size {
            "the system's description of the caches".to_owned()
        } else {
            let whole = cache.size >> 10;
            format!(
                "the system says {whole} KiB, most of which pointer chases do not find: neighbours use it"
            )
        };
        file.stated("size", &format!("{} KiB", size >> 10), &source);
        let source = "the system's description of the caches";
        file.number("ways", &cache.ways.to_string(), "source", source);
        match assumed {
            Some(ns) => {
                let text = format!("{} cycles", number(ns * host.clock.value()));
                file.text("latency", &text, "assumed", NEARER.1);
            }
            None => file.measured("latency", &cycles(host, &latency.figure)),
        }
        let shared = is_shared(cache);
        file.line(if shared {
            "scope = \"shared\""
        } else {
            "scope = \"private\""
        });
        file.line("write = \"back\"");
        let last_private = !shared && host.caches.get(index + 1).is_none_or(is_shared);
        if last_private {
            lines_under_way(file, host);
        }
        if index > 0 {
            let victims = index == last && index > 1;
            let inclusion = if victims {
                "non-inclusive-victim"
            } else {
                "non-inclusive"
            };
            file.line(&format!("# {INCLUSION_WHY}."));
            file.line(&format!("inclusion = \"{inclusion}\""));
        }
        if shared {
            file.line("hash = \"xor-fold\"");
            let why = "slices cannot be seen: as few as leave each a power of two of sets";
            file.number("slices", &slices(cache, size).to_string(), "assumed", why);
        }
        file.line(&format!("# {REPLACEMENT_WHY}."));
        if index == last && index > 0 {
            let why = "evictions of shared caches look random (P0, section 4)";
            file.line(&format!(
                "replacement = {{ kind = \"qlru\", hit = 0, insert = 1, distant = \"25 %\", assumed = {} }}",
                quoted(why)
            ));
        } else {
            file.line("replacement = \"lru\"");
        }
    }
}

fn is_shared(cache: &CacheInfo) -> bool {
    cache.sharing == CacheSharing::Shared
}

/// The least number of slices with which address bits can choose a set of each.
fn slices(cache: &CacheInfo, size: u64) -> u64 {
    let sets = size / (u64::from(cache.ways) * cache.line).max(1);
    sets.checked_shr(sets.trailing_zeros()).unwrap_or(0).max(1)
}

/// Bytes that this host gets of a cache: all, or where far less is seen the next power-of-two part of it, which is not
/// less than the nearer cache has.
fn effective_size(cache: &CacheInfo, nearer: Option<&CacheInfo>, seen: Option<u64>) -> u64 {
    let Some(seen) = seen.filter(|seen| *seen < cache.size / FAR_LESS) else {
        return cache.size;
    };
    let least = seen.max(nearer.map_or(0, |nearer| nearer.size));
    let mut size = cache.size;
    while size > least && size.is_multiple_of(2 * u64::from(cache.ways) * cache.line) {
        size /= 2;
    }
    size
}

pub(super) fn directory(file: &mut File, host: &Calibration) {
    file.line("\n[directory]\nhome = \"on-chip\"");
    match &host.read_written {
        Some(figure) => file.measured("snoop", &figure.scaled(host.clock.value(), "cycles")),
        None => {
            let last = host
                .latencies
                .last()
                .map_or(40.0, |l| l.figure.value() * host.clock.value());
            file.text(
                "snoop",
                &format!("{} cycles", number(last * SNOOP.0)),
                "assumed",
                SNOOP.1,
            );
        }
    }
}
