//! Which places of a function write the same data: those that go on with what others have begun, and not by chance.
//!
//! Two arrays lie side by side while they are small (a table that grows does, with what it refers to), and the stores into one then
//! go on where those into the other have stopped. That is no reason to take them for one write for the rest of the run.

use rustc_hash::FxHashMap;

use crate::executed::Place;
use crate::ledger::{Joined, Ledger};
use crate::written::Written;

/// Of what a place writes, the part that it must have added to another place's data, at least, one of so many: as
/// little as is listed of a program's writing (`min_store_share`), so that data which is shared by many places, as by the
/// cases of an encoder, stays together.
const ONE_OF: u64 = 100;

/// Visits to lines below which a place's writing, 256 KB, is too little to tell chance from habit.
const FEWEST: u64 = 4096;

/// The places that write the same data.
pub(crate) fn joined(ledger: &Ledger) -> Joined {
    let mut visits: FxHashMap<Place, u64> = FxHashMap::default();
    let mut most: FxHashMap<Place, (u64, Place)> = FxHashMap::default();
    for (&(place, first), &times) in &ledger.met {
        *visits.entry(place).or_default() += times;
        let with = most.entry(place).or_insert((times, first));
        *with = (*with).max((times, first));
    }
    let all = |place: Place| {
        let own = ledger.written.get(&place).and_then(Option::as_deref);
        let own = own.map_or(0, lines);
        own + visits.get(&place).copied().unwrap_or(0)
    };
    let mut joined = ledger.joined.clone();
    for (&(place, first), &times) in &ledger.met {
        let together = match all(place) < FEWEST {
            // It must not tie two that write much.
            true => all(first) < FEWEST || most.get(&place).is_some_and(|m| m.1 == first),
            false => times * ONE_OF >= all(place),
        };
        if together {
            joined.join(place, first);
        }
    }
    joined
}

/// Lines of what the place began itself.
fn lines(written: &Written) -> u64 {
    let sequential = written.classes.iter().map(|c| c.usage.lines).sum::<u64>();
    sequential + written.scattered.lines
}
