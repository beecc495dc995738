//! What was recognised becomes marks of the threads.

use rustc_hash::FxHashSet;

use super::HandOffCounts;
use super::infer::{ONE_LOCK, Walk};
use super::inside_out::inside_out;
use super::locks::Having;
use super::pairs::{Meeting, Part, Turn};
use crate::marks::{MAX_LOCK, Mark};

impl Walk {
    /// All marks, of each thread in order, how many numbers they have, and what they were made of.
    pub(super) fn finish(mut self) -> (Vec<Vec<(u64, Mark)>>, u32, HandOffCounts) {
        let meetings = std::mem::take(&mut self.pairs).meetings();
        let met: FxHashSet<u64> = meetings.iter().map(|(addr, _)| *addr).collect();
        let conditions = std::mem::take(&mut self.conditions);
        let conditions = conditions.barriers(&self.sections);
        self.counts.unsure += conditions.unsure;
        self.mark_sections(&met, conditions.no_locks);
        for round in &conditions.rounds {
            self.meet(round);
        }
        for (addr, meeting) in meetings {
            match meeting {
                Meeting::Barrier(rounds) => {
                    for round in &rounds {
                        self.meet(round);
                    }
                }
                Meeting::Lock(turns) => self.take_turns(addr, &turns),
            }
        }
        for told in std::mem::take(&mut self.flags).told() {
            if let Some(number) = self.number(told.addr) {
                self.marks[told.by].push((told.published, Mark::HandOff(number)));
                self.marks[told.to].push((told.looked, Mark::Await(number)));
            }
        }
        self.marks
            .iter_mut()
            .for_each(|marks| marks.sort_unstable());
        let events = |thread: usize| self.watchers[thread].events;
        self.counts.unresolved = self.spins.unresolved(&self.marks, events);
        self.counts.unstamped = self.counts.atomics > 0 && !self.stamped;
        (self.marks, self.numbers.len() as u32, self.counts)
    }

    /// Of the sections, those of locks become marks; what threads handed over to each other only to acquire the lock is
    /// left to the simulation. Not those of addresses where threads `met` in other ways, nor of `no_locks`.
    fn mark_sections(&mut self, met: &FxHashSet<u64>, mut no_locks: FxHashSet<u32>) {
        let sections = std::mem::take(&mut self.sections);
        no_locks.extend(inside_out(&self.locks, &sections));
        let mut given_up = FxHashSet::default();
        for (marks, sections) in self.marks.iter_mut().zip(sections) {
            let before = marks.len();
            marks.sort_unstable();
            for section in sections {
                let addr = self.locks.addr(section.lock).filter(|a| !met.contains(a));
                let Some(addr) = addr.filter(|_| !no_locks.contains(&section.lock)) else {
                    continue;
                };
                let shared = match self.locks.having(section.lock, section.site) {
                    Some(Having::Alone) => false,
                    Some(Having::Shared) => true,
                    None => continue,
                };
                self.counts.sections += 1;
                let from = marks[..before].partition_point(|(at, _)| *at < section.since);
                let own = marks[from..before].iter();
                for (_, mark) in own.take_while(|(at, _)| *at < section.until) {
                    if let Mark::Await(number) = mark
                        && self.numbers[*number as usize].abs_diff(addr) < ONE_LOCK
                    {
                        given_up.insert(*number);
                    }
                }
                marks.push((section.from, Mark::acquire(section.lock, shared)));
                marks.push((section.until, Mark::Release(section.lock)));
                if self.leave_out && section.first < section.from {
                    marks.push((section.first, Mark::Leave));
                    marks.push((section.from, Mark::Resume));
                }
            }
        }
        self.counts.enforced -= given_up.len() as u64;
        for marks in &mut self.marks {
            marks.retain(|(_, mark)| match mark {
                Mark::Await(number) | Mark::HandOff(number) => !given_up.contains(number),
                _ => true,
            });
        }
    }

    /// Nobody of a round goes on before all have arrived: who lets them go on, the first of `round`, waits for the others,
    /// and they for that one. (The other way round, what it hands over to one that comes late would contradict.)
    fn meet(&mut self, round: &[Part]) {
        let Some((first, others)) = round.split_first() else {
            return;
        };
        self.counts.met += 1;
        let looks = |part: &Part| part.looked.unwrap_or(part.arrived);
        for part in others {
            let (Some(arrived), Some(all)) = (self.number(0), self.number(0)) else {
                return;
            };
            self.marks[part.thread as usize].extend([
                (part.arrived, Mark::HandOff(arrived)),
                (looks(part), Mark::Await(all)),
            ]);
            // Behind its look: at one place, what is handed over comes first.
            self.marks[first.thread as usize].extend([
                (looks(first), Mark::Await(arrived)),
                (looks(first) + 1, Mark::HandOff(all)),
            ]);
        }
        for part in round {
            self.leave_out_wait(part);
        }
    }

    /// Who holds a ticket has the lock from its arrival, in simulated time, until it lets the next one in.
    fn take_turns(&mut self, addr: u64, turns: &[Turn]) {
        let Some(lock) = self.locks.add(addr, MAX_LOCK) else {
            return;
        };
        for turn in turns {
            self.counts.sections += 1;
            self.marks[turn.part.thread as usize].extend([
                (turn.part.arrived, Mark::acquire(lock, false)),
                (turn.until, Mark::Release(lock)),
            ]);
            self.leave_out_wait(&turn.part);
        }
    }

    /// Looks in vain were the recording machine's waiting.
    fn leave_out_wait(&mut self, part: &Part) {
        if let Some((first, last)) = part.waited.filter(|_| self.leave_out) {
            self.counts.waits += 1;
            self.marks[part.thread as usize].extend([(first, Mark::Leave), (last, Mark::Resume)]);
        }
    }
}
