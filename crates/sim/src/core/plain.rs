//! Loads and stores one behind the other: what most operations are, without asking before each what only other
//! operations can change.

use super::pipeline::{Core, NEVER};
use crate::engine::Ran;
use crate::{Below, Op, OpKind, Time};

impl Core {
    /// Is nothing under way that only operations other than loads and stores begin: atomics, non-temporal data, an
    /// operation that was left? If so, it is still behind any number of loads and stores.
    #[inline]
    pub(super) fn is_quiet(&self) -> bool {
        let any_open = self.combining.as_ref().is_some_and(|c| c.any_open());
        self.atomics.is_empty()
            && self.under.is_new()
            && self.leaves == NEVER
            && !any_open
            && self.fills.combined_until_at_most(self.front.now)
    }

    /// Executes the loads and stores at the beginning of `ops`, each as [`Core::advance`] would, as long as they begin
    /// by `limit`. Before each, `before` is told how many were.
    #[inline(always)]
    pub fn run<B: Below>(
        &mut self,
        ops: &[Op],
        limit: Time,
        below: &mut B,
        mut before: impl FnMut(usize, &B),
    ) -> Ran {
        let mut ran = Ran::default();
        if !self.is_quiet() {
            return ran;
        }
        self.limit = limit;
        for op in ops {
            if !matches!(op.kind, OpKind::Load | OpKind::Store) {
                break;
            }
            before(ran.done, below);
            let began = self.front.now;
            if !self.advance_plainly(op, below) {
                ran.left = Some(began);
                break;
            }
            ran.done += 1;
            ran.began = began;
            if self.is_late() {
                break;
            }
        }
        ran
    }

    /// As [`Core::advance`], with a load or a store, on a core that is quiet.
    #[inline(always)]
    fn advance_plainly<B: Below>(&mut self, op: &Op, below: &mut B) -> bool {
        if self.waiting.any() && !self.reach_behind_loads(op.instr, below) {
            return false;
        }
        self.front
            .dispatch(op.instr, &self.params, &mut self.results);
        let until = self.front.now.min(self.limit);
        if until >= self.due {
            self.settle(until, below);
        }
        if self.is_late() {
            return false;
        }
        if B::NAMES {
            self.names.site = op.site;
        }
        let began = self.front.now;
        let done = match op.kind {
            OpKind::Load => self.load::<B, true>(op, below),
            _ => self.store::<B, true>(op, below),
        };
        if !done {
            self.under.leave(began);
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use prestore_machine::Machine;
    use prestore_trace::{FenceKind, FlushKind, SiteId};

    use crate::{Core, Hierarchy, MemorySystem, Op, OpKind, Random, Time};

    /// Mostly loads and stores, to lines near each other and now and then far away.
    fn operations(random: &mut Random, count: u64) -> Vec<Op> {
        let operation = |n| {
            let kind = match random.below(200) {
                0 => OpKind::Atomic,
                1 => OpKind::NtStore,
                2 => OpKind::Flush(FlushKind::Clwb),
                3 => OpKind::Flush(FlushKind::Clflush),
                4 => OpKind::Fence(FenceKind::Store),
                5..90 => OpKind::Store,
                _ => OpKind::Load,
            };
            let region = random.below(4) << 20;
            let near = n * 8 + random.below(4) * 64;
            let far = random.below(50) == 0;
            let within = if far { random.below(1 << 20) } else { near };
            Op {
                instr: n * 3,
                addr: region + within,
                size: [1, 8, 8, 16, 64, 200][random.below(6) as usize],
                site: SiteId::NONE,
                kind,
                after: 0,
            }
        };
        (0..count).map(operation).collect()
    }

    /// What a core and its caches counted.
    fn simulated(machine: &Machine, ops: &[Op], plainly: bool) -> Option<String> {
        let quantum = Time(40_000);
        let mut core = Core::new(0, machine);
        let mut below = Hierarchy::new(machine, MemorySystem::new(machine, 1), 1).ok()?;
        let (mut at, mut limit) = (0, quantum);
        while at < ops.len() {
            let left = if plainly {
                let ran = core.run(&ops[at..], limit, &mut below, |_, _| ());
                at += ran.done;
                ran.left.is_some()
            } else {
                false
            };
            if !left && core.now() <= limit && at < ops.len() {
                if core.advance(&ops[at], limit, &mut below) {
                    at += 1;
                } else {
                    limit += quantum;
                }
            } else if left {
                limit += quantum;
            }
            while core.now() > limit {
                limit += quantum;
            }
        }
        let counters = below.counters();
        Some(format!(
            "{:?} {:?} {counters:?}",
            core.now(),
            core.results()
        ))
    }

    #[test]
    fn a_row_of_loads_and_stores_is_each_of_them() {
        for name in ["machine-a", "spr-cxl-dram", "grace"] {
            let machine = Machine::find(name);
            assert!(machine.is_ok(), "{name}");
            let Ok(machine) = machine else { continue };
            for seed in 0..4 {
                let ops = operations(&mut Random::new(seed), 20_000);
                let plainly = simulated(&machine, &ops, true);
                assert!(plainly.is_some(), "{name}");
                assert_eq!(plainly, simulated(&machine, &ops, false), "{name}, {seed}");
            }
        }
    }
}
