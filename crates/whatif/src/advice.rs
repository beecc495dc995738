//! Findings as something that can be done.

use prestore_dirtbuster::{Finding, Findings, Verdict};
use prestore_sim::PreStore;
use prestore_trace::SiteId;

/// An operation at a finding's stores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// Index of the finding in [`Findings::findings`].
    pub finding: usize,
    /// What to do.
    pub op: PreStore,
    /// The store instructions.
    pub sites: Vec<SiteId>,
    /// Only where this call led to them: the stores are in generic code (`memcpy`).
    pub caller: Option<SiteId>,
}

impl Advice {
    /// What can be tried at each finding, the finding's own verdict first. Where the verdict is to
    /// skip the cache, cleaning comes second: it needs one line of code instead of other stores
    /// (P0, section 6.2.3).
    pub fn of(findings: &Findings) -> Vec<Self> {
        (findings.findings.iter().enumerate())
            .flat_map(|(index, finding)| {
                ops(finding.verdict)
                    .iter()
                    .map(move |&op| Self::at(index, finding, op))
            })
            .collect()
    }

    /// `op` at `finding`, the `index`th.
    pub fn at(index: usize, finding: &Finding, op: PreStore) -> Self {
        let caller = finding.generic_writer.then(|| finding.call_chain.first());
        Self {
            finding: index,
            op,
            sites: finding.sites.iter().map(|s| s.site).collect(),
            caller: caller.flatten().copied(),
        }
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
