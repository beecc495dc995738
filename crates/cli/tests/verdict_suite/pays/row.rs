//! One place, and when its verdict holds.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::cases::Case;

/// Below this the advice does harm.
pub(super) const NO_HARM: f64 = 0.97;
/// Another operation is better if it gains this much more.
pub(super) const BETTER: f64 = 1.03;

/// A place of the suite.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Place {
    /// The program with its arguments.
    pub program: String,
    pub function: String,
}

impl Place {
    pub fn of(case: &Case, function: &str) -> Self {
        let program = [&[case.program], case.args].concat().join(" ");
        Self {
            program,
            function: function.to_owned(),
        }
    }
}

/// What the simulator says of one place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Row {
    #[serde(flatten)]
    pub place: Place,
    pub verdict: String,
    /// By machine and operation: the program's time over that with the operation there, in the best way to write it.
    pub gains: BTreeMap<String, BTreeMap<String, f64>>,
}

impl Row {
    /// What following the advice gains on a machine. Where non-temporal stores are plain ones, P0 (7.3.1) cleans what it
    /// would skip; where no instruction demotes, nothing changes.
    pub fn own(&self, gains: &BTreeMap<String, f64>) -> f64 {
        let clean_instead = || gains.get("clean").filter(|_| self.verdict == "skip");
        let own = gains.get(&self.verdict).or_else(clean_instead);
        own.copied().unwrap_or(1.0)
    }

    /// How following compares, where it compares worst: with harm, and with the other operations. From 1 on it holds.
    pub fn worst(&self) -> f64 {
        let on = |gains: &BTreeMap<String, f64>| {
            let own = self.own(gains);
            let best = gains.values().copied().fold(1.0, f64::max);
            (own / NO_HARM).min(own * BETTER / best)
        };
        self.gains.values().map(on).fold(f64::INFINITY, f64::min)
    }

    pub fn holds(&self) -> bool {
        self.worst() >= 1.0
    }
}

#[test]
fn harm_and_a_better_operation_do_not_hold() {
    let row = |verdict: &str, a: [f64; 2], b: [f64; 2]| {
        let by = |ops: [&str; 2], gains: [f64; 2]| {
            ops.map(str::to_owned).into_iter().zip(gains).collect()
        };
        let gains = [
            ("a".to_owned(), by(["clean", "skip"], a)),
            ("b".to_owned(), by(["clean", "demote"], b)),
        ];
        Row {
            place: Place {
                program: String::new(),
                function: String::new(),
            },
            verdict: verdict.to_owned(),
            gains: gains.into(),
        }
    };
    assert!(row("skip", [1.2, 1.4], [1.0, 1.0]).holds());
    assert!(!row("skip", [1.2, 0.9], [1.0, 1.0]).holds());
    assert!(!row("clean", [1.2, 1.4], [1.0, 1.0]).holds());
    // On b it is cleaned instead.
    assert!(row("skip", [1.2, 1.4], [1.3, 1.2]).holds());
    assert!(!row("skip", [1.2, 1.4], [0.9, 1.0]).holds());
    assert!(row("leave-alone", [0.3, 1.02], [0.9, 1.0]).holds());
    assert!(!row("leave-alone", [1.1, 1.0], [1.0, 1.0]).holds());
    assert!(row("demote", [1.0, 0.5], [1.1, 1.4]).holds());
    assert!(!row("demote", [1.1, 0.5], [1.1, 1.4]).holds());
}
