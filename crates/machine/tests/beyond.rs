//! Numbers beyond what any machine has are refused where they are read: a simulation would look for room for them.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use prestore_machine::Machine;

/// What is said of one setting of a shipped machine; `None`: it is taken.
fn said(machine: &str, setting: &str) -> Option<String> {
    let found = Machine::find_with(machine, &[setting]);
    found.err().map(|error| error.to_string())
}

#[track_caller]
fn refused(machine: &str, key: &str, value: &str) {
    let setting = format!("{key}={value}");
    let said = said(machine, &setting).unwrap_or_else(|| panic!("{setting} is taken"));
    assert!(said.contains(&format!("{key}: ")), "{setting}: {said}");
    assert!(said.contains("give "), "{setting}: {said}");
}

#[test]
fn counts_beyond_all_machines_are_refused() {
    let most = "4294967295";
    for key in [
        "core.rob",
        "core.fill_buffers",
        "core.flush_buffers",
        "core.store_buffer.entries",
        "core.store_buffer.rfo_ahead",
        "core.store_buffer.rfo_lines",
        "core.write_combining.buffers",
        "core.prefetch.stride_streams",
        "core.prefetch.stride_degree",
        "core.prefetch.stride_step",
        "caches.L2.mshrs",
        "memories.pmem.channels",
        "memories.pmem.controller.read_queue",
        "memories.pmem.controller.write_queue",
        "memories.pmem.controller.drain_batch",
        "memories.pmem.device.read_ports",
        "memories.pmem.device.line_queue",
        "memories.pmem.device.media_queue",
        "memories.dram.device.banks",
    ] {
        refused("machine-a", key, most);
    }
    for key in ["drain_parallel", "fence_parallel", "push_parallel"] {
        let key = format!("core.store_buffer.{key}");
        refused("machine-b-fast", &key, most);
    }
    refused("machine-b-fast", "memories.fpga.device.controllers", most);
    refused("machine-a", "directory.filter.entries", "1099511627776");
    let migration = "memories.pmem.device.migration.tracked";
    refused("fast20-6dimm", migration, most);
    refused("cxl-ssd", "memories.cxl.device.channels", most);
}

#[test]
fn sizes_beyond_all_machines_are_refused() {
    for (machine, key, value) in [
        ("machine-a", "caches.L3.size", "1100 GiB"),
        ("machine-a", "caches.L2.size", "1024 GiB"),
        ("machine-a", "memories.pmem.device.unit", "8 KiB"),
        ("machine-a", "memories.pmem.device.buffer", "1 GiB"),
        ("machine-a", "memories.pmem.device.read_buffer", "1 GiB"),
        ("machine-a", "memories.pmem.device.block", "0 B"),
        ("machine-a", "memories.dram.device.row", "2 MiB"),
        ("cxl-ssd", "memories.cxl.device.cache.size", "1048576 GiB"),
    ] {
        refused(machine, key, &format!("\"{value}\""));
    }
}

#[test]
fn a_count_of_zero_is_refused_where_nothing_would_go() {
    for key in [
        "core.fill_buffers",
        "core.flush_buffers",
        "core.store_buffer.entries",
    ] {
        refused("machine-a", key, "0");
    }
    let said_of_misses = said("machine-a", "caches.L2.mshrs=0").unwrap_or_default();
    assert!(
        said_of_misses.contains("is 0: nothing could miss"),
        "{said_of_misses}"
    );
    refused(
        "fast20-6dimm",
        "memories.pmem.device.migration.tracked",
        "0",
    );
    // In order, as the description says of it.
    assert_eq!(said("machine-a", "core.rob=0"), None);
}

#[test]
fn what_stands_for_no_limit_is_taken() {
    for setting in [
        "core.rob=100000",
        "core.fill_buffers=65536",
        "core.store_buffer.entries=65536",
        "caches.L2.mshrs=65536",
        "memories.pmem.channels=1024",
        "caches.L3.size=\"880 MiB\"",
    ] {
        assert_eq!(said("machine-a", setting), None, "{setting}");
    }
}
