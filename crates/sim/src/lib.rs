//! The trace-driven simulator: cores, caches, coherence, memory controllers, devices.
//!
//! Data flows downwards, and each step answers with the time at which it is done:
//!
//! ```text
//! Source --ops--> Mechanism --ops--> Core --lines--> Hierarchy --lines--> MemorySystem --> Device
//!                            Agents --ops-^             ^-- Probe       ^-- Stage
//! ```
//!
//! The lower line is what can be plugged in ([`Doors`]); the types are chosen at compile time, and what is not
//! there costs nothing.
//!
//! Time is passed in and never owned: a call says *when* it happens and the answer says when it is
//! done. State changes at once; what is busy is remembered as the time until which it is. The
//! engine lets the core go on that is furthest behind, no operation (a fence, a string) ahead of it by more than a
//! quantum, so calls come nearly in order of time,
//! and every part must cope with a call that is a little earlier than the one before.
//!
//! No I/O. A run is a pure function of (trace, machine, mechanism, seed).

mod cache;
mod core;
mod divide;
mod doors;
mod engine;
mod estimate;
mod host;
mod mechanism;
mod memory;
mod op;
mod ports;
mod random;
mod results;
mod time;

pub use self::core::{Cause, Core, CoreResults, Stalls};
pub use cache::{
    BoundaryCounters, CoherenceCounters, Filled, FlushCounters, Hierarchy, HierarchyCounters,
    HierarchyError, LevelCounters, PrefetchCounters,
};
pub use doors::{
    AcceptanceLog, Accepted, Admission, Agents, Arrival, Asks, Changed, Departure, Doors, Left,
    Logged, NoAgents, NoProbe, NoStage, Orders, Probe, Request, Stage, Step, Then, Wakes,
};
pub use engine::{
    CallSites, Chip, Finished, Interest, MeasuredUnits, Next, Pipeline, Plan, Ran, Run, Simulation,
    SimulationError, Source, TICK, TICK_OPS, Uncore, UnitAhead, UnitSimulation, UnitSource,
};
pub use estimate::Estimate;
pub use mechanism::{Costs, Mechanism, NoMechanism, PreStore, REACH, Rule, VirtualPrestores, Way};
pub use memory::{
    CallSite, ChannelCounters, Device, DeviceCounters, Fullness, MemorySystem, OptaneDimm, Placer,
    Places, peak_read_bandwidth, peak_write_bandwidth, unloaded_read_latency,
};
pub use op::{Op, OpKind, SHARED_LOCK};
pub use ports::{
    Below, ByteMask, Flushed, Hint, LineState, MemoryPort, Sent, Served, ServedBy, Stored,
};
pub use random::Random;
pub use results::{
    About, BoundaryBytes, Counts, Distributions, Interval, IntervalResult, Latencies,
    LatencySummary, Level, MOST_INTERVALS, Measured, MemoryCounts, MemoryResult, Meter, OpCounts,
    Results, SCHEMA_VERSION, Sampled, Sampling, Series, SeriesResult, StallTimes, Sum,
    SystemCounts, ThreadCounts, ThreadResult, UnitTime,
};
pub use time::Time;
