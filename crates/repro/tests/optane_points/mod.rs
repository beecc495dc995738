//! What the simulation of many points gave when a page was written. A test holds the page to all of it, and runs one point of each
//! kind again, which has to give the same: whatever changes in the model shows there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use prestore_replay::at_once;
use serde::{Deserialize, Serialize};

/// What the simulation of a point gave: what its curve is of, and the write ratio where there is one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Numbers {
    pub ours: f64,
    pub ewr: Option<f64>,
}

/// A line of the file.
#[derive(Deserialize, Serialize)]
struct Line {
    point: String,
    ours: f64,
    ewr: Option<f64>,
}

/// Points, and how to run one.
pub struct Points<'p, P> {
    /// Where in `data` what they gave is.
    pub file: &'p str,
    /// Each with its kind and its name.
    pub points: Vec<(String, String, P)>,
    /// Simulates one.
    pub run: &'p (dyn Fn(&P) -> Numbers + Sync),
    /// What a developer runs to have the file written.
    pub command: &'p str,
}

impl<P: Sync> Points<'_, P> {
    /// What all of them gave, of which one of each kind is run again; or, where the environment has `PRESTORE_WRITE_REPRO`, all.
    pub fn numbers(&self) -> Vec<Numbers> {
        if std::env::var_os("PRESTORE_WRITE_REPRO").is_some() {
            let now = self.run(&self.every());
            self.write(&now);
            return now;
        }
        self.hold(&self.one_of_each())
    }

    /// Runs every point: each gives what it gave.
    pub fn hold_every(&self) {
        self.hold(&self.every());
    }

    fn every(&self) -> Vec<usize> {
        (0..self.points.len()).collect()
    }

    /// In the middle of the points of its kind: neither the smallest nor the largest accesses.
    fn one_of_each(&self) -> Vec<usize> {
        let mut kinds: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, (kind, _, _)) in self.points.iter().enumerate() {
            kinds.entry(kind).or_default().push(index);
        }
        kinds.values().map(|all| all[all.len() / 2]).collect()
    }

    fn run(&self, which: &[usize]) -> Vec<Numbers> {
        at_once(which, |&index| (self.run)(&self.points[index].2), &|_| ())
    }

    /// What all gave, which those at `which` have to give again.
    fn hold(&self, which: &[usize]) -> Vec<Numbers> {
        let kept = self.read();
        let now = self.run(which);
        assert_eq!(now.len(), which.len());
        for (&index, now) in which.iter().zip(now) {
            let (was, name) = (kept[index], &self.points[index].1);
            assert!(
                same(now.ours, was.ours) && same(now.ewr.unwrap_or(0.0), was.ewr.unwrap_or(0.0)),
                "{name}: {now:?}, in data/{} {was:?}: {}",
                self.file,
                self.command
            );
        }
        kept
    }

    fn path(&self) -> PathBuf {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
        data.join(self.file)
    }

    fn read(&self) -> Vec<Numbers> {
        let mut reader = csv::Reader::from_path(self.path()).unwrap();
        let lines: Vec<Line> = reader.deserialize().collect::<Result<_, _>>().unwrap();
        let kept: Vec<_> = lines.iter().map(|line| &line.point).collect();
        let names: Vec<_> = self.points.iter().map(|(_, name, _)| name).collect();
        assert_eq!(kept, names, "data/{}: {}", self.file, self.command);
        let numbers = |line: &Line| Numbers {
            ours: line.ours,
            ewr: line.ewr,
        };
        lines.iter().map(numbers).collect()
    }

    fn write(&self, now: &[Numbers]) {
        let mut writer = csv::Writer::from_path(self.path()).unwrap();
        for ((_, name, _), numbers) in self.points.iter().zip(now) {
            let line = Line {
                point: name.clone(),
                ours: numbers.ours,
                ewr: numbers.ewr,
            };
            writer.serialize(line).unwrap();
        }
        writer.flush().unwrap();
    }
}

/// The same simulation, whatever mathematical library the host has.
fn same(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * one.abs().max(other.abs())
}
