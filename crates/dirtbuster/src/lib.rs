//! DirtBuster: from events to verdicts (P0, section 6; design, section 4).
//!
//! [`Analyzer`] takes what the threads of a program executed and gives [`Findings`]: the places
//! that write, how sequentially, how soon the data is read or written again, how soon a fence
//! follows, and what to do there. No I/O; code is known by site numbers, and what the analysis
//! must know about them it asks a [`SiteOracle`].
//!
//! Module `thread` follows what is executed, `back` what that does to memory, side by side.
//! `steps` says which stores are one write, `memory` what belongs to a sequentiality context and
//! what a re-write is, `clock` what time is between threads, `ledger` what threads and processes
//! leave when they end; from that `summary` makes the findings. `verdict` says how the evidence
//! decides, [`Thresholds`] on which numbers.

mod access;
mod allocations;
mod analyzer;
mod awaited;
mod back;
mod batch;
mod clock;
mod clusters;
mod contexts;
mod cores;
mod cost;
mod executed;
mod existing;
mod far;
mod fences;
mod findings;
mod frequent;
mod fresh;
mod groups;
mod ledger;
mod limit;
mod lines;
mod loaded;
mod lock;
mod lone;
mod memory;
mod met;
mod oracle;
mod origins;
mod pipe;
mod pitfalls;
mod reasons;
mod recency;
mod reread;
mod runs;
mod steps;
mod stretches;
mod summary;
mod tally;
mod thread;
mod thresholds;
mod together;
mod told;
mod touched;
mod turns;
mod usage;
mod verdict;
mod waiting;
mod words;
mod written;

pub use analyzer::{Analyzer, Outcome, ProgramTotals, StoreCount};
pub use executed::ThreadTotals;
pub use findings::{
    CacheLimit, ContextClass, Dismissed, Distance, FenceDistance, Finding, Findings, LineShare,
    Pitfall, PitfallKind, Streams, TimeEstimate, Verdict, can_be_tried,
};
pub use oracle::{SiteClass, SiteOracle};
pub use stretches::Seen;
pub use thresholds::{ThresholdError, ThresholdInfo, Thresholds};
