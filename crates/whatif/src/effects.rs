//! What each piece of advice does alone, and which are followed together.

use std::collections::BTreeMap;

use prestore_machine::Machine;
use prestore_sim::{Results, Way};

use crate::study::Runs;
use crate::variant::{Variant, idle, op_name, way_name};
use crate::{Advice, Effect, Figures, Speedup};

/// Share of stores without a non-temporal form from which a finding cannot be written in place.
const FEW: f64 = 0.01;

/// The runs on one machine with one piece of advice each.
pub(crate) struct Alone<'a> {
    pub machine: &'a Machine,
    /// The program as it is, at least one run.
    pub baseline: Vec<Results>,
    pub effects: Vec<Effect>,
    /// Which advice each effect is of.
    advice: Vec<usize>,
    pub notes: Vec<String>,
}

impl<'a> Alone<'a> {
    /// `runs` are those of the program as it is and of each of `advice`, in this order.
    pub fn new(machine: &'a Machine, advice: &[Advice], runs: Vec<Runs>) -> Self {
        let mut runs = runs.into_iter();
        let baseline = runs.next().map_or_else(Vec::new, |r| r.results);
        let notes = baseline.first().map_or_else(Vec::new, |r| r.notes.clone());
        let mut alone = Self {
            machine,
            baseline,
            effects: Vec::new(),
            advice: Vec::new(),
            notes,
        };
        for (index, (a, runs)) in advice.iter().zip(runs).enumerate() {
            alone.add(index, a, &runs);
        }
        for best in followed(&alone.effects, false) {
            alone.effects[best].best = true;
        }
        alone
    }

    fn add(&mut self, index: usize, a: &Advice, runs: &Runs) {
        if a.way == Way::InPlace && runs.impossible > FEW {
            self.notes.push(format!(
                "finding {}: its stores cannot be made non-temporal where they are: {:.0}% are of one or two bytes, \
                 or of string instructions, of which there is no such form",
                a.finding + 1,
                runs.impossible * 100.0
            ));
            return;
        }
        self.advice.push(index);
        self.effects.push(Effect {
            finding: a.finding,
            op: op_name(a.op),
            way: way_name(a.way),
            speedup: self.speedup(&runs.results),
            best: false,
            idle: idle(a.op, self.machine),
            figures: Figures::from(&runs.results[0]),
        });
    }

    /// Of each run over the baseline's with the same seed and places. Of samples, the ends are those of their intervals.
    pub fn speedup(&self, runs: &[Results]) -> Speedup {
        let pairs = self.baseline.iter().zip(runs);
        let sampled = pairs.map(|(base, with)| {
            let (base, with) = (base.sampled.as_ref()?, with.sampled.as_ref()?);
            base.times_as_long_as(with)
        });
        if let Some(estimates) = sampled.collect::<Option<Vec<_>>>() {
            return Speedup::estimated(&estimates);
        }
        let ratios = self
            .baseline
            .iter()
            .zip(runs)
            .map(|(base, with)| match with.cycles {
                0 => 1.0,
                cycles => base.cycles as f64 / cycles as f64,
            });
        Speedup::of(&ratios.collect::<Vec<_>>())
    }

    /// The run in which these effects are had together.
    pub fn variant(&self, effects: &[usize]) -> Variant {
        Variant(effects.iter().map(|&e| self.advice[e]).collect())
    }
}

/// The best effect of each finding, in the order of findings: of those that gain, or of all.
pub(crate) fn followed(effects: &[Effect], all: bool) -> Vec<usize> {
    let mut best: BTreeMap<usize, usize> = BTreeMap::new();
    for (i, effect) in effects.iter().enumerate() {
        let gains = effect.idle.is_none() && effect.speedup.gains();
        if !all && !gains {
            continue;
        }
        let known = best.entry(effect.finding).or_insert(i);
        if effect.speedup.speedup > effects[*known].speedup.speedup {
            *known = i;
        }
    }
    best.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(finding: usize, ratios: &[f64]) -> Effect {
        Effect {
            finding,
            op: "skip",
            way: "buffer",
            speedup: Speedup::of(ratios),
            best: false,
            idle: None,
            figures: Figures::default(),
        }
    }

    #[test]
    fn only_what_gains_is_followed_and_the_best_of_each_finding() {
        let effects = [
            effect(0, &[1.2]),
            effect(0, &[1.5]),
            effect(1, &[0.7]),
            effect(2, &[1.001]),
            effect(3, &[1.3, 0.9, 1.3]),
            effect(4, &[1.1]),
        ];
        assert_eq!(followed(&effects, false), [1, 5]);
        // What the user asked for is followed, whatever it does.
        assert_eq!(followed(&effects, true), [1, 2, 3, 4, 5]);
    }

    #[test]
    fn what_does_nothing_is_not_followed() {
        let mut nothing = effect(0, &[1.4]);
        nothing.idle = Some("no instruction demotes there");
        assert!(followed(&[nothing], false).is_empty());
    }
}
