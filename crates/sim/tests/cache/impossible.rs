//! Machines that contradict themselves.

use prestore_machine::Inclusion::{Exclusive, NonInclusive};
use prestore_machine::quantity::Size;
use prestore_machine::{Machine, Replacement, WritePolicy};
use prestore_sim::Hierarchy;

use crate::machine::machine;
use crate::memory::Log;
use crate::{far, near};

fn refusal(machine: &Machine) -> String {
    Hierarchy::new(machine, Log::default(), 1)
        .map(|_| ())
        .unwrap_err()
        .to_string()
}

#[test]
fn a_cache_is_needed() {
    assert!(refusal(&machine(1, vec![])).contains("no cache level"));
}

#[test]
fn sets_have_all_their_ways() {
    let mut level = near(3);
    level.size = Size(64 * 4);
    let said = refusal(&machine(1, vec![level]));
    assert!(
        said.contains("4 lines do not divide into 1 slices of sets of 3 ways"),
        "{said}"
    );
}

#[test]
fn a_tree_needs_a_power_of_two() {
    let mut level = near(3);
    level.replacement = Replacement::TreePlru;
    assert!(refusal(&machine(1, vec![level])).contains("tree-PLRU"));
}

#[test]
fn private_levels_come_first() {
    let levels = vec![far(NonInclusive, 2), near(2)];
    assert!(refusal(&machine(1, levels)).contains("behind the shared level"));
}

#[test]
fn dirty_bytes_need_a_place() {
    let mut last = near(2);
    last.write = WritePolicy::Through;
    assert!(refusal(&machine(1, vec![last.clone()])).contains("write-back"));
    let levels = vec![last, far(Exclusive, 2)];
    assert!(refusal(&machine(1, levels)).contains("exclusive"));
}

#[test]
fn cores_fit_into_the_directory() {
    assert!(refusal(&machine(129, vec![near(2)])).contains("129 cores"));
}
