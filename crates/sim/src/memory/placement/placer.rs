//! Deciding where allocations live, and of which type their memory is.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use prestore_machine::{MemoryType, Placement, RangeSelector};
use prestore_trace::SiteId;
use rustc_hash::FxHashMap;

use super::ranges::RangeMap;
use super::site::CallSite;

/// What a placer tells its decisions: the memories which lines live in, or the table of types.
pub trait Places<V> {
    /// `lines` have `value` from now on; `None`: no rule names them.
    fn set(&mut self, lines: RangeInclusive<u64>, value: Option<V>);
}

/// Applies a machine's placement rules to what a program allocates while it runs.
///
/// The first rule that fits an address decides. Of an address that lies in several allocations (in a
/// block of `malloc` within a mapping) only the innermost counts: its size, its call. A line lives
/// in one memory: that of the allocation that was made last of those it holds bytes of.
///
/// Only allocations that make a difference are remembered.
#[derive(Clone, Debug)]
pub struct Placer<V = usize> {
    rules: Vec<(RangeSelector, V)>,
    line_shift: u32,
    /// First rule of [`RangeSelector::Addresses`] that fits, by line.
    addresses: RangeMap<Rule>,
    stacks: RangeMap<Rule>,
    /// Rule of the innermost allocation that made a difference, by line; [`NO_RULE`] where it has
    /// none but one around it has.
    allocations: RangeMap<Rule>,
    /// The allocations in `allocations` by address, and what they lie in.
    live: BTreeMap<u64, Live>,
    /// Rules of [`RangeSelector::AllocationSite`] that fit a site.
    sites: FxHashMap<SiteId, Box<[Rule]>>,
}

/// Index of a rule.
type Rule = u32;
const NO_RULE: Rule = Rule::MAX;

#[derive(Clone, Debug)]
struct Live {
    lines: RangeInclusive<u64>,
    /// What held before in its lines.
    around: Vec<(RangeInclusive<u64>, Option<Rule>)>,
}

impl Placer {
    /// Applies the rules of `placement` about memories, on a machine with lines of `line` bytes. Rules about
    /// addresses hold at once in `memory`.
    pub fn new(placement: &Placement, line: u64, memory: &mut impl Places<usize>) -> Self {
        let rules = placement.rules.iter();
        Self::with(
            rules.map(|r| (r.of.clone(), r.memory)).collect(),
            line,
            memory,
        )
    }
}

impl Placer<MemoryType> {
    /// The same of the rules about memory types.
    pub fn of_types(placement: &Placement, line: u64, types: &mut impl Places<MemoryType>) -> Self {
        let rules = placement.types.iter();
        let rules = rules.map(|r| (r.of.clone(), r.memory_type)).collect();
        Self::with(rules, line, types)
    }
}

impl<V: Copy> Placer<V> {
    fn with(rules: Vec<(RangeSelector, V)>, line: u64, into: &mut impl Places<V>) -> Self {
        let mut placer = Self {
            rules,
            line_shift: line.max(1).trailing_zeros(),
            addresses: RangeMap::new(),
            stacks: RangeMap::new(),
            allocations: RangeMap::new(),
            live: BTreeMap::new(),
            sites: FxHashMap::default(),
        };
        // The last first, so that the first is there in the end.
        for index in (0..placer.rules.len()).rev() {
            if let RangeSelector::Addresses(first, last) = placer.rules[index].0 {
                let lines = first >> placer.line_shift..=last.max(first) >> placer.line_shift;
                placer.addresses.set(lines.clone(), index as Rule);
                placer.decide(lines, into);
            }
        }
        placer
    }

    /// `bytes` bytes at `addr` were handed out by a call at `site`. `lookup` says where in the source
    /// that is; it is asked once a site, and only where a rule is about sites.
    pub fn allocated(
        &mut self,
        addr: u64,
        bytes: u64,
        site: SiteId,
        lookup: impl FnOnce() -> Vec<CallSite>,
        memory: &mut impl Places<V>,
    ) {
        if self.rules.is_empty() || bytes == 0 {
            return;
        }
        // An allocator within an allocator reports a block twice; the outer one, which is the
        // program's own call, comes last.
        self.freed(addr, memory);
        let rule = self.of_allocation(bytes, site, lookup);
        let lines = self.lines(addr, bytes);
        let around = self.around(&lines);
        if rule == NO_RULE
            && around
                .iter()
                .all(|(_, rule)| rule.is_none_or(|r| r == NO_RULE))
        {
            return;
        }
        self.allocations.set(lines.clone(), rule);
        self.live.insert(
            addr,
            Live {
                lines: lines.clone(),
                around,
            },
        );
        self.decide(lines, memory);
    }

    /// The allocation at `addr` was returned, and with it those that lie in it.
    pub fn freed(&mut self, addr: u64, memory: &mut impl Places<V>) {
        let Some(live) = self.live.remove(&addr) else {
            return;
        };
        let last = live.lines.end() << self.line_shift;
        let within: Vec<u64> = self
            .live
            .range(addr..=last)
            .map(|(addr, _)| *addr)
            .collect();
        for addr in within {
            self.live.remove(&addr);
        }
        for (lines, rule) in live.around {
            match rule {
                Some(rule) => self.allocations.set(lines, rule),
                None => self.allocations.clear(lines),
            }
        }
        self.decide(live.lines, memory);
    }

    /// `bytes` bytes at `lowest` are the stack of a thread.
    pub fn stack(&mut self, lowest: u64, bytes: u64, memory: &mut impl Places<V>) {
        let is_stack = |rule: &(RangeSelector, V)| rule.0 == RangeSelector::Stacks;
        if let Some(rule) = self.rules.iter().position(is_stack) {
            let lines = self.lines(lowest, bytes);
            self.stacks.set(lines.clone(), rule as Rule);
            self.decide(lines, memory);
        }
    }

    fn lines(&self, addr: u64, bytes: u64) -> RangeInclusive<u64> {
        let last = addr.saturating_add(bytes.saturating_sub(1));
        addr >> self.line_shift..=last >> self.line_shift
    }

    /// The first rule about allocations that fits.
    fn of_allocation(
        &mut self,
        bytes: u64,
        site: SiteId,
        lookup: impl FnOnce() -> Vec<CallSite>,
    ) -> Rule {
        let rules = &self.rules;
        let named = |of: &RangeSelector, frames: &[CallSite]| match of {
            RangeSelector::AllocationSite(name) => frames.iter().any(|frame| frame.is(name)),
            _ => false,
        };
        let asks = |rule: &(RangeSelector, V)| matches!(rule.0, RangeSelector::AllocationSite(_));
        let of_site: &[Rule] = if rules.iter().any(asks) {
            self.sites.entry(site).or_insert_with(|| {
                let frames = lookup();
                let fits = rules
                    .iter()
                    .enumerate()
                    .filter(|(_, r)| named(&r.0, &frames));
                fits.map(|(index, _)| index as Rule).collect()
            })
        } else {
            &[]
        };
        let large = |rule: &(RangeSelector, V)| match rule.0 {
            RangeSelector::AllocationsFrom(least) => bytes >= least.0,
            _ => false,
        };
        let of_size = rules.iter().position(large).map(|index| index as Rule);
        let first = of_site.iter().copied().chain(of_size).min();
        first.unwrap_or(NO_RULE)
    }

    /// What holds of allocations in `lines`, in pieces.
    fn around(&self, lines: &RangeInclusive<u64>) -> Vec<(RangeInclusive<u64>, Option<Rule>)> {
        pieces(lines, |line| self.allocations.around(line)).collect()
    }

    /// Tells `into` what holds of `lines` now.
    fn decide(&self, lines: RangeInclusive<u64>, into: &mut impl Places<V>) {
        let decided = pieces(&lines, |line| {
            let mut first = NO_RULE;
            let mut alike = 0..=u64::MAX;
            for layer in [&self.addresses, &self.stacks, &self.allocations] {
                let (rule, around) = layer.around(line);
                first = first.min(rule.unwrap_or(NO_RULE));
                alike = *alike.start().max(around.start())..=*alike.end().min(around.end());
            }
            (first, alike)
        });
        for (lines, rule) in decided {
            into.set(lines, self.rules.get(rule as usize).map(|rule| rule.1));
        }
    }
}

/// Cuts `lines` where `around`, which answers a value and the lines that share it, says.
pub(super) fn pieces<V>(
    lines: &RangeInclusive<u64>,
    around: impl Fn(u64) -> (V, RangeInclusive<u64>),
) -> impl Iterator<Item = (RangeInclusive<u64>, V)> {
    let last = *lines.end();
    let mut next = Some(*lines.start());
    std::iter::from_fn(move || {
        let first = next.filter(|first| *first <= last)?;
        let (value, alike) = around(first);
        let until = last.min(*alike.end());
        next = until.checked_add(1);
        Some((first..=until, value))
    })
}
