//! The data set's other files: each is a published figure, a column a curve.

use super::curves::Half;
use super::point::{Operation, Task, Work};
use super::stimulus::REGION;
use super::timed::Timed;

/// What was measured at one place of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quantity {
    /// Bandwidth, 10^9 bytes a second.
    Bandwidth(Work),
    /// Time of a few operations, in ns.
    Latency(Timed),
    /// Bytes written to the media by bytes written by the host, of one thread that writes the first
    /// half of each unit of a region, then the second half of each, again and again.
    Amplification {
        /// Bytes of the region.
        region: u64,
    },
}

/// A number of a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct FigurePoint {
    /// The curve it belongs to.
    pub curve: &'static str,
    /// Which half of all points it belongs to.
    pub half: Half,
    /// What was run and measured.
    pub quantity: Quantity,
    /// What came out, in the quantity's unit.
    pub published: f64,
}

/// A kind of file, known by its columns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// Its header line.
    pub header: &'static [&'static str],
    /// Curves, and the columns they stand in.
    curves: &'static [(usize, &'static str)],
    /// What the first column's text and the column make.
    quantity: fn(&str, usize) -> Result<Quantity, String>,
    /// Parameters of the model were read off this figure as a whole: nothing of it checks them.
    all_calibrated: bool,
}

/// All kinds.
pub(super) const LAYOUTS: &[Layout] = &[
    Layout {
        header: &["Threads", "Read", "Write(ntstore)", "Write(clwb)"],
        curves: &[
            (1, "Load by threads, sequential 256 B"),
            (2, "NTStore by threads, sequential 256 B"),
            (3, "Store+Flush by threads, sequential 256 B"),
        ],
        quantity: by_threads,
        all_calibrated: false,
    },
    Layout {
        header: &["AccessSize", "Read", "Write(ntstore)", "Write(clwb)"],
        curves: &[
            (1, "Load by size, random, 4 threads"),
            (2, "NTStore by size, random, 1 threads"),
            (3, "Store+Flush by size, random, 2 threads"),
        ],
        quantity: by_size,
        all_calibrated: false,
    },
    Layout {
        header: &["", "DRAM", "DRAM-Err", "Optane", "Optane-Err"],
        curves: &[(3, "idle latency")],
        quantity: idle,
        all_calibrated: true,
    },
    Layout {
        header: &["", "ntstore", "store+clwb"],
        curves: &[
            (1, "flush latency by size, ntstore"),
            (2, "flush latency by size, store+clwb"),
        ],
        quantity: flush,
        all_calibrated: false,
    },
    Layout {
        header: &["RegionSize", "WriteAmp"],
        curves: &[(1, "write amplification by region size")],
        quantity: amplification,
        all_calibrated: false,
    },
];

impl Layout {
    /// The points of one line.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn points(&self, record: &csv::StringRecord) -> Result<Vec<FigurePoint>, String> {
        let first = record.get(0).unwrap_or_default();
        let point = |&(column, curve): &(usize, &'static str)| {
            let text = record.get(column).unwrap_or_default();
            let published: f64 = (text.parse().ok())
                .filter(|v: &f64| v.is_finite() && *v > 0.0)
                .ok_or_else(|| {
                    let name = self.header[column];
                    format!("column {name}: '{text}' is not a measured value above 0")
                })?;
            let half = if self.all_calibrated {
                Half::Calibrate
            } else {
                Half::of_text(&format!("{curve} {first}"))
            };
            Ok(FigurePoint {
                curve,
                half,
                quantity: (self.quantity)(first, column)?,
                published,
            })
        };
        self.curves.iter().map(point).collect()
    }
}

const OPERATIONS: [Operation; 3] = [Operation::Load, Operation::NtStore, Operation::StoreFlush];
/// FAST'20 ran each at the threads at which it peaks; the sweep has these numbers there.
const PEAK_THREADS: [u32; 3] = [4, 1, 2];

fn by_threads(threads: &str, column: usize) -> Result<Quantity, String> {
    let threads = count("Threads", threads)?;
    let work = Work {
        operation: OPERATIONS[column - 1],
        task_type: Task::Stride,
        access_size: 256,
        stride_size: 256,
        threads: u32::try_from(threads).map_err(|_| format!("{threads} threads are too many"))?,
    };
    Ok(Quantity::Bandwidth(work))
}

fn by_size(size: &str, column: usize) -> Result<Quantity, String> {
    let work = Work {
        operation: OPERATIONS[column - 1],
        task_type: Task::Random,
        access_size: lines("AccessSize", size, 64)?,
        stride_size: 0,
        threads: PEAK_THREADS[column - 1],
    };
    Ok(Quantity::Bandwidth(work))
}

fn idle(what: &str, _: usize) -> Result<Quantity, String> {
    let (operation, random) = match what {
        "Read/Sequential" => (Operation::Load, false),
        "Read/Random" => (Operation::Load, true),
        "Write/(ntstore)" => (Operation::NtStore, false),
        "Write/(clwb)" => (Operation::StoreFlush, false),
        _ => {
            return Err(format!(
                "'{what}' is none of Read/Sequential, Read/Random, Write/(ntstore), Write/(clwb)"
            ));
        }
    };
    Ok(Quantity::Latency(Timed {
        operation,
        random,
        size: 64,
        batched: false,
    }))
}

fn flush(size: &str, column: usize) -> Result<Quantity, String> {
    Ok(Quantity::Latency(Timed {
        operation: OPERATIONS[column],
        random: false,
        size: lines("the first", size, 64)?,
        batched: true,
    }))
}

fn amplification(region: &str, _: usize) -> Result<Quantity, String> {
    let region = lines("RegionSize", region, 256)?;
    Ok(Quantity::Amplification { region })
}

fn count(column: &str, text: &str) -> Result<u64, String> {
    let number = text.parse().ok().filter(|n| *n > 0);
    number.ok_or_else(|| format!("column {column}: '{text}' is not a number above 0"))
}

fn lines(column: &str, text: &str, unit: u64) -> Result<u64, String> {
    let bytes = count(column, text)?;
    if !bytes.is_multiple_of(unit) || bytes > REGION {
        return Err(format!(
            "column {column}: {bytes} bytes are not a multiple of {unit} up to {REGION}"
        ));
    }
    Ok(bytes)
}
