//! Bytes over each boundary of a machine.

use std::collections::BTreeMap;

use prestore_machine::Machine;

use super::counts::SystemCounts;

/// Bytes that crossed each boundary, each way, by name: `L2_to_L1D`, `L1D_to_L2`, `memory_to_L3`,
/// `L3_to_memory`, `media_to_memory`, `memory_to_media` where `L3` is the last level.
pub fn bytes(machine: &Machine, counts: &SystemCounts) -> BTreeMap<String, u64> {
    let mut bytes = BTreeMap::new();
    let names: Vec<&str> = machine.caches.iter().map(|c| c.name.as_str()).collect();
    for (i, crossed) in counts.boundaries.iter().enumerate().take(names.len()) {
        let near = names[i];
        let far = names.get(i + 1).copied().unwrap_or("memory");
        bytes.insert(format!("{far}_to_{near}"), crossed.up);
        bytes.insert(format!("{near}_to_{far}"), crossed.down);
    }
    let memories = &counts.memories;
    let media_to = memories.iter().map(|m| m.media_read_bytes).sum();
    let to_media = memories.iter().map(|m| m.media_write_bytes).sum();
    bytes.insert("media_to_memory".into(), media_to);
    bytes.insert("memory_to_media".into(), to_media);
    bytes
}
