//! What no machine could be is said with file, line and key.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::{child, one, problems};

#[test]
fn impossible_caches() {
    let says = ["1000 B cannot be divided into 2 ways of 64 B lines"];
    one(
        "size = \"1 KiB\" # 1",
        "size = \"1000 B\"",
        "1000 B",
        "caches.L1D.size",
        &says,
    );
    let says = ["make 6 sets a slice"];
    one(
        "size = \"1 KiB\" # 1",
        "size = \"768 B\"",
        "768 B",
        "caches.L1D.size",
        &says,
    );
    let says = ["a tree of bits has no 3 ways"];
    let three = "size = \"768 B\"\nways = 3\nreplacement = \"tree-plru\"\n";
    let text = "size = \"1 KiB\" # 1\nways = 2\nreplacement = \"lru\" # 1\n";
    one(text, three, "tree-plru", "caches.L1D.replacement", &says);
    one(
        "ways = 2",
        "ways = 0",
        "ways = 0",
        "caches.L1D.ways",
        &["is 0"],
    );
    let says = ["not above the 2 cycles of L1D"];
    one(
        "latency = \"10 cycles\"",
        "latency = \"2 cycles\" # 2",
        "# 2",
        "caches.L2.latency",
        &says,
    );
    one(
        "inclusion = \"inclusive\"\n",
        "",
        "[caches.L2]",
        "caches.L2.inclusion",
        &["is missing"],
    );
    let says = ["there is no age 4"];
    let qlru = "replacement = { kind = \"qlru\", hit = 4, insert = 1, distant = \"0 %\" }";
    let key = "caches.L1D.replacement.hit";
    one("replacement = \"lru\" # 1", qlru, "hit = 4", key, &says);
    let child = format!("{}[caches]\nL1D = \"none\"\nL2 = \"none\"\n", child());
    let found = problems(&child);
    assert!(found[0].what.contains("there is no cache"), "{found:#?}");
}

#[test]
fn impossible_cores() {
    one(
        "count = 2",
        "count = 0",
        "count = 0",
        "core.count",
        &["0 cores"],
    );
    one(
        "width = 1",
        "width = 0",
        "width = 0",
        "core.width",
        &["is 0"],
    );
    one(
        "is = \"64 B\"",
        "is = \"48 B\"",
        "48 B",
        "line",
        &["48 B is no cache line"],
    );
    let says = ["means nothing under the memory model 'tso'"];
    let key = "core.store_buffer.timeout";
    one(
        "rfo_ahead = 4",
        "rfo_ahead = 4\ntimeout = \"9 cycles\"",
        "timeout",
        key,
        &says,
    );
    let says = ["the memory model 'tso' needs it"];
    one(
        "rfo_ahead = 4\n",
        "",
        "[core.store_buffer]",
        "core.store_buffer.rfo_ahead",
        &says,
    );
    let says = ["no write buffer that holds stores back"];
    let demote = "demote = \"from-write-buffer\"";
    one("demote = \"nop\"", demote, "demote", "core.demote", &says);
}

/// Simulated time is counted in picoseconds, in 64 bits: what these would take does not fit many times.
#[test]
fn numbers_that_no_time_could_be_counted_with() {
    for (from, to, key, says) in [
        ("width = 1", "width = 1e-30", "core.width", "1e-30 is less"),
        ("\"1 GHz\"", "\"0.1 MHz\"", "core.clock", "slower than any"),
        ("\"1 GHz\"", "\"1001 GHz\"", "core.clock", "from 0 to 1000"),
        (
            "\"16 GB/s\"",
            "\"0.0001 MB/s\"",
            "memories.dram.device.bandwidth",
            "is less than any",
        ),
        (
            "latency = \"10 cycles\"",
            "latency = \"9007199254740992 cycles\"",
            "caches.L2.latency",
            "from 0 to 10000000",
        ),
        (
            "read_latency = \"20 ns\"",
            "read_latency = \"1000001 us\"",
            "memories.dram.controller.read_latency",
            "from 0 to 1000000000",
        ),
    ] {
        one(from, to, to, key, &[says]);
    }
}

#[test]
fn impossible_memories() {
    let says = ["96 B would cut lines of 64 B"];
    one(
        "interleave = \"4 KiB\"",
        "interleave = \"96 B\"",
        "96 B",
        "memories.dram.interleave",
        &says,
    );
    let says = ["6 is not below drain_high, 6"];
    let key = "memories.dram.controller.drain_low";
    one("drain_low = 2", "drain_low = 6", "drain_low", key, &says);
    let says = ["9 is above the 8 entries"];
    let key = "memories.dram.controller.drain_high";
    one("drain_high = 6", "drain_high = 9", "drain_high", key, &says);
    let says = ["fr-fcfs asks when each bank is ready, which only PCM tells"];
    let key = "memories.dram.controller.write_order";
    let order = "drain_high = 6\nwrite_order = \"fr-fcfs\"";
    one("drain_high = 6", order, "write_order", key, &says);
    let says = ["32 B is not a power of two of at least a line (64 B)"];
    one(
        "row = \"1 KiB\"",
        "row = \"32 B\"",
        "32 B",
        "memories.dram.device.row",
        &says,
    );
}

#[test]
fn placement_names_what_is_there() {
    let says = ["no memory 'drum'", "did you mean 'dram'?"];
    let key = "placement.default_memory";
    one(
        "default_memory = \"dram\"",
        "default_memory = \"drum\"",
        "drum",
        key,
        &says,
    );
    let rule = "default_memory = \"dram\"\nrules = [\n  { of = \"stacks\", memory = \"hbm\" },\n]";
    let key = "placement.rules[0].memory";
    one(
        "default_memory = \"dram\"",
        rule,
        "hbm",
        key,
        &["no memory 'hbm'"],
    );
    let rule = "default_memory = \"dram\"\nsource = \"a test\"\nrules = [\n  { memory = \"dram\", of = \
                { kind = \"addresses\", first = 0x20, last = 0x10 } },\n]";
    let key = "placement.rules[0].of";
    one(
        "default_memory = \"dram\"",
        rule,
        "0x20",
        key,
        &["0x20 to 0x10 is empty"],
    );
}

#[test]
fn a_memory_type_that_the_machine_lacks_is_named_with_those_it_has() {
    let of = "{ kind = \"addresses\", first = 0, last = 63 }";
    let rule = format!(
        "default_memory = \"dram\"\nsource = \"a test\"\ntypes = [\n  {{ of = {of}, type = \"write-combining\" }},\n]"
    );
    let says = [
        "no write-combining memory",
        "only write-back, write-through, uncacheable",
    ];
    let key = "placement.types[0].type";
    // The base has no write-combining buffers.
    one(
        "default_memory = \"dram\"",
        &rule,
        "write-combining",
        key,
        &says,
    );
    let says = ["names write-combining", "no write-combining buffers"];
    let types = "count = 2\nmemory_types = [\"write-back\", \"write-combining\"]";
    one(
        "count = 2",
        types,
        "memory_types",
        "core.memory_types",
        &says,
    );
    let types = "count = 2\nmemory_types = [\"uncacheable\"]";
    let says = ["does not name write-back"];
    one(
        "count = 2",
        types,
        "memory_types",
        "core.memory_types",
        &says,
    );
}

#[test]
fn shipped_arm_machines_have_no_write_through_memory() {
    let of = "{ kind = \"addresses\", first = 0, last = 63 }";
    let types = |of_type: &str| format!("placement.types=[{{ of = {of}, type = \"{of_type}\" }}]");
    for machine in ["machine-b-fast", "grace"] {
        let error = prestore_machine::Machine::find_with(machine, &[&types("write-through")]);
        let said = error.unwrap_err().to_string();
        assert!(said.contains("has no write-through memory"), "{said}");
        assert!(
            prestore_machine::Machine::find_with(machine, &[&types("write-combining")]).is_ok()
        );
    }
    assert!(prestore_machine::Machine::find_with("hp-e5620", &[&types("write-through")]).is_ok());
}
