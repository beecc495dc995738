//! Whatever a file holds, it is read or refused in words; it never stops the program.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use common::BASE;
use prestore_machine::{MachineError, Machines};
use proptest::prelude::*;

/// Reads it; what is wrong must be said in words and at a place.
fn read(text: &str) {
    match Machines::shipped().parse("any.toml", text) {
        Ok(described) => {
            let again = Machines::shipped().parse("any.toml", &described.to_toml());
            assert_eq!(again.unwrap().machine(), described.machine());
        }
        Err(MachineError::Wrong(problems)) => {
            assert!(!problems.is_empty());
            for problem in problems {
                assert!(!problem.what.is_empty());
                assert!(problem.at.line.is_some_and(|line| line > 0));
            }
        }
        Err(other) => assert!(!other.to_string().is_empty()),
    }
}

/// Values that stand in some description, right or wrong where they are put.
fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("\"none\"".to_owned()),
        Just("\"lru\"".into()),
        Just("{ kind = \"qlru\" }".into()),
        Just("[1, \"2 ns\", {}]".into()),
        Just("{ is = { is = 1 }, source = \"x\" }".into()),
        Just("1979-05-27".into()),
        Just("nan".into()),
        any::<i64>().prop_map(|n| n.to_string()),
        any::<f64>().prop_map(|n| format!("{{ is = {n:?}, assumed = \"x\" }}")),
        (any::<u64>(), "ns|us|B|KiB|GiB|GB/s|GHz|cycles|%|")
            .prop_map(|(n, unit)| format!("{{ is = \"{n} {unit}\", assumed = \"x\" }}")),
    ]
}

proptest! {
    #[test]
    fn any_text(text in ".{0,200}") {
        read(&text);
    }

    #[test]
    fn any_toml_like_text(text in r#"([a-z.\[\]]{1,8}( = )?["0-9{}\[\]. a-z]{0,8}\n){0,20}"#) {
        read(&text);
    }

    #[test]
    fn a_machine_with_bytes_changed(at in 0..BASE.len(), with in "[ -~\n]{0,3}") {
        let mut text = BASE.to_owned();
        text.replace_range(at..=at, &with);
        read(&text);
    }

    #[test]
    fn a_machine_with_a_value_changed(line in 0..BASE.lines().count(), value in value()) {
        let lines: Vec<String> = BASE
            .lines()
            .enumerate()
            .map(|(index, old)| match old.split_once(" = ") {
                Some((key, _)) if index == line => format!("{key} = {value}"),
                _ => old.to_owned(),
            })
            .collect();
        read(&lines.join("\n"));
    }

    #[test]
    fn any_setting(key in "[a-zA-Z0-9_.]{0,20}", value in ".{0,20}") {
        let setting = format!("{key}={value}");
        if let Err(error) = Machines::shipped().describe("tiny", &[&setting]) {
            prop_assert!(!error.to_string().is_empty());
        }
    }
}
