//! A trace as Parquet files, which pyarrow, Polars and DuckDB open.
//!
//! `docs/trace-format.md` lists the columns. Parquet is not what is recorded into: see there.

mod error;
mod events;
mod tables;
mod unfinished;
mod values;

use std::path::Path;

pub use error::ExportError;
pub use tables::SiteName;
use unfinished::Unfinished;
pub use unfinished::unfinished;

use crate::container::{TABLE_NAMES, Trace};
use crate::{Module, Site};

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// Rows of `events.parquet`.
    pub events: u64,
    /// Rows of `sites.parquet`.
    pub sites: u64,
    /// Rows of `threads.parquet`.
    pub threads: u64,
    /// Rows of `values.parquet`; `None`: recorded without values.
    pub values: Option<u64>,
    /// What was left out of a damaged trace, one sentence each.
    pub left_out: Vec<String>,
}

/// Writes `events.parquet`, `sites.parquet`, `threads.parquet`, and `values.parquet` where there are any, into `out`, which is made where
/// it does not exist; `name` is asked once for each site's function, file and line.
///
/// Memory: one row group and one stored block at a time.
///
/// # Errors
/// [`ExportError`], and nothing is left of what was written; files that exist already are not overwritten.
pub fn to_parquet(
    trace: &Trace,
    out: &Path,
    mut name: impl FnMut(&Site, &Module) -> SiteName,
) -> Result<Exported, ExportError> {
    let with_values = trace.manifest().info.scope.values;
    let names = match with_values {
        true => &TABLE_NAMES[..],
        false => &TABLE_NAMES[..3],
    };
    let files = Unfinished::begin(out, names)?;
    let [events_name, sites_name, threads_name, values_name] = TABLE_NAMES;
    // Allocation records name call sites that no access has.
    let mut sites = trace.sites().clone();
    let mut left_out: Vec<String> = trace.damage().iter().map(ToString::to_string).collect();
    let events = events::write(trace, &mut sites, &files.path(events_name), &mut left_out)?;
    let values = if with_values {
        Some(values::write(trace, &files.path(values_name))?)
    } else {
        None
    };
    tables::write_sites(&sites, &files.path(sites_name), &mut name)?;
    tables::write_threads(trace, &files.path(threads_name))?;
    files.finish()?;
    Ok(Exported {
        events,
        sites: sites.len() as u64,
        threads: trace.manifest().threads.len() as u64,
        values,
        left_out,
    })
}
