//! The arguments of sampled simulation.

use clap::Args;
use prestore_replay::Sample;

use super::parse_count;
use super::simulation::{ReplayArgs, parse_limit};

/// How to sample.
#[derive(Args, Debug)]
pub struct SampleArgs {
    /// Simulate units of the run in detail, one at a random place (--seed) in each of equal parts, warm the caches before
    /// each, and estimate the whole, with 95 % intervals: long recordings in a fraction of the time (docs/sampling.md)
    #[arg(long, conflicts_with_all = ["region", "limit"])]
    pub sample: bool,
    /// Units, beside some more at the run's start [default: 30]
    #[arg(long, value_name = "N", requires = "sample", value_parser = clap::value_parser!(u64).range(2..=1_000_000))]
    pub sample_units: Option<u64>,
    /// Operations of a unit that are measured (20K) [default: 50K]
    #[arg(long, value_name = "N", requires = "sample", value_parser = parse_limit)]
    pub sample_length: Option<u64>,
    /// Operations before a unit that are simulated in detail and not measured [default: 25K]
    #[arg(long, value_name = "N", requires = "sample", value_parser = parse_count)]
    pub sample_detail: Option<u64>,
    /// Operations before those that warm caches and memories without timing, or `all` since the last unit [default: as the
    /// machine's largest cache needs]
    #[arg(long, value_name = "N|all", requires = "sample", value_parser = parse_warm)]
    pub sample_warm: Option<Warm>,
}

/// How much warms caches before a unit; `None`: all since the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Warm(pub Option<u64>);

fn parse_warm(text: &str) -> Result<Warm, String> {
    match text {
        "all" => Ok(Warm(None)),
        count => parse_count(count).map(|n| Warm(Some(n))),
    }
}

impl ReplayArgs {
    /// How to sample; `None`: simulate all.
    pub fn sample(&self) -> Option<Sample> {
        let (asked, usual) = (&self.sampling, Sample::DEFAULT);
        asked.sample.then(|| Sample {
            units: asked.sample_units.unwrap_or(usual.units),
            length: asked.sample_length.unwrap_or(usual.length),
            detail: asked.sample_detail.unwrap_or(usual.detail),
            warm: asked.sample_warm.map(|w| w.0),
            seed: self.seed,
        })
    }
}
