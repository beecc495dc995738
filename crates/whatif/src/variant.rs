//! The runs of a study.

use prestore_machine::{Demote, Machine};
use prestore_sim::{PreStore, Rule, Way};
use prestore_trace::SiteId;

use crate::Advice;

/// One way to run the program: the advice that is followed, by index; none: as it was recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Variant(pub Vec<usize>);

impl Variant {
    /// The program as it is, and each of `advice` alone.
    pub fn alone(advice: &[Advice]) -> Vec<Self> {
        let one = (0..advice.len()).map(|i| Self(vec![i]));
        std::iter::once(Self::default()).chain(one).collect()
    }

    /// The rules of this way. `site` says what the source calls a store of an advice.
    pub fn rules(
        &self,
        advice: &[Advice],
        site: impl Fn(SiteId, Option<SiteId>) -> SiteId,
    ) -> Vec<Rule> {
        let followed = self.0.iter().filter_map(|&i| advice.get(i));
        followed
            .map(|a| Rule {
                sites: a.sites.iter().map(|&s| site(s, a.caller)).collect(),
                op: a.op,
                way: a.way,
            })
            .collect()
    }

    /// Its name in results.
    pub fn name(&self, advice: &[Advice]) -> String {
        let followed = self.0.iter().filter_map(|&i| advice.get(i));
        let names: Vec<String> = followed
            .map(|a| {
                format!(
                    "{} ({}) at finding {}",
                    op_name(a.op),
                    way_name(a.way),
                    a.finding + 1
                )
            })
            .collect();
        match names.is_empty() {
            true => "none".into(),
            false => names.join(", "),
        }
    }
}

/// The paper's word for an operation.
pub(crate) fn op_name(op: PreStore) -> &'static str {
    match op {
        PreStore::Clean => "clean",
        PreStore::Demote => "demote",
        PreStore::Skip => "skip",
    }
}

/// A word for a way to write it.
pub(crate) fn way_name(way: Way) -> &'static str {
    match way {
        Way::Call => "call",
        Way::CopyCall => "copy-call",
        Way::InPlace => "in-place",
        Way::Buffer => "buffer",
        Way::Writer => "writer",
    }
}

/// Why `op` does nothing on `machine`.
pub(crate) fn idle(op: PreStore, machine: &Machine) -> Option<&'static str> {
    let core = &machine.core;
    match op {
        PreStore::Demote if core.demote == Demote::Nop => Some("no instruction demotes there"),
        PreStore::Clean if core.flushes.is_empty() => Some("no instruction cleans there"),
        PreStore::Skip if core.write_combining.is_none() => {
            Some("non-temporal stores are plain stores there")
        }
        _ => None,
    }
}
