//! Findings as something that can be done.

use prestore_dirtbuster::{Finding, Findings, Verdict};
use prestore_sim::{PreStore, Way};
use prestore_trace::SiteId;

/// An operation at a finding's stores, written in one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// Index of the finding in [`Findings::findings`].
    pub finding: usize,
    /// What to do.
    pub op: PreStore,
    /// How the source does it.
    pub way: Way,
    /// The store instructions.
    pub sites: Vec<SiteId>,
    /// Only where this call led to them: the stores are in generic code (`memcpy`).
    pub caller: Option<SiteId>,
}

impl Advice {
    /// What can be tried at each finding, in the order of the findings. Where the verdict is to
    /// skip the cache, there are several ways, and cleaning is tried, too: it needs one line of code instead of other
    /// stores (P0, section 6.2.3).
    pub fn of(findings: &Findings) -> Vec<Self> {
        (findings.findings.iter().enumerate())
            .flat_map(|(index, finding)| {
                let ops = ops(finding.verdict).iter();
                ops.flat_map(move |&op| Self::at(index, finding, op))
            })
            .collect()
    }

    /// The same without the findings that the run writes once ([`Finding::written_once`]), where there are others: their advice is for
    /// other runs, and each would be simulated for nothing.
    pub fn of_this_run(findings: &Findings) -> Vec<Self> {
        let (once, rest): (Vec<_>, Vec<_>) = (Self::of(findings).into_iter())
            .partition(|advice| findings.findings[advice.finding].written_once);
        match rest.is_empty() {
            true => once,
            false => rest,
        }
    }

    /// The ways to write `op` at `finding`, the `index`th.
    pub fn at(index: usize, finding: &Finding, op: PreStore) -> impl Iterator<Item = Self> {
        let caller = finding.generic_writer.then(|| finding.call_chain.first());
        ways(op, finding.generic_writer)
            .iter()
            .map(move |&way| Self {
                finding: index,
                op,
                way,
                sites: finding.sites.iter().map(|s| s.site).collect(),
                caller: caller.flatten().copied(),
            })
    }
}

fn ops(verdict: Verdict) -> &'static [PreStore] {
    match verdict {
        Verdict::Clean => &[PreStore::Clean],
        Verdict::Demote => &[PreStore::Demote],
        Verdict::Skip => &[PreStore::Skip, PreStore::Clean],
        Verdict::LeaveAlone => &[],
    }
}

/// What copies is replaced by what copies around the caches; what crafts its data can do so in several ways.
fn ways(op: PreStore, copies: bool) -> &'static [Way] {
    match (op, copies) {
        (PreStore::Clean | PreStore::Demote, _) => &[Way::Call],
        (PreStore::Skip, true) => &[Way::CopyCall],
        (PreStore::Skip, false) => &[Way::InPlace, Way::Buffer, Way::Writer],
    }
}
