//! What crossed the boundaries, and what the caches did.

use prestore_sim::{MemoryResult, Results};

use crate::human::{bytes as size, count, percent, share};
use crate::text::page::Page;

/// Bytes over each boundary, nearest to the cores first.
pub fn bytes(page: &mut Page<'_>, results: &Results) {
    for (boundary, n) in &results.bytes {
        page.line(&format!(
            "   {:>8}  {}",
            size(*n),
            boundary.replace('_', " ")
        ));
    }
    let f = &results.flushes;
    let flushes = f.dirty + f.clean + f.absent;
    if flushes > 0 {
        let line = format!(
            "{} flushes: {} of dirty lines, {} of clean ones, {} of lines in no cache",
            count(flushes),
            percent(share(f.dirty, flushes)),
            percent(share(f.clean, flushes)),
            percent(share(f.absent, flushes))
        );
        page.wrapped("   ", &line);
    }
}

/// One line a memory that was used.
pub fn memories(page: &mut Page<'_>, results: &Results) {
    let used = |m: &&MemoryResult| m.read_bytes + m.write_bytes > 0;
    for m in results.memories.iter().filter(used) {
        let amplification = match m.write_amplification {
            Some(factor) => format!(", write amplification {factor:.2}"),
            None => String::new(),
        };
        let line = format!(
            "media {} read, {} written{amplification}; {} rows or units written, {} read first",
            size(m.media_read_bytes),
            size(m.media_write_bytes),
            count(m.row_writes),
            count(m.read_modify_writes)
        );
        let name = format!("   {}: ", m.name);
        let sent = format!(
            "{} read, {} written by the caches",
            size(m.read_bytes),
            size(m.write_bytes)
        );
        page.wrapped(&name, &sent);
        page.wrapped(&" ".repeat(name.len()), &line);
    }
}

/// One line a level.
pub fn levels(page: &mut Page<'_>, results: &Results) {
    for level in &results.levels {
        let loads = level.counts.load_hits + level.counts.load_misses;
        let owns = level.counts.own_hits + level.counts.own_misses;
        let first = format!(
            "   {:<6} {:>6} ",
            level.name,
            percent(share(level.counts.load_hits, loads)),
        );
        let line = format!(
            "of {} loads hit, {:>6} of {} requests to own; {} dirty and {} clean lines replaced{}",
            count(loads),
            percent(share(level.counts.own_hits, owns)),
            count(owns),
            count(level.counts.dirty_evictions),
            count(level.counts.clean_evictions),
            level
                .misses_per_1000_instructions
                .map_or_else(String::new, |misses| format!(
                    "; {misses:.2} misses per 1000 instructions"
                ))
        );
        page.wrapped(&first, &line);
    }
    let (between, fetched) = (&results.coherence, &results.prefetches);
    let line = format!(
        "{} requests asked other cores ({} lines came from them), {} upgrades, {} read from memory for ownership; {} \
         lines prefetched, {} of them used",
        count(between.snoops),
        count(between.peer_lines),
        count(between.upgrades + between.device_upgrades),
        size(results.ownership_read_bytes),
        count(fetched.next_line + fetched.stride),
        percent(share(fetched.useful, fetched.next_line + fetched.stride))
    );
    page.wrapped("   ", &line);
}
