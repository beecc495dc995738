//! What to try next.

use super::page::Page;
use crate::finding::NamedFinding;
use crate::report::Report;
use crate::whatif::{gain, written};
use prestore_dirtbuster::Verdict;

/// The change to make first, and the commands that tell more.
pub fn write(page: &mut Page, report: &Report, annotated: bool) {
    page.heading("What to try next");
    if let Some(f) = first(report) {
        let change = change(page, f);
        page.wrapped("   - ", &change);
    } else if advice(report).next().is_some() {
        let vain = |f: &NamedFinding| f.gains_on_none_of().is_some();
        let why = match (advice(report).all(vain), advice(report).any(vain)) {
            (true, _) => "for these machines: no piece of advice is predicted to gain there",
            (_, true) => {
                "in this run: what there is advice about, it writes once, or nothing is predicted to gain there"
            }
            (_, false) => "in this run: what there is advice about, it writes once",
        };
        page.wrapped("   - ", &format!("nothing {why}"));
    } else if report.findings.iter().any(NamedFinding::is_advice) {
        page.wrapped(
            "   - ",
            "nothing in the program's source: all advice is about libraries, or code that it makes while it runs",
        );
    }
    let again = report.run.again();
    if report.findings.is_empty() && !report.write_intensive {
        page.wrapped(
            "   - ",
            "run it under the load that matters: the share of stores depends on the input",
        );
    } else if !annotated {
        command(
            page,
            "the source lines that store",
            &format!("prestore advise --annotate {again}"),
        );
    }
    if first(report).is_some_and(|f| f.predicted.is_empty()) {
        let (what, machine) = match &report.run.predicts_for {
            Some(host) => ("what it would gain on this machine", host.as_str()),
            None => (
                "what it would gain on a machine that `prestore machine list` names",
                "machine-a",
            ),
        };
        command(
            page,
            what,
            &format!("prestore advise --machine {machine} {again}"),
        );
    }
    if report.run.recording.is_none() {
        command(
            page,
            "keep the recording, to look again without running",
            &format!("prestore advise -o prestore.trace {again}"),
        );
    }
    command(
        page,
        "for an editor or a CI job",
        &format!("prestore advise --format sarif {again}"),
    );
}

/// Advice that who works on the program can follow.
fn advice(report: &Report) -> impl Iterator<Item = &NamedFinding> + Clone {
    let all = report.findings.iter();
    all.filter(|f| f.is_advice() && f.library.is_none() && !f.place.is_generated())
}

/// The first advice that names a line, since only that says where to type, that is for this run, and that gains on some
/// machine if that was predicted.
fn first(report: &Report) -> Option<&NamedFinding> {
    let gains = |f: &&NamedFinding| {
        !f.written_once && (f.predicted.is_empty() || f.predicted.iter().any(|p| p.best))
    };
    let mut advice = advice(report).filter(gains);
    advice
        .clone()
        .find(|f| f.place.line.is_some())
        .or_else(|| advice.next())
}

fn command(page: &mut Page, what: &str, command: &str) {
    page.wrapped("   - ", &format!("{what}:"));
    page.line(&format!("       {command}"));
}

fn change(page: &Page, f: &NamedFinding) -> String {
    let best = f.predicted.iter().filter(|p| p.best);
    let best = best.max_by(|a, b| a.speedup.total_cmp(&b.speedup));
    if let Some(best) = best
        && let Some(how) = written(&best.way)
    {
        return format!(
            "at finding {}, {}: skip the cache, {how}, and a store fence before others may read it: {} on {}",
            f.number,
            page.location(&f.place),
            gain(best.speedup()),
            best.machine
        );
    }
    let after = format!("after the data is written at {}", page.location(&f.place));
    match f.verdict {
        Verdict::Clean => format!(
            "{after}, add prestore(data, size, clean): on x86 clwb, _mm_clwb(), on each cache line written"
        ),
        Verdict::Demote => format!(
            "{after}, add prestore(data, size, demote): on x86 cldemote, _mm_cldemote(), on each cache line written"
        ),
        Verdict::Skip => format!(
            "at {}, write with non-temporal stores, a whole line at a time as prestore_writer does: on x86 movnt, \
             _mm_stream_si128() and its kin, and sfence before others may read it; where that is hard to write, prestore(data, size, clean) \
             after the data is written is the next best",
            page.location(&f.place)
        ),
        Verdict::LeaveAlone => format!("leave {} as it is", page.location(&f.place)),
    }
}
