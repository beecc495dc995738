//! What can be reproduced.

use std::path::PathBuf;

use prestore_machine::nearest;

use crate::error::ReproError;
use crate::optane::OptaneStudy;
use crate::report::Report;
use crate::{p0, p1, p4};

/// What a user may choose.
#[derive(Clone, Debug)]
pub struct Options {
    /// Seed of all that is random.
    pub seed: u64,
    /// The command `prestore`, which records and is the workloads; `None`: experiments that record
    /// cannot be run.
    pub prestore: Option<PathBuf>,
    /// Where recordings are kept, and taken from where they are there already.
    pub keep: Option<PathBuf>,
    /// Where recordings that are not kept lie meanwhile; `None`: the folder for temporary files.
    pub scratch: Option<PathBuf>,
    /// Shorter runs: the shape, not the numbers.
    pub quick: bool,
    /// `optane`: a file of points to run, or a folder of them; `None`: those of this crate.
    pub points: Option<PathBuf>,
    /// `optane`: DIMMs that are interleaved; `None`: one.
    pub dimms: Option<u32>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            seed: 1,
            prestore: None,
            keep: None,
            scratch: None,
            quick: false,
            points: None,
            dimms: None,
        }
    }
}

/// A published table or figure, and how to get ours.
pub trait Experiment: Sync {
    /// Its name: paper and figure, as in `p0-fig-3`.
    fn name(&self) -> &'static str;

    /// One sentence.
    fn about(&self) -> &'static str;

    /// Runs it.
    ///
    /// # Errors
    /// It cannot be run with these options, or the simulation failed.
    fn run(&self, options: &Options) -> Result<Report, ReproError>;
}

/// All experiments.
pub fn experiments() -> &'static [&'static dyn Experiment] {
    &[
        &p0::Amplification,
        &p0::Skip,
        &p0::Rewritten,
        &p0::Kv,
        &p0::KvSmall,
        &p0::Fence,
        &p0::KvFence,
        &p0::Ring,
        &p0::Overhead,
        &p0::WhatIf,
        &p1::Loop,
        &p1::Structures,
        &p1::Today,
        &p4::EightThreads,
        &p4::Column::ONE_THREAD,
        &p4::Column::FOUR_THREADS,
        &p4::Column::TWELVE_THREADS,
        &p4::Statistics,
        &p4::OtherKernels,
        &p4::Crossing,
        &p4::GemmRows,
        &OptaneStudy,
    ]
}

/// The experiment of a name.
///
/// # Errors
/// There is none; the error names those there are.
pub fn find(name: &str) -> Result<&'static dyn Experiment, ReproError> {
    let all = experiments();
    let found = all.iter().find(|e| e.name() == name);
    found.copied().ok_or_else(|| ReproError::Unknown {
        name: name.to_owned(),
        meant: nearest(name, all.iter().map(|e| e.name()))
            .map(|nearest| format!("did you mean '{nearest}'? "))
            .unwrap_or_default(),
        known: all.iter().map(|e| e.name()).collect::<Vec<_>>().join(", "),
    })
}
