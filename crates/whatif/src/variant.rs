//! The runs of a study.

use prestore_sim::{PreStore, Rule};
use prestore_trace::SiteId;

use crate::Advice;

/// One way to run the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Variant {
    /// As it was recorded.
    Baseline,
    /// With one piece of advice, by index.
    One(usize),
    /// With the first piece of advice of every finding.
    All,
}

impl Variant {
    /// The runs that a study of `advice` needs on each machine.
    pub(crate) fn needed(advice: &[Advice]) -> Vec<Self> {
        let mut variants = vec![Self::Baseline];
        variants.extend((0..advice.len()).map(Self::One));
        if firsts(advice).count() > 1 {
            variants.push(Self::All);
        }
        variants
    }

    /// The rules of this way. `site` says what the source calls a store of an advice.
    pub(crate) fn rules(
        &self,
        advice: &[Advice],
        site: impl Fn(SiteId, Option<SiteId>) -> SiteId,
    ) -> Vec<Rule> {
        let rule = |a: &Advice| Rule {
            sites: a.sites.iter().map(|&s| site(s, a.caller)).collect(),
            op: a.op,
        };
        match self {
            Self::Baseline => Vec::new(),
            Self::One(index) => advice.get(*index).map(rule).into_iter().collect(),
            Self::All => firsts(advice).map(rule).collect(),
        }
    }

    /// Its name in results.
    pub(crate) fn name(&self, advice: &[Advice]) -> String {
        match self {
            Self::Baseline => "none".into(),
            Self::One(index) => match advice.get(*index) {
                Some(a) => format!("{} at finding {}", op_name(a.op), a.finding + 1),
                None => "none".into(),
            },
            Self::All => "all advice".into(),
        }
    }
}

/// The first piece of advice of each finding.
fn firsts(advice: &[Advice]) -> impl Iterator<Item = &Advice> {
    advice.iter().enumerate().filter_map(|(i, a)| {
        let before = i.checked_sub(1).and_then(|i| advice.get(i));
        before.is_none_or(|b| b.finding != a.finding).then_some(a)
    })
}

/// The paper's word for an operation.
pub(crate) fn op_name(op: PreStore) -> &'static str {
    match op {
        PreStore::Clean => "clean",
        PreStore::Demote => "demote",
        PreStore::Skip => "skip",
    }
}
