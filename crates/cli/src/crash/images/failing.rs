//! Images that failed: what each lacked.

use std::path::{Path, PathBuf};

use prestore_crash::{Blame, Domain, Logged, Place, Replay, blame};

use super::First;
use super::args::kept_already;
use super::checker::{Checker, Ended};
use super::desk::{Desk, Parts};
use super::state::Failure;
use crate::error::CliError;

/// Failing images of which it is found out why.
const EXPLAINED: usize = 12;

/// Of those without an answer, as to find out why takes many more checks without one.
const HANGING: usize = 3;

/// What they are images of, and what they are checked with.
pub struct Failing<'a> {
    pub checker: &'a Checker,
    pub parts: &'a Parts,
    pub logged: &'a Logged,
    pub domain: Domain,
    /// Power was cut at this event or a later one.
    pub from: usize,
}

impl Failing<'_> {
    /// The first failure, of which the image is written to `kept`, and the stores that are to blame, each once. `few`: of those
    /// without an answer one is enough, as the checks were stopped for them.
    pub fn explained(
        &self,
        failures: &[Failure],
        few: bool,
        desk: &mut Desk,
        kept: PathBuf,
    ) -> Result<(Option<First>, Vec<Blame>), CliError> {
        let mut hanging = if few { 1 } else { HANGING };
        let mut kept = Some(kept);
        let (mut first, mut blames) = (None, Vec::<Blame>::new());
        for failure in some(failures) {
            if matches!(failure.ended, Ended::Timeout(_)) {
                if hanging == 0 {
                    continue;
                }
                hanging -= 1;
            }
            let why = self.why(failure, desk)?;
            if let Some(path) = kept.take() {
                first = Some(self.keep(failure, &why, path)?);
            }
            let spot = |b: &Blame| self.logged.spot(b.store);
            if !blames.iter().any(|b| spot(b) == spot(&why)) {
                blames.push(why);
            }
        }
        Ok((first, blames))
    }

    /// The least that has to be lost for it to fail.
    fn why(&self, failure: &Failure, desk: &mut Desk) -> Result<Blame, CliError> {
        let Self { logged, domain, .. } = *self;
        blame(&logged.log, domain, self.from, &failure.place, |memory| {
            let ended = desk.check(self.checker, self.parts, logged.image(memory))?;
            Ok::<_, CliError>(!ended.is_good())
        })
    }

    /// Writes the image in which the least is lost to `path`.
    fn keep(&self, failure: &Failure, why: &Blame, path: PathBuf) -> Result<First, CliError> {
        let place = Place {
            events: why.events,
            lost: why.lost.clone(),
            kept: Vec::new(),
        };
        let mut replay = Replay::new(&self.logged.log, self.domain, place.events);
        let (memory, _) = replay.without(|piece| place.lost.contains(piece));
        let image = self.logged.image(memory);
        if path.symlink_metadata().is_err() {
            self.parts.write(&path, image)?;
        } else if !std::fs::read(&path).is_ok_and(|there| there == image) {
            return Err(kept_already(&path));
        }
        Ok(First {
            number: failure.number,
            blame: why.clone(),
            ended: failure.ended.to_string(),
            said: failure.said.clone(),
            kept: path,
        })
    }
}

/// The first failures, and others from all over.
fn some(failures: &[Failure]) -> Vec<&Failure> {
    let half = EXPLAINED / 2;
    let rest = failures.get(half..).unwrap_or_default();
    let step = rest.len().div_ceil(half).max(1);
    failures
        .iter()
        .take(half)
        .chain(rest.iter().step_by(step))
        .collect()
}

/// A name beside the recording that nobody has yet.
pub fn beside(dir: &Path) -> PathBuf {
    let named = |number: u32| {
        let mut name = dir.components().as_path().as_os_str().to_owned();
        name.push(".failed-image");
        if number > 1 {
            name.push(format!("-{number}"));
        }
        PathBuf::from(name)
    };
    (1..)
        .map(named)
        .find(|p| !p.exists())
        .unwrap_or_else(|| named(1))
}
