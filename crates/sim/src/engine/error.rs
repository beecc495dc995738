//! Why a run could not be simulated.

use thiserror::Error;

use super::erased::Failed;
use crate::cache::HierarchyError;
use crate::memory::Fullness;

/// Why a run could not be simulated. `E`: why the source failed.
#[derive(Debug, Error)]
pub enum SimulationError<E> {
    /// Threads are pinned, one a core, helper threads too.
    #[error(
        "the trace has {threads} threads{} and {machine} has {cores} cores: every thread has a core \
         of its own; take a machine with more cores, or more of this one with --set \
         core.count={}",
        helped(*.helpers), .threads + .helpers
    )]
    TooManyThreads {
        /// Threads of the trace.
        threads: u32,
        /// Helper threads of the runtime that is plugged in.
        helpers: u32,
        /// The machine's name.
        machine: String,
        /// Its cores.
        cores: u32,
    },
    /// The machine's caches contradict each other.
    #[error("{0}")]
    Machine(#[from] HierarchyError),
    /// Nothing to simulate.
    #[error("the trace has no threads: there is nothing to simulate")]
    NoThreads,
    /// Operations could not be had.
    #[error(transparent)]
    Source(E),
    /// Every thread that has not ended waits for another one.
    #[error(
        "the threads wait for each other for ever: {}; the trace's order of hand-offs \
         contradicts itself or it ends before they come (--lenient ends the waiting threads there)",
        stuck(.waiting)
    )]
    Deadlock {
        /// Thread and the hand-off it waits for.
        waiting: Vec<(u32, u64)>,
    },
    /// Threads wait for helper threads that have all gone to sleep for good.
    #[error(
        "threads {} wait for helper threads that never wake them: the runtime that is plugged in must wake \
         whom it makes wait",
        threads.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
    )]
    Abandoned {
        /// Those that wait.
        threads: Vec<u32>,
    },
    /// What the program allocates does not fit.
    #[error("{}", too_much(.machine, .memories))]
    TooMuchMemory {
        /// The machine's name.
        machine: String,
        /// How full its memories are.
        memories: Vec<Fullness>,
    },
    /// The region to measure never opened.
    #[error("{}", no_region(*.wanted, .seen))]
    NoRegion {
        /// The region asked for; `None`: any.
        wanted: Option<u64>,
        /// Those that opened.
        seen: Vec<u64>,
    },
    /// The run ended before measuring began.
    #[error(
        "the trace has {ops} operations, and --warmup {warmup} leaves none of them to measure: \
         give a smaller number"
    )]
    AllWarmup {
        /// Operations simulated.
        ops: u64,
        /// Operations to leave out.
        warmup: u64,
    },
    /// A sample cannot tell what was asked.
    #[error("--sample cannot be used here: {why}; simulate the whole without it")]
    NoSample {
        /// Why.
        why: String,
    },
}

impl SimulationError<Failed> {
    /// The same, where the source has not failed.
    pub(super) fn of_no_source<E>(self) -> SimulationError<E> {
        match self {
            Self::TooManyThreads {
                threads,
                helpers,
                machine,
                cores,
            } => SimulationError::TooManyThreads {
                threads,
                helpers,
                machine,
                cores,
            },
            Self::Machine(error) => SimulationError::Machine(error),
            // A source that fails has said why, and that is answered.
            Self::NoThreads | Self::Source(Failed) => SimulationError::NoThreads,
            Self::Deadlock { waiting } => SimulationError::Deadlock { waiting },
            Self::Abandoned { threads } => SimulationError::Abandoned { threads },
            Self::TooMuchMemory { machine, memories } => {
                SimulationError::TooMuchMemory { machine, memories }
            }
            Self::NoRegion { wanted, seen } => SimulationError::NoRegion { wanted, seen },
            Self::AllWarmup { ops, warmup } => SimulationError::AllWarmup { ops, warmup },
            Self::NoSample { why } => SimulationError::NoSample { why },
        }
    }
}

fn helped(helpers: u32) -> String {
    match helpers {
        0 => String::new(),
        n => format!(" and its runtime {n} helper threads,"),
    }
}

/// What is allocated where, and where it does not fit.
fn too_much(machine: &str, memories: &[Fullness]) -> String {
    let has = |m: &Fullness| match m.capacity {
        Some(capacity) => format!("{} in {} ({capacity} B)", m.allocated, m.memory),
        None => format!("{} in {} (no limit)", m.allocated, m.memory),
    };
    let all: Vec<String> = memories.iter().map(has).collect();
    let over = memories.iter().find(|m| m.is_over());
    let over = over.map_or("memory", |m| m.memory.as_str());
    format!(
        "the program allocates more than {machine} has: bytes at once are {}; give {over} more with --set \
         memories.{over}.capacity='… GiB', or place other data elsewhere (placement.rules)",
        all.join(", ")
    )
}

/// The first few of the waiting threads.
fn stuck(waiting: &[(u32, u64)]) -> String {
    const SHOWN: usize = 8;
    let mut words: Vec<String> = (waiting.iter().take(SHOWN))
        .map(|(thread, number)| format!("thread {thread} for hand-off {number}"))
        .collect();
    if waiting.len() > SHOWN {
        words.push(format!("and {} more", waiting.len() - SHOWN));
    }
    words.join(", ")
}

fn no_region(wanted: Option<u64>, seen: &[u64]) -> String {
    let wanted = match wanted {
        Some(id) => format!("region {id} never opens"),
        None => "no region ever opens".to_owned(),
    };
    if seen.is_empty() {
        return format!(
            "{wanted}: the trace has no source regions (mark them with PRESTORE_REGION_BEGIN and \
             PRESTORE_REGION_END), or leave out --region"
        );
    }
    let seen: Vec<String> = seen.iter().map(u64::to_string).collect();
    format!("{wanted}; regions that do: {}", seen.join(", "))
}
