//! Results of a simulation: the JSON, its schema, its documentation, the text.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::fs;
use std::path::{Path, PathBuf};

use prestore_machine::Machine;
use prestore_report::{TextOptions, simulation_text, to_json};
use prestore_sim::{Next, NoMechanism, Op, OpKind, Results, Simulation, Source};
use prestore_trace::{FenceKind, FlushKind, SiteId};
use serde_json::Value;

/// A producer and a consumer of messages.
struct Talk;

const LINES: u64 = 400;

impl Source for Talk {
    type Error = Infallible;

    fn threads(&self) -> u32 {
        2
    }

    fn fill(&mut self, thread: u32, ops: &mut Vec<Op>) -> Result<Next, Infallible> {
        let mut instr = 0;
        let mut op = |kind, addr, size| {
            instr += 3;
            ops.push(Op {
                instr,
                addr,
                size,
                site: SiteId::NONE,
                kind,
                after: 0,
            });
        };
        for i in 0..LINES {
            let addr = i * 64;
            if thread == 0 {
                op(OpKind::RegionBegin, 1, 0);
                op(OpKind::Store, addr, 8);
                op(OpKind::Flush(FlushKind::Clwb), addr, 0);
                op(OpKind::Fence(FenceKind::Store), 0, 0);
                op(OpKind::HandOff, i, 0);
                op(OpKind::RegionEnd, 1, 0);
            } else {
                op(OpKind::Await, i, 0);
                op(OpKind::Load, addr, 8);
            }
        }
        Ok(Next::End { instrs: instr + 1 })
    }
}

fn results() -> Results {
    let machine = Machine::find("tiny").unwrap();
    let simulation = Simulation::new(&machine);
    simulation.run(&mut Talk, &mut NoMechanism).unwrap()
}

fn json() -> Value {
    serde_json::from_str(&to_json(&results()).unwrap()).unwrap()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn results_are_as_their_schema_says() {
    let text = fs::read_to_string(root().join("schemas/simulate.schema.json")).unwrap();
    let schema: Value = serde_json::from_str(&text).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let whole = json();
    let errors: Vec<String> = (validator.iter_errors(&whole))
        .map(|e| format!("{}: {e}", e.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
    for key in whole.as_object().unwrap().keys() {
        let mut without = whole.clone();
        without.as_object_mut().unwrap().remove(key);
        assert!(!validator.is_valid(&without), "{key} is not required");
    }
}

/// All keys of objects, those of maps apart.
fn keys(value: &Value, keys_of_maps: &mut BTreeSet<String>, all: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (key, inner) in object {
                all.insert(key.clone());
                if key == "stalls" || key == "bytes" {
                    keys_of_maps.extend(inner.as_object().unwrap().keys().cloned());
                } else {
                    keys(inner, keys_of_maps, all);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|i| keys(i, keys_of_maps, all)),
        _ => {}
    }
}

/// What stands between backticks in `text`.
fn quoted(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split('`').skip(1).step_by(2).map(str::to_owned)
}

#[test]
fn every_key_is_defined_and_every_definition_is_a_key() {
    let docs = fs::read_to_string(root().join("docs/metrics.md")).unwrap();
    let (mut maps, mut all) = (BTreeSet::new(), BTreeSet::new());
    keys(&json(), &mut maps, &mut all);
    let told: BTreeSet<String> = docs
        .lines()
        .flat_map(quoted)
        .map(|word| {
            word.split("[]")
                .last()
                .unwrap_or("")
                .trim_matches('.')
                .to_owned()
        })
        .chain(docs.lines().flat_map(quoted).map(|w| w.replace("[]", "")))
        .collect();
    let untold: Vec<_> = all.difference(&told).collect();
    assert!(
        untold.is_empty(),
        "in the JSON and not in docs/metrics.md: {untold:?}"
    );
    // Only samples have it: `crates/cli/tests/sampled_results.rs` holds it to its schema.
    all.insert("sampled".into());
    // Levels and memories go by the machine's names there.
    let stands_for_names = |word: &str| word.contains('X') || word.contains('.');
    let defined = docs
        .lines()
        .filter(|line| line.starts_with("| `"))
        .filter_map(|line| line.split('|').nth(1))
        .flat_map(quoted)
        .filter(|word| !stands_for_names(word));
    let gone: Vec<_> = defined
        .filter(|word| !all.contains(word) && !maps.contains(word))
        .collect();
    assert!(
        gone.is_empty(),
        "in docs/metrics.md and not in the JSON: {gone:?}"
    );
    let causes: BTreeSet<String> = docs.lines().flat_map(quoted).collect();
    let named = |word: &String| word.starts_with("load_") || word.contains("_to_");
    let unexplained: Vec<_> = (maps.iter())
        .filter(|word| !causes.contains(*word) && !named(word))
        .collect();
    assert!(
        unexplained.is_empty(),
        "causes without a definition: {unexplained:?}"
    );
}

#[test]
fn two_runs_are_alike() {
    assert_eq!(to_json(&results()).unwrap(), to_json(&results()).unwrap());
}

#[test]
fn the_text_tells_time_bytes_and_threads() {
    let results = results();
    let text = simulation_text(&results, "talk", TextOptions::default());
    for part in [
        "talk",
        "on tiny",
        "Where the time went",
        "waiting for another thread",
        "memory to L2",
        "400 flushes: 100% of dirty lines",
        "write amplification 1.00",
        "messages",
        "   0 ",
        "   1 ",
    ] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
}

#[test]
fn the_text_fits_the_terminal() {
    for width in [80, 100] {
        let options = TextOptions {
            width,
            ..TextOptions::default()
        };
        let text = simulation_text(&results(), "talk", options);
        let wide: Vec<&str> = (text.lines())
            .filter(|l| l.chars().count() > width)
            .collect();
        assert!(wide.is_empty(), "{wide:#?}\n{text}");
    }
}

#[test]
fn shares_of_time_add_up() {
    let results = results();
    for thread in &results.threads {
        let stalled: u64 = thread.stalls.values().sum();
        assert!(stalled <= thread.cycles, "{thread:?}");
        assert!(thread.cycles <= results.cycles);
    }
}
