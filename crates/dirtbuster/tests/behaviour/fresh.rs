//! Memory that is written for the first time.

use prestore_dirtbuster::Verdict;
use prestore_trace::record::{AllocKind, Special};

use super::synthetic::Program;
use super::{HEAP, of_site};

const PAGE: u64 = 4096;
const BYTES: u64 = 16 << 20;

/// Writes `BYTES` in order.
fn fill(p: &mut Program, block: u32) {
    for line in 0..BYTES / 64 {
        p.run(0, block, &[HEAP + line * 64]);
    }
}

fn program(fresh: bool) -> (Program, u32) {
    let mut p = Program::default();
    p.fresh = fresh;
    let whole_line = p.block(1, 0).store(0, 0, 32).store(0, 32, 32).done();
    (p, whole_line)
}

/// The share of fresh lines that the advice tells of; `None`: it does not.
fn share(p: &Program) -> Option<String> {
    let outcome = p.analyze();
    let f = of_site(&outcome.findings, 1000);
    assert_eq!(f.verdict, Verdict::Skip, "{f:#?}");
    let beware = f.reason.split_once("Beware: ")?.1;
    Some(
        beware
            .split_once(" of these lines are written for the first time")?
            .0
            .to_owned(),
    )
}

fn map(p: &mut Program) {
    let kind = AllocKind::Mmap;
    p.special(
        0,
        Special::Alloc {
            addr: HEAP,
            size: BYTES,
            caller: 0,
            kind,
        },
    );
}

#[test]
fn advice_says_so_where_the_kernel_makes_it_and_not_where_it_is_a_files() {
    let (mut p, block) = program(true);
    fill(&mut p, block);
    assert_eq!(share(&p), Some("100%".to_owned()));
    let (mut p, block) = program(false);
    fill(&mut p, block);
    assert_eq!(share(&p), None);
}

#[test]
fn of_what_is_written_over_and_over_it_says_nothing() {
    let (mut p, block) = program(true);
    for _ in 0..3 {
        fill(&mut p, block);
    }
    assert_eq!(share(&p), None);
}

#[test]
fn pages_that_were_touched_before_are_not_fresh() {
    let (mut p, block) = program(true);
    let touch = p.block(2, 0).store(0, 0, 1).done();
    for page in 0..BYTES / PAGE {
        p.run(0, touch, &[HEAP + page * PAGE]);
    }
    fill(&mut p, block);
    assert_eq!(share(&p), None);
}

#[test]
fn memory_that_is_mapped_anew_each_time_is_left_alone() {
    let (mut p, block) = program(true);
    for _ in 0..3 {
        map(&mut p);
        fill(&mut p, block);
        p.special(
            0,
            Special::Free {
                addr: HEAP,
                caller: 0,
            },
        );
    }
    let outcome = p.analyze();
    let f = of_site(&outcome.findings, 1000);
    assert_eq!(f.verdict, Verdict::LeaveAlone, "{f:#?}");
    assert!(f.reason.contains("67% of the lines"), "{f:#?}");
    assert!(f.reason.contains("Keep the memory"), "{f:#?}");
}

#[test]
fn where_something_was_left_out_it_is_not_known() {
    let (mut p, block) = program(true);
    p.special(0, Special::Window { number: 5 });
    fill(&mut p, block);
    assert_eq!(share(&p), None);
}
