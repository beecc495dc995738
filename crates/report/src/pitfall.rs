//! An existing flush, fence or non-temporal store that costs for nothing, with names.

use crate::account::library_between;
use crate::crash::past_inlined_helper;
use crate::location::{self, caller_to_change};
use crate::place::NamedPlace;
use crate::resolve::{Resolver, SiteKind};
use prestore_dirtbuster::{Pitfall, PitfallKind};
use serde::{Deserialize, Serialize};

/// A place whose flushes, fences or non-temporal stores cost for nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NamedPitfall {
    /// The place to change: the instruction, or for a library's the line that calls it.
    #[serde(flatten)]
    pub place: NamedPlace,
    /// Path of the library that does so on its own account, called at the place; `None`: the program does.
    #[serde(default)]
    pub library: Option<String>,
    /// What is wrong.
    pub kind: PitfallKind,
    /// Executions; of non-temporal stores, lines.
    pub executed: u64,
    /// Those of them that `kind` speaks of.
    pub affected: u64,
    /// What these cost: estimated share of the program's time, 0 to 1.
    pub cost_share: f64,
    /// Why, in words, and what to do.
    pub reason: String,
    /// Calls that led there, innermost first, in the most frequent calling context.
    pub call_chain: Vec<NamedPlace>,
}

impl NamedPitfall {
    /// Names everything in `pitfall`.
    pub(crate) fn new(pitfall: &Pitfall, resolver: &mut dyn Resolver) -> Self {
        let (chain, entered) = (&pitfall.call_chain, pitfall.entered);
        let call_chain = location::named_chain(&[pitfall.site], chain, entered, resolver);
        let caller = pitfall
            .generic_writer
            .then(|| caller_to_change(&call_chain))
            .flatten();
        Self {
            place: match caller {
                Some(i) => call_chain[i].clone(),
                None => past_inlined_helper(&location::named(
                    pitfall.site,
                    SiteKind::Instruction,
                    resolver,
                )),
            },
            library: caller.and_then(|i| library_between(&call_chain, i)),
            kind: pitfall.kind,
            executed: pitfall.executed,
            affected: pitfall.affected,
            cost_share: pitfall.cost_share,
            reason: pitfall.reason.clone(),
            call_chain,
        }
    }

    /// What is wrong, in a few words.
    pub fn title(&self) -> &'static str {
        match self.kind {
            PitfallKind::FlushOfCleanLine => "flush of clean lines",
            PitfallKind::FlushOfRewrittenLine => "flush of lines that are written again at once",
            PitfallKind::FlushWithoutFence => "flush without a fence",
            PitfallKind::IdleFence => "fence with nothing to order",
            PitfallKind::PartialNonTemporalLine => "non-temporal stores of parts of lines",
            PitfallKind::NonTemporalOfNearData => {
                "non-temporal stores of data that is used again at once"
            }
        }
    }
}
