//! Points of OptaneStudy's bandwidth sweep: what was run, and what was measured.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use super::files::Wrong;

/// What the benchmark does with each line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
pub enum Operation {
    /// 64 B loads.
    Load,
    /// 64 B stores.
    Store,
    /// 64 B stores, each followed by `clwb`.
    #[serde(rename = "Store+Flush")]
    StoreFlush,
    /// 64 B non-temporal stores.
    #[serde(rename = "NTStore")]
    NtStore,
}

/// Where its accesses go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
pub enum Task {
    /// Anywhere, aligned to their size.
    #[serde(rename = "RandBW")]
    Random,
    /// Through a region of each thread's own, `stride_size` from one to the next.
    #[serde(rename = "StrideBW")]
    Stride,
}

/// What was run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
pub struct Work {
    /// What is done with each line.
    pub operation: Operation,
    /// Where.
    pub task_type: Task,
    /// Bytes of an access: a multiple of 64.
    pub access_size: u64,
    /// Bytes from one access to the next; 0: the same place. Not used by random accesses.
    pub stride_size: u64,
    /// Threads.
    pub threads: u32,
}

/// A line of a sweep.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Point {
    /// What was run.
    #[serde(flatten)]
    pub work: Work,
    /// How many threads' units were whole in the DIMM's combining buffer when the run began: their
    /// threads had just written the 256 B at their place. 0 where a file does not say it.
    #[serde(default)]
    pub whole_units: u32,
    /// Whether the hardware prefetchers were on.
    #[serde(deserialize_with = "flag")]
    pub prefetching: bool,
    /// Bytes accessed, 10^6 a second.
    pub throughput_mb_s: Option<f64>,
    /// Effective write ratio: bytes sent to the DIMM by bytes written to its media.
    pub ewr: Option<f64>,
    /// Effective read ratio.
    pub err: Option<f64>,
    /// Runs that the values are means of.
    pub runs: Option<u32>,
}

fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(u8::deserialize(deserializer)? != 0)
}

impl Work {
    /// Does the work leave the caches for the DIMM? Loads and cached stores to the same place do
    /// not.
    pub fn writes_memory(&self) -> bool {
        match self.operation {
            Operation::Load => false,
            Operation::Store => !self.same_place(),
            Operation::StoreFlush | Operation::NtStore => true,
        }
    }

    /// Does each thread access the same place again and again?
    pub fn same_place(&self) -> bool {
        self.task_type == Task::Stride && self.stride_size == 0
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Load => "Load",
            Self::Store => "Store",
            Self::StoreFlush => "Store+Flush",
            Self::NtStore => "NTStore",
        })
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.operation)?;
        match self.task_type {
            Task::Random => write!(f, "random {} B", self.access_size)?,
            Task::Stride => write!(f, "{} B every {} B", self.access_size, self.stride_size)?,
        }
        write!(f, ", {} threads", self.threads)
    }
}

/// The points of a sweep.
///
/// # Errors
/// What is wrong, and in which line.
pub(super) fn parse_sweep(
    headers: &csv::StringRecord,
    reader: &mut csv::Reader<&[u8]>,
) -> Result<Vec<Point>, Wrong> {
    let mut points = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|e| (e.position().map(csv::Position::line), e.to_string()))?;
        let line = record.position().map(csv::Position::line);
        let row: Row = record
            .deserialize(Some(headers))
            .map_err(|e| (line, column(&e)))?;
        let point = Point::from(row);
        check(&point).map_err(|what| (line, what))?;
        points.push(point);
    }
    if points.is_empty() {
        return Err((None, "there are no points in it".to_owned()));
    }
    Ok(points)
}

/// A line of a file (a flattened structure cannot be read from text without types).
#[derive(Deserialize)]
struct Row {
    operation: Operation,
    task_type: Task,
    access_size: u64,
    stride_size: u64,
    threads: u32,
    #[serde(default)]
    whole_units: Option<u32>,
    #[serde(deserialize_with = "flag", default)]
    prefetching: bool,
    #[serde(default)]
    throughput_mb_s: Option<f64>,
    #[serde(default)]
    ewr: Option<f64>,
    #[serde(default)]
    err: Option<f64>,
    #[serde(default)]
    runs: Option<u32>,
}

impl From<Row> for Point {
    fn from(row: Row) -> Self {
        Self {
            work: Work {
                operation: row.operation,
                task_type: row.task_type,
                access_size: row.access_size,
                stride_size: row.stride_size,
                threads: row.threads,
            },
            whole_units: row.whole_units.unwrap_or(0),
            prefetching: row.prefetching,
            throughput_mb_s: row.throughput_mb_s,
            ewr: row.ewr,
            err: row.err,
            runs: row.runs,
        }
    }
}

fn column(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::Deserialize { err, .. } => {
            let field = err
                .field()
                .map_or(String::new(), |i| format!("column {}: ", i + 1));
            format!("{field}{}", err.kind())
        }
        _ => error.to_string(),
    }
}

fn check(point: &Point) -> Result<(), String> {
    let work = &point.work;
    if work.access_size == 0 || !work.access_size.is_multiple_of(64) {
        return Err(format!(
            "access_size is {}: the benchmark accesses whole lines, give a multiple of 64",
            work.access_size
        ));
    }
    if work.access_size > super::stimulus::REGION || work.stride_size > super::stimulus::REGION {
        return Err(format!(
            "access_size and stride_size may not be larger than a thread's region, {} bytes",
            super::stimulus::REGION
        ));
    }
    if !work.stride_size.is_multiple_of(64) {
        return Err(format!(
            "stride_size is {}: give a multiple of 64",
            work.stride_size
        ));
    }
    if work.threads == 0 {
        return Err("threads is 0: give at least 1".to_owned());
    }
    if point.whole_units > work.threads {
        return Err(format!(
            "whole_units is {}, of {} threads: give at most one for each thread",
            point.whole_units, work.threads
        ));
    }
    if point.whole_units > 0 && !(work.same_place() && work.writes_memory()) {
        return Err(format!(
            "whole_units is {}, but these accesses do not rewrite one place of the DIMM: leave it empty, or give \
             Store+Flush or NTStore, StrideBW, with a stride_size of 0",
            point.whole_units
        ));
    }
    for (column, value) in [
        ("throughput_mb_s", point.throughput_mb_s),
        ("ewr", point.ewr),
    ] {
        if value.is_some_and(|v| !v.is_finite() || v < 0.0) {
            return Err(format!(
                "{column} is {}: give what was measured, or nothing",
                value.unwrap_or_default()
            ));
        }
    }
    Ok(())
}
