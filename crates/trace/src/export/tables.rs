//! `sites.parquet` and `threads.parquet`: small, one row group each.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray, UInt32Array, UInt64Array};
use parquet::arrow::ArrowWriter;

use super::events::compressed;
use super::{ExportError, Module, Site, Trace};
use crate::{SiteId, SiteTable};

/// What the source calls a site, as far as that is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteName {
    /// Function.
    pub function: Option<String>,
    /// Source file.
    pub file: Option<String>,
    /// Line, from 1.
    pub line: Option<u32>,
}

type SiteRow<'a> = (u32, Site, &'a Module, SiteName);

pub(super) fn write_sites(
    sites: &SiteTable,
    path: &Path,
    name: &mut dyn FnMut(&Site, &Module) -> SiteName,
) -> Result<(), ExportError> {
    let ids = 0..sites.len() as u32;
    let rows: Vec<SiteRow<'_>> = ids
        .filter_map(|id| {
            let site = sites.get(SiteId(id))?;
            let module = sites.module(site.module)?;
            Some((id, site, module, name(&site, module)))
        })
        .collect();
    let strings = |of: &dyn Fn(&SiteRow<'_>) -> Option<String>| -> ArrayRef {
        Arc::new(rows.iter().map(of).collect::<StringArray>())
    };
    let build_id = |m: &Module| (!m.build_id.is_empty()).then(|| m.build_id.clone());
    let lines: UInt32Array = rows.iter().map(|r| r.3.line).collect();
    let columns: Vec<(&str, ArrayRef, bool)> = vec![
        (
            "site",
            Arc::new(UInt32Array::from_iter_values(rows.iter().map(|r| r.0))),
            false,
        ),
        ("module", strings(&|r| Some(r.2.path.clone())), false),
        (
            "offset",
            Arc::new(UInt64Array::from_iter_values(
                rows.iter().map(|r| r.1.offset),
            )),
            false,
        ),
        ("build_id", strings(&|r| build_id(r.2)), true),
        ("function", strings(&|r| r.3.function.clone()), true),
        ("file", strings(&|r| r.3.file.clone()), true),
        ("line", Arc::new(lines), true),
    ];
    one_batch(path, columns)
}

pub(super) fn write_threads(trace: &Trace, path: &Path) -> Result<(), ExportError> {
    let threads = &trace.manifest().threads;
    let narrow = |of: &dyn Fn(usize) -> u32| -> ArrayRef {
        Arc::new(UInt32Array::from_iter_values((0..threads.len()).map(of)))
    };
    let wide = |of: &dyn Fn(usize) -> u64| -> ArrayRef {
        Arc::new(UInt64Array::from_iter_values((0..threads.len()).map(of)))
    };
    // Its first time record says when it began; 0 is for none.
    let begun = |id| trace.blocks(id).next().map(|block| block.start_ticks);
    let start = threads.iter().map(|t| {
        let first = || begun(t.id).filter(|&ticks| ticks > 0);
        t.start_ticks.or_else(first)
    });
    let start: UInt64Array = start.collect();
    let end: UInt64Array = threads.iter().map(|t| t.end_ticks).collect();
    let pid = |i: usize| {
        let process = threads[i].process.0 as usize;
        trace.manifest().processes.get(process).map_or(0, |p| p.pid)
    };
    let columns: Vec<(&str, ArrayRef, bool)> = vec![
        ("thread", narrow(&|i| threads[i].id.0), false),
        ("process", narrow(&|i| threads[i].process.0), false),
        ("pid", narrow(&pid), false),
        ("tid", narrow(&|i| threads[i].tid), false),
        (
            "instructions",
            wide(&|i| threads[i].totals.instructions),
            false,
        ),
        ("reads", wide(&|i| threads[i].totals.events.reads()), false),
        (
            "writes",
            wide(&|i| threads[i].totals.events.writes()),
            false,
        ),
        ("start_ticks", Arc::new(start), true),
        ("end_ticks", Arc::new(end), true),
    ];
    one_batch(path, columns)
}

fn one_batch(path: &Path, columns: Vec<(&str, ArrayRef, bool)>) -> Result<(), ExportError> {
    let parquet = |e| ExportError::parquet(path, e);
    let file = File::create_new(path).map_err(|e| ExportError::io(path, e))?;
    let batch = RecordBatch::try_from_iter_with_nullable(columns);
    let batch = batch.map_err(|e| parquet(e.into()))?;
    let properties = compressed().map_err(parquet)?.build();
    let writer = ArrowWriter::try_new(file, batch.schema(), Some(properties));
    let mut writer = writer.map_err(parquet)?;
    writer.write(&batch).map_err(parquet)?;
    writer.close().map_err(parquet)?;
    Ok(())
}
