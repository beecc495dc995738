//! Numbers with their unit.
//!
//! In a file each is a string of a number and a unit, `"14 cycles"`; a number without unit is an
//! error, and so is a unit of something else.

mod parse;

pub use parse::QuantityError;

pub(crate) use parse::number_and_unit;
use parse::quantity;

/// A duration in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Nanos(pub f64);

/// A duration in cycles of the core's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Cycles(pub f64);

/// A size in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(pub u64);

/// A bandwidth in GB/s (10^9 bytes a second).
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Rate(pub f64);

/// A clock frequency in GHz.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Clock(pub f64);

/// A share, between 0 and 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Share(pub f64);

// Far above what machines have, and so low that a run's time, which is counted in picoseconds, has room for many of them: a second,
// and as much of a slow clock.
quantity!(Nanos, "a time", ["ns" = 1.0, "us" = 1e3], at most 1e9);
quantity!(
    Cycles,
    "a number of cycles",
    ["cycles" = 1.0, "cycle" = 1.0],
    at most 1e7
);
quantity!(Rate, "a bandwidth", ["GB/s" = 1.0, "MB/s" = 1e-3]);
quantity!(Clock, "a frequency", ["GHz" = 1.0, "MHz" = 1e-3], at most 1e3);
quantity!(Share, "a share", ["%" = 0.01], at most 1.0);
quantity!(
    Size,
    "a size",
    [
        "B" = 1.0,
        "KiB" = 1024.0,
        "MiB" = 1048576.0,
        "GiB" = 1073741824.0
    ],
    whole
);
