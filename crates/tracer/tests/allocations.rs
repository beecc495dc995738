//! What a program allocates and gives back is recorded, call by call.

#![allow(clippy::unwrap_used, clippy::panic)]

mod specials;

use std::collections::BTreeMap;
use std::path::Path;

use prestore_trace::record::Special;
use prestore_tracer::{Allocations, Options};

fn number(text: &str) -> u64 {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap()
}

/// What the program says it did, as multiset of lines, with its code's range and its mapping.
fn said(file: &Path) -> (BTreeMap<String, u32>, std::ops::Range<u64>, u64) {
    let mut calls = BTreeMap::new();
    let (mut range, mut map) = (0..0, 0);
    for line in std::fs::read_to_string(file).unwrap().lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["range", start, end] => range = number(start)..number(end),
            ["map", at, "12345"] => map = number(at),
            _ => *calls.entry(line.to_owned()).or_default() += 1,
        }
    }
    (calls, range, map)
}

fn check(name: &str, flags: &[&str]) {
    let program = specials::compile("c++", "allocations.cpp", name, flags);
    let file = tempfile::NamedTempFile::new().unwrap();
    let (outcome, recorded) = specials::run(&program, file.path(), &Options::default());
    assert!(outcome.status.unwrap().success());
    let (expected, code, map) = said(file.path());
    assert!(expected.len() > 10, "{expected:?}");
    let mut calls: BTreeMap<String, u32> = BTreeMap::new();
    let mut mapped = 0;
    for special in recorded.threads.values().flatten() {
        match *special {
            Special::Alloc {
                addr,
                size,
                caller,
                kind,
            } => {
                mapped += u32::from((addr, size) == (map, 12345));
                if code.contains(&caller) {
                    *calls
                        .entry(format!("alloc {kind:?} {addr:#x} {size}"))
                        .or_default() += 1;
                }
            }
            Special::Free { addr, caller } => {
                mapped += u32::from(addr == map);
                if code.contains(&caller) {
                    *calls.entry(format!("free {addr:#x}")).or_default() += 1;
                }
            }
            _ => {}
        }
    }
    assert_eq!(mapped, 2, "the mapping is seen to come and to go");
    let mut wrong = expected.clone();
    wrong.retain(|call, n| calls.get(call) != Some(n));
    let recorded: Vec<_> = wrong.keys().map(|call| calls.get(call)).collect();
    assert!(wrong.is_empty(), "{wrong:#?} recorded {recorded:?}");
    let extra: Vec<_> = calls
        .keys()
        .filter(|call| !expected.contains_key(*call))
        .collect();
    assert!(extra.is_empty(), "{extra:#?}");
}

#[test]
fn a_dynamic_program_allocates() {
    check("allocations", &[]);
}

#[test]
fn a_static_program_allocates() {
    check("allocations-static", &["-static"]);
}

#[test]
fn allocations_are_left_out_on_request() {
    let program = specials::compile("c++", "allocations.cpp", "allocations-ignored", &[]);
    let file = tempfile::NamedTempFile::new().unwrap();
    let options = Options {
        allocations: Allocations::Ignored,
        ..Options::default()
    };
    let (outcome, recorded) = specials::run(&program, file.path(), &options);
    assert!(outcome.status.unwrap().success());
    let any = recorded
        .threads
        .values()
        .flatten()
        .any(|s| matches!(s, Special::Alloc { .. } | Special::Free { .. }));
    assert!(!any);
    assert!(recorded.instrs > 0);
}
