use prestore_machine::quantity::Size;
use prestore_machine::{Machine, Machines, PlacementRule, RangeSelector};
use prestore_trace::{LineAddr, SiteId};

use super::{CallSite, Placer};
use crate::memory::MemorySystem;

const SMALL: u64 = 4096;

/// Three memories alike, 0 the default, lines of 64 bytes.
fn machine(rules: &[(RangeSelector, usize)]) -> Machine {
    let tiny = Machines::shipped().describe("tiny", &[]).unwrap();
    let mut machine = tiny.into_machine();
    machine.memories = vec![machine.memories[0].clone(); 3];
    let rule = |(of, memory): &(RangeSelector, usize)| PlacementRule {
        of: of.clone(),
        memory: *memory,
    };
    machine.placement.rules = rules.iter().map(rule).collect();
    machine
}

struct Program {
    memory: MemorySystem,
    placer: Placer,
}

impl Program {
    fn new(rules: &[(RangeSelector, usize)]) -> Self {
        let machine = machine(rules);
        let mut memory = MemorySystem::new(&machine, 0);
        let placer = Placer::new(&machine.placement, machine.line.0, &mut memory);
        Self { memory, placer }
    }

    fn alloc(&mut self, addr: u64, bytes: u64) {
        self.alloc_in(addr, bytes, "main");
    }

    /// Sites are told apart by the length of their function's name.
    fn alloc_in(&mut self, addr: u64, bytes: u64, function: &str) {
        let frames = || {
            vec![CallSite {
                function: Some(function.into()),
                ..CallSite::default()
            }]
        };
        let site = SiteId(function.len() as u32);
        self.placer
            .allocated(addr, bytes, site, frames, &mut self.memory);
    }

    fn free(&mut self, addr: u64) {
        self.placer.freed(addr, &mut self.memory);
    }

    fn at(&mut self, addr: u64) -> usize {
        self.memory.memory_of(LineAddr(addr / 64))
    }
}

fn large(memory: usize) -> (RangeSelector, usize) {
    (RangeSelector::AllocationsFrom(Size(SMALL)), memory)
}

fn site(name: &str, memory: usize) -> (RangeSelector, usize) {
    (RangeSelector::AllocationSite(name.into()), memory)
}

#[test]
fn an_allocation_lives_where_its_size_says_until_it_is_freed() {
    let mut p = Program::new(&[large(1)]);
    p.alloc(0x10000, SMALL - 1);
    assert_eq!(p.at(0x10000), 0);
    p.alloc(0x20000, SMALL);
    assert_eq!(
        (p.at(0x1ffc0), p.at(0x20000), p.at(0x20fff), p.at(0x21000)),
        (0, 1, 1, 0)
    );
    p.free(0x20000);
    assert_eq!(p.at(0x20000), 0);
}

#[test]
fn the_innermost_allocation_counts() {
    let mut p = Program::new(&[large(1)]);
    p.alloc(0x10000, 1 << 20);
    p.alloc(0x20000, 128);
    assert_eq!((p.at(0x1ffc0), p.at(0x20000), p.at(0x20080)), (1, 0, 1));
    p.free(0x20000);
    assert_eq!(p.at(0x20000), 1, "the mapping around it is still there");
}

#[test]
fn what_lies_in_a_mapping_goes_with_it() {
    let mut p = Program::new(&[large(1)]);
    p.alloc(0x10000, 1 << 20);
    p.alloc(0x20000, 128);
    p.free(0x10000);
    p.free(0x20000);
    assert_eq!(p.at(0x20000), 0);
}

#[test]
fn an_allocation_reported_twice_is_the_outer_callers() {
    let mut p = Program::new(&[site("table", 1), site("operator new", 2)]);
    p.alloc_in(0x10000, 64, "operator new");
    assert_eq!(p.at(0x10000), 2);
    p.alloc_in(0x10000, 64, "table");
    assert_eq!(p.at(0x10000), 1);
    p.free(0x10000);
    p.free(0x10000);
    assert_eq!(p.at(0x10000), 0);
}

#[test]
fn the_first_rule_that_fits_decides() {
    let mut p = Program::new(&[site("table", 1), large(2)]);
    p.alloc_in(0x10000, SMALL, "table");
    p.alloc_in(0x20000, SMALL, "main");
    assert_eq!((p.at(0x10000), p.at(0x20000)), (1, 2));
    let mut p = Program::new(&[large(2), site("table", 1)]);
    p.alloc_in(0x10000, SMALL, "table");
    p.alloc_in(0x20000, 64, "table");
    assert_eq!((p.at(0x10000), p.at(0x20000)), (2, 1));
}

#[test]
fn addresses_and_stacks_take_their_turn_among_the_rules() {
    let addresses = |memory| (RangeSelector::Addresses(0x10000, 0x1ffff), memory);
    let mut p = Program::new(&[addresses(2), large(1)]);
    assert_eq!((p.at(0x10000), p.at(0x20000)), (2, 0));
    p.alloc(0x18000, 1 << 16);
    assert_eq!((p.at(0x18000), p.at(0x20000)), (2, 1));

    let mut p = Program::new(&[large(1), addresses(2)]);
    p.alloc(0x18000, 1 << 16);
    assert_eq!((p.at(0x10000), p.at(0x18000)), (2, 1));
    p.free(0x18000);
    assert_eq!(p.at(0x18000), 2);

    let mut p = Program::new(&[(RangeSelector::Stacks, 2), large(1)]);
    p.alloc(0x100000, 1 << 20);
    p.placer.stack(0x110000, 1 << 16, &mut p.memory);
    assert_eq!((p.at(0x100000), p.at(0x110000), p.at(0x120000)), (1, 2, 1));
}

#[test]
fn a_site_is_looked_up_once() {
    let mut p = Program::new(&[site("table", 1)]);
    p.alloc_in(0x10000, 64, "table");
    let asked_again = || -> Vec<CallSite> { panic!("it was asked before") };
    p.placer
        .allocated(0x20000, 64, SiteId(5), asked_again, &mut p.memory);
    assert_eq!(p.at(0x20000), 1);
}

#[test]
fn without_rules_nothing_is_looked_up_or_remembered() {
    let mut p = Program::new(&[]);
    let never = || -> Vec<CallSite> { panic!("nobody wants to know") };
    p.placer
        .allocated(0x20000, 1 << 30, SiteId(5), never, &mut p.memory);
    assert_eq!(p.at(0x20000), 0);
}
