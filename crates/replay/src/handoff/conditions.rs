//! Barriers made of a condition: threads sleep at it until the last one of a round wakes all of them.
//!
//! What a condition gives is handed over to each that took a part of it, so that those wait for the thread that gave it. Whoever
//! that was in the recording: at a barrier it was the last of its round there, and need not be in simulated time, where it has
//! to wait for the others as they for it. Such conditions are told from those of a pool, which one thread gives work to, by who
//! gives: now one of those that wait at other times, now another.

use prestore_trace::SiteId;
use rustc_hash::{FxHashMap, FxHashSet};

use super::infer::ONE_LOCK;
use super::pairs::Part;
use super::places::{Given, Write};
use super::sections::Section;

/// Threads of a barrier, at least: what two give to each other by turns are messages.
const FEWEST: usize = 3;

/// What one condition gave.
#[derive(Debug)]
struct Condition {
    site: SiteId,
    addr: u64,
    rounds: Vec<Given>,
    /// Where in `rounds` that of a thread's event is: a condition may have given millions of times.
    round_of: FxHashMap<(u32, u64), usize>,
}

/// What conditions gave to several threads at once.
#[derive(Debug, Default)]
pub(super) struct Conditions(Vec<Condition>);

impl Conditions {
    /// `given` at `addr` has gone to one thread more; the first are told of when there are two.
    pub(super) fn gives(&mut self, addr: u64, given: &Given) {
        let site = given.from.site;
        let near = |c: &&mut Condition| c.site == site && c.addr.abs_diff(addr) < ONE_LOCK;
        let Some(condition) = self.0.iter_mut().find(near) else {
            let mut condition = Condition {
                site,
                addr,
                rounds: Vec::new(),
                round_of: FxHashMap::default(),
            };
            condition.gives(given);
            self.0.push(condition);
            return;
        };
        condition.gives(given);
    }

    /// Which are barriers. `sections`: a thread each. Who gave waits when it has released what it has.
    pub(super) fn barriers(self, sections: &[Vec<Section>]) -> Barriers {
        let mut all = Barriers::default();
        for condition in self.0 {
            if !condition.is_given_by_several() {
                continue;
            }
            if !condition.is_barrier() {
                all.unsure += condition.rounds.len() as u64;
                continue;
            }
            for given in &condition.rounds {
                all.rounds.push(round(given, sections));
                all.no_locks.extend(had_by_several(given, sections));
            }
        }
        all
    }
}

/// Barriers made of conditions.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Barriers {
    /// Their rounds, who gave first.
    pub(super) rounds: Vec<Vec<Part>>,
    /// Addresses that seemed to be locks and that several threads of a round had while they waited: counts of who waits.
    pub(super) no_locks: FxHashSet<u32>,
    /// Rounds of other conditions that now this thread gives, now that one.
    pub(super) unsure: u64,
}

impl Condition {
    fn gives(&mut self, given: &Given) {
        let next = self.rounds.len();
        let giver = (given.from.thread, given.from.event);
        match *self.round_of.entry(giver).or_insert(next) {
            at if at == next => self.rounds.push(given.clone()),
            at => self.rounds[at].to.clone_from(&given.to),
        }
    }

    fn is_given_by_several(&self) -> bool {
        let first = self.rounds.first().map(|given| given.from.thread);
        self.rounds
            .iter()
            .any(|given| Some(given.from.thread) != first)
    }

    /// Most rounds are of the same threads, and no other thread takes part in one.
    fn is_barrier(&self) -> bool {
        let teams: Vec<Vec<u32>> = self.rounds.iter().map(team).collect();
        let Some(all) = teams.iter().max_by_key(|team| team.len()) else {
            return false;
        };
        let whole = teams.iter().filter(|team| *team == all).count();
        let within = |team: &Vec<u32>| team.iter().all(|thread| all.contains(thread));
        all.len() >= FEWEST && 2 * whole > teams.len() && teams.iter().all(within)
    }
}

/// Who takes part, in order.
fn team(given: &Given) -> Vec<u32> {
    let mut team: Vec<u32> = given.to.iter().map(|(thread, _)| *thread).collect();
    team.push(given.from.thread);
    team.sort_unstable();
    team
}

fn round(given: &Given, sections: &[Vec<Section>]) -> Vec<Part> {
    let from = given.from;
    let part = |thread, arrived, looked| Part {
        thread,
        arrived,
        looked: Some(looked),
        waited: None,
        lets_go: false,
    };
    let mut round = vec![part(from.thread, from.event + 1, released(from, sections))];
    let others = given.to.iter();
    round.extend(others.map(|&(thread, (first, last))| part(thread, first, last)));
    round
}

/// What several threads had from before they waited until they had been woken.
fn had_by_several(given: &Given, sections: &[Vec<Section>]) -> impl Iterator<Item = u32> {
    let mut had: FxHashMap<u32, usize> = FxHashMap::default();
    for &(thread, (first, last)) in &given.to {
        let own = sections.get(thread as usize).into_iter().flatten();
        for section in own.filter(|s| s.from <= first && last < s.until) {
            *had.entry(section.lock).or_default() += 1;
        }
    }
    had.into_iter()
        .filter(|(_, threads)| *threads > 1)
        .map(|(lock, _)| lock)
}

/// When the thread of `write`, which is in some sections then, has left them all: so many events come before.
fn released(write: Write, sections: &[Vec<Section>]) -> u64 {
    let own = sections.get(write.thread as usize).into_iter().flatten();
    let around = own.filter(|s| s.from <= write.event && write.event < s.until);
    around.map(|s| s.until).max().unwrap_or(write.event + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SITE: SiteId = SiteId(1);

    fn given(by: u32, event: u64, to: &[u32]) -> Given {
        let looks = (event - 5, event - 3);
        Given {
            from: Write {
                thread: by,
                site: SITE,
                event,
                stretch: 0,
                ticks: 0,
            },
            at: SiteId(2),
            to: to.iter().map(|thread| (*thread, looks)).collect(),
        }
    }

    fn conditions(rounds: &[Given]) -> Conditions {
        let mut all = Conditions::default();
        for (i, round) in rounds.iter().enumerate() {
            // A condition goes back and forth between two words.
            let addr = 0x1000 + 4 * (i as u64 % 2);
            let some = Given {
                to: round.to[..2].to_vec(),
                ..round.clone()
            };
            all.gives(addr, &some);
            all.gives(addr, round);
        }
        all
    }

    #[test]
    fn who_is_last_waits_for_all_when_it_has_left_its_section() {
        let rounds = [given(2, 10, &[0, 1]), given(0, 30, &[1, 2])];
        let sections = [vec![], vec![], vec![section(0, 8, 14)]];
        let Barriers {
            rounds: met,
            unsure,
            no_locks,
        } = conditions(&rounds).barriers(&sections);
        assert_eq!((met.len(), unsure, no_locks.len()), (2, 0, 0));
        let looked = |round: &Vec<Part>| -> Vec<(u32, Option<u64>)> {
            round.iter().map(|p| (p.thread, p.looked)).collect()
        };
        assert_eq!(looked(&met[0]), [(2, Some(14)), (0, Some(7)), (1, Some(7))]);
        assert_eq!(looked(&met[1])[0], (0, Some(31)));
    }

    fn section(lock: u32, from: u64, until: u64) -> Section {
        Section {
            lock,
            site: SITE,
            since: from,
            first: from,
            from,
            until,
        }
    }

    #[test]
    fn what_several_have_while_they_wait_is_no_lock() {
        let rounds = [given(2, 10, &[0, 1]), given(0, 30, &[1, 2])];
        let count = || section(7, 4, 9);
        // The second thread has another one while it waits, alone.
        let sections = [vec![count()], vec![count(), section(8, 3, 9)], vec![]];
        let met = conditions(&rounds).barriers(&sections);
        assert_eq!(met.no_locks.into_iter().collect::<Vec<_>>(), [7]);
    }

    #[test]
    fn who_gives_work_to_others_waits_for_nobody() {
        let rounds = [given(0, 10, &[1, 2]), given(0, 30, &[1, 2])];
        assert_eq!(conditions(&rounds).barriers(&[]), Barriers::default());
    }

    #[test]
    fn threads_that_wake_now_these_now_those_are_counted() {
        let rounds = [given(0, 10, &[1, 2]), given(3, 30, &[4, 5])];
        let found = conditions(&rounds).barriers(&[]);
        assert_eq!((found.rounds.len(), found.unsure), (0, 2));
    }
}
