//! From what was counted to findings: totals, time, and which places matter.

use prestore_trace::replay::CallTree;

use crate::Thresholds;
use crate::analyzer::{ProgramTotals, StoreCount};
use crate::clusters::{Cluster, clusters};
use crate::cost;
use crate::executed::{ThreadTotals, counts};
use crate::findings::{Finding, Findings, TimeEstimate};
use crate::groups::Groups;
use crate::ledger::Ledger;
use crate::pitfalls;
use crate::stretches::Seen;
use crate::verdict::Program;

/// What places are measured against.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Whole {
    pub(crate) stores: u64,
    /// Bytes stored, plus those of the lines that left for memory.
    pub(crate) written: u64,
    pub(crate) time: TimeEstimate,
    pub(crate) program: Program,
    pub(crate) seen: Seen,
}

pub(crate) fn findings<O>(
    ledger: &Ledger,
    groups: &Groups<O>,
    tree: &CallTree,
    t: &Thresholds,
    given: Option<ProgramTotals>,
    seen_of_run: Seen,
) -> (Findings, Vec<StoreCount>, Vec<ThreadTotals>) {
    let (executed, threads) = (&ledger.executed, ledger.threads());
    let mut totals = ThreadTotals::default();
    for thread in &threads {
        totals.instructions += thread.instructions;
        totals.stores += thread.stores;
        totals.loads += thread.loads;
        totals.fences += thread.fences;
    }
    let seen = totals.stores;
    if let Some(given) = given {
        (totals.instructions, totals.stores) = (given.instructions, given.stores);
    }
    let clusters = clusters(ledger, groups);
    let mut time = time(ledger, &clusters, totals.instructions, t);
    time.writing += totals.stores.saturating_sub(seen) as f64;
    let whole = Whole {
        stores: totals.stores,
        written: clusters.iter().map(Cluster::written_bytes).sum(),
        time,
        program: Program {
            write_time: time.share(),
        },
        seen: seen_of_run,
    };
    let pitfalls = pitfalls::find(ledger, &clusters, groups, tree, time.total, t);
    let mut list: Vec<Finding> = clusters
        .into_iter()
        .filter(|c| c.share_of(whole.written) >= t.min_store_share)
        .map(|c| c.finding(groups, tree, executed, &whole, t))
        .collect();
    list.sort_by(|a, b| {
        let site = |f: &Finding| f.sites.first().map(|s| s.site);
        b.write_share
            .total_cmp(&a.write_share)
            .then(site(a).cmp(&site(b)))
    });
    let findings = Findings {
        write_intensive: whole.program.is_write_intensive(t),
        time,
        instructions: totals.instructions,
        stores: totals.stores,
        loads: totals.loads,
        fences: totals.fences,
        store_fraction: share(totals.stores, totals.instructions),
        findings: list,
        pitfalls,
    };
    (findings, counts(executed), threads)
}

pub(crate) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

/// See `cost`.
fn time(ledger: &Ledger, clusters: &[Cluster], instructions: u64, t: &Thresholds) -> TimeEstimate {
    let (waited, lines_read) = (ledger.waited, ledger.lines_read);
    let lines_written = clusters.iter().map(|c| c.to_memory()).sum();
    let lines_taken = clusters.iter().map(Cluster::taken).sum();
    let data = || ledger.executed.values().filter(|e| !e.frame);
    let stores: u64 = data().map(|e| cost::stores(e.stores, e.bytes, t)).sum();
    let issued: u64 = data().map(|e| e.stores).sum();
    let moved: u64 = clusters.iter().map(|c| c.moving(t)).sum();
    let rest = instructions.saturating_sub(waited + issued);
    TimeEstimate {
        total: (rest + stores + moved + cost::lines(lines_read, t)) as f64,
        writing: (stores + moved) as f64,
        waited,
        lines_written,
        lines_taken,
        lines_read,
    }
}
