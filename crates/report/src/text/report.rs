//! The whole text of a report.

use super::page::Page;
use super::{TextOptions, advice, finding, header, left_alone, pitfalls};
use crate::annotate::Sources;
use crate::finding::NamedFinding;
use crate::human::sentence;
use crate::report::Report;

/// `report` as text; with `sources`, each finding shows its lines (`--annotate`).
pub fn report_text(report: &Report, options: TextOptions, sources: Option<&dyn Sources>) -> String {
    let mut page = Page::new(options, report.run.cwd.as_deref());
    header::write(&mut page, report);
    page.blank();
    page.wrapped("", &sentence(&report.write_intensity()));

    let in_full = |f: &&NamedFinding| f.is_advice() || options.left_alone_in_full;
    for f in report.findings.iter().filter(in_full) {
        page.blank();
        finding::write(&mut page, f, &report.run, sources);
    }
    if report.write_intensive && !report.findings.iter().any(NamedFinding::is_advice) {
        page.blank();
        page.wrapped("", "No place in this run would gain from a pre-store.");
    }
    let alone: Vec<&NamedFinding> = report.findings.iter().filter(|f| !in_full(f)).collect();
    if !alone.is_empty() {
        page.blank();
        left_alone::write(&mut page, &alone, !report.write_intensive);
    }
    pitfalls::write(&mut page, &report.pitfalls);
    page.blank();
    advice::write(&mut page, report, sources.is_some());
    page.into_text()
}
