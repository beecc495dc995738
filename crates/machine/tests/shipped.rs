//! The shipped machines.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use prestore_machine::{Machines, Written};

#[test]
fn every_shipped_machine_loads() {
    let listed = Machines::shipped().list();
    assert!(listed.iter().any(|machine| machine.name == "machine-a"));
    for machine in listed {
        if let Err(error) = machine.description {
            panic!("{}:\n{error}", machine.name);
        }
    }
}

#[test]
fn every_number_of_a_shipped_machine_has_a_source() {
    let machines = Machines::shipped();
    for listed in machines.list() {
        let described = machines.describe(&listed.name, &[]).unwrap();
        for entry in described.entries() {
            if matches!(entry.value, Written::Number(..)) {
                let source = entry.source.as_ref();
                assert!(
                    source.is_some_and(|s| s.text.len() > 5),
                    "{}: {entry:?}",
                    listed.name
                );
            }
        }
    }
}
