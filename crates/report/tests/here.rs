//! What text says of the machine that the program ran on.
#![allow(missing_docs)]

mod common;

use prestore_dirtbuster::{CacheLimit, Verdict};
use prestore_report::{Demoting, Report, Run, TextOptions, report_text};

#[test]
fn a_machine_with_a_cache_that_changes_the_verdict_is_told_so() {
    let mut findings = common::findings();
    findings.findings[0].cache_limit = Some(CacheLimit {
        bytes: 32 << 20,
        verdict: Verdict::LeaveAlone,
        reread: 0.1,
        rewritten: 0.97,
    });
    let with_cache = |bytes: u64| {
        let run = Run {
            last_level_cache: Some(bytes << 20),
            ..common::run()
        };
        let report = Report::new(&findings, run, 0.1, &mut common::symbols());
        let options = TextOptions {
            width: 1000,
            ..TextOptions::default()
        };
        report_text(&report, options, None)
    };
    let (smaller, larger) = (with_cache(16), with_cache(36));
    let there = "Larger caches: where the last-level cache has 32 MB or more for this program, 97% of the lines are still in it \
                 when they are written again: leave alone there.";
    assert!(smaller.contains(&format!("{there}\n")), "{smaller}");
    assert!(
        larger.contains(&format!(
            "{there}\n   This machine: has 36 MB: this advice may cost more than it gains"
        )),
        "{larger}"
    );
}

#[test]
fn a_machine_where_demoting_does_nothing_or_harm_is_told_so() {
    let mut findings = common::findings();
    findings.findings[0].verdict = Verdict::Demote;
    let with = |demoting| {
        let run = Run {
            demoting,
            ..common::run()
        };
        let report = Report::new(&findings, run, 0.1, &mut common::symbols());
        report_text(&report, TextOptions::default(), None)
    };
    assert!(!with(None).contains("This machine: "));
    let nothing = with(Some(Demoting::Nothing));
    let said = "This machine: has no instruction that demotes";
    assert!(nothing.contains(said), "{nothing}");
    let harm = with(Some(Demoting::InOrder));
    assert!(harm.contains("This machine: its stores leave in order"));
}
