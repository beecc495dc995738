//! What is wrong with how a description is written is said with file, line and key.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::{BASE, line_of, one, problems, with};

#[test]
fn the_base_is_right() {
    assert_eq!(problems(BASE), []);
}

#[test]
fn keys_are_strict() {
    let says = ["unknown key 'cuont'", "did you mean `count`?"];
    one(
        "count = 2",
        "count = 2\ncuont = 3",
        "cuont",
        "core.cuont",
        &says,
    );
    let says = ["unknown key 'memory'", "did you mean `memories`?"];
    one(
        "[directory]",
        "[memory]\nx = true\n[directory]",
        "[memory]",
        "memory",
        &says,
    );
    let says = ["unknown key 'unit'", "beside `is`"];
    one(
        "is = \"64 B\"",
        "is = \"64 B\", unit = \"B\"",
        "line =",
        "line",
        &says,
    );
    let says = ["unknown key 'hit'", "nothing can stand here"];
    let lru = "replacement = { kind = \"lru\", hit = 0 }";
    one(
        "replacement = \"lru\" # 1",
        lru,
        "{ kind = \"lru\"",
        "caches.L1D.replacement.hit",
        &says,
    );
}

#[test]
fn units_are_needed_and_right() {
    let says = ["14 has no unit", "cycles"];
    one(
        "latency = \"2 cycles\"",
        "latency = 14",
        "latency = 14",
        "caches.L1D.latency",
        &says,
    );
    let says = ["'ns' is not a unit of a number of cycles", "cycles"];
    one(
        "latency = \"2 cycles\"",
        "latency = \"2 ns\"",
        "\"2 ns\"",
        "caches.L1D.latency",
        &says,
    );
    let says = ["'KB' is not a unit of a size", "B, KiB, MiB, GiB"];
    one(
        "size = \"1 KiB\" # 1",
        "size = \"1 KB\"",
        "1 KB",
        "caches.L1D.size",
        &says,
    );
    let says = ["'fast' does not begin with a number", "GHz, MHz"];
    one(
        "clock = \"1 GHz\"",
        "clock = \"fast\"",
        "\"fast\"",
        "core.clock",
        &says,
    );
    let says = ["120 % is out of range"];
    let key = "memories.dram.device.efficiency";
    one(
        "efficiency = \"100 %\"",
        "efficiency = \"120 %\"",
        "120 %",
        key,
        &says,
    );
    let says = ["0.3 B is not a whole number of bytes"];
    one("is = \"64 B\"", "is = \"0.3 B\"", "0.3 B", "line", &says);
    let says = ["-3 stands where a whole number from 0 to 4294967295"];
    one("count = 2", "count = -3", "count = -3", "core.count", &says);
    let says = ["'2 cores' stands where a whole number"];
    one(
        "count = 2",
        "count = \"2 cores\"",
        "= \"2 cores",
        "core.count",
        &says,
    );
}

#[test]
fn numbers_need_a_source() {
    let without = "[core]\nsource = \"a test\"";
    let text = with(without, "[core]");
    let found = problems(&text);
    let first = line_of(&text, "count = 2");
    let said = found[0].to_string();
    let begin = format!("test.toml:{first}: core.count: 2 has no source; write {{ is = ");
    assert!(said.starts_with(&begin), "{said}");
    // Words need none: count, clock, width, rob, loads, fill buffers, atomic, fence, issue, entries,
    // ahead.
    assert_eq!(found.len(), 11, "{found:#?}");
    let both = "source = \"a test\"\nassumed = \"a guess\"";
    let says = ["has both `source` and `assumed`"];
    one(
        without,
        &format!("[core]\n{both}"),
        "assumed =",
        "core",
        &says,
    );
    one(
        without,
        "[core]\nsource = 7",
        "source = 7",
        "core.source",
        &["is not a text"],
    );
}

#[test]
fn words_are_known() {
    let says = ["unknown word 'lruu'", "did you mean `lru`?"];
    one(
        "replacement = \"lru\" # 1",
        "replacement = \"lruu\"",
        "lruu",
        "caches.L1D.replacement",
        &says,
    );
    let says = ["unknown word 'flash'", "dram, pcm, optane, cxl, fpga"];
    one(
        "kind = \"dram\"",
        "kind = \"flash\"",
        "\"flash\"",
        "memories.dram.device",
        &says,
    );
    let says = ["the key `kind` is missing"];
    one(
        "kind = \"dram\"",
        "",
        "[memories.dram.device]",
        "memories.dram.device",
        &says,
    );
    let says = ["'yes' stands where true or false belongs"];
    one(
        "clwb_retains = true",
        "clwb_retains = \"yes\"",
        "\"yes\"",
        "core.clwb_retains",
        &says,
    );
}

#[test]
fn a_cleaned_line_stays_in_one_place() {
    one(
        "clwb_retains = true",
        "clwb_retains = true\nclwb_to_shared = true",
        "clwb_to_shared",
        "core.clwb_to_shared",
        &["core.clwb_retains says that the line stays where it is"],
    );
}

#[test]
fn what_is_missing_is_named_at_its_table() {
    one(
        "rob = 32\n",
        "",
        "[core]",
        "core",
        &["the key `rob` is missing"],
    );
    one(
        "line = { is = \"64 B\", source = \"a test\" }\n",
        "",
        "description",
        "",
        &["the key `line` is missing"],
    );
    let says = ["the key `banks` is missing"];
    one(
        "banks = 4\n",
        "",
        "[memories.dram.device]",
        "memories.dram.device",
        &says,
    );
}

#[test]
fn names_stand_once() {
    let text = with("[caches.L2]", "[caches.L1D]");
    let found = problems(&text);
    let lines: Vec<&str> = text.lines().collect();
    let last = lines.iter().rposition(|l| *l == "[caches.L1D]").unwrap() + 1;
    assert_eq!(found[0].at.line, Some(last as u32), "{found:#?}");
    assert!(found[0].what.contains("duplicate key"), "{found:#?}");
    let says = ["'my cache' is no name"];
    one(
        "[caches.L2]",
        "[caches.\"my cache\"]",
        "my cache",
        "caches",
        &says,
    );
}

#[test]
fn what_is_not_toml_is_said_at_its_line() {
    let text = with("count = 2", "count = = 2");
    let found = problems(&text);
    assert_eq!(
        found[0].at.line,
        Some(line_of(&text, "count = = 2")),
        "{found:#?}"
    );
    assert!(found[0].help.contains("not TOML"), "{found:#?}");
}

#[test]
fn all_that_is_wrong_is_said_at_once() {
    let text = with("count = 2", "cuont = 2")
        .replace("4 KiB", "4 KB")
        .replace("\"nop\"", "\"no\"");
    let lines: Vec<_> = problems(&text).iter().map(|p| p.at.line).collect();
    let at = |what| Some(line_of(&text, what));
    assert_eq!(lines, [at("cuont"), at("demote"), at("4 KB")]);
}
