//! `events.parquet`: one row an event, thread after thread, in the order of each.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Int8Array, RecordBatch, StringArray, UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use parquet::schema::types::ColumnPath;

use super::ExportError;
use crate::block::{Block, BlockTable};
use crate::container::{Decoder, EventCounts, ThreadEntry, Trace};
use crate::record::Special;
use crate::replay::{EventContext, ExecSink, Replayer, for_each_event};
use crate::{Event, EventKind, SiteTable};

/// Rows handed to the Parquet writer at once.
const BATCH: usize = 1 << 16;

/// Rows of a row group: what the writer holds in memory, and the grain of skipping.
const ROW_GROUP: usize = 1 << 20;

/// Writes the file and returns its number of rows.
pub(super) fn write(
    trace: &Trace,
    sites: &mut SiteTable,
    path: &Path,
    left_out: &mut Vec<String>,
) -> Result<u64, ExportError> {
    let schema = Arc::new(schema());
    let file = File::create_new(path).map_err(|e| ExportError::io(path, e))?;
    let parquet = |e| ExportError::parquet(path, e);
    let properties = properties().map_err(parquet)?;
    let writer = ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties));
    let mut rows = Rows {
        schema,
        writer: writer.map_err(parquet)?,
        columns: Columns::default(),
        failed: None,
        written: 0,
    };
    for thread in &trace.manifest().threads {
        left_out.extend(one_thread(trace, thread, sites, &mut rows, path)?);
    }
    rows.flush().map_err(parquet)?;
    rows.writer.close().map_err(parquet)?;
    Ok(rows.written)
}

/// Writes a thread's events; what was left out of them.
fn one_thread(
    trace: &Trace,
    entry: &ThreadEntry,
    sites: &mut SiteTable,
    rows: &mut Rows,
    path: &Path,
) -> Result<Vec<String>, ExportError> {
    let thread = entry.id;
    let mut stream = trace.stream(thread, 0)?;
    let mut decoder =
        Decoder::new().map_err(|e| ExportError::io(path, std::io::Error::other(e)))?;
    let mut replayer = Replayer::default();
    let mut given_up = None;
    while let Some(segment) = stream.next_segment(&mut decoder)? {
        if let Some(before) = segment.instrs {
            replayer = Replayer::starting_at(before);
        }
        let table = &*trace.table(segment.process)?;
        let mut sink = Sink {
            rows: &mut *rows,
            table,
            sites: &mut *sites,
            process: segment.process.0,
            ticks: segment.ticks,
            context: EventContext {
                thread,
                xsave: table.xsave(),
            },
        };
        match replayer.replay(segment.words, table, &mut sink) {
            Ok(_) => {}
            // What the words refer to was left out: so is what follows.
            Err(error) if trace.is_lenient() => {
                given_up = Some(format!("thread {} was read in part: {error}", thread.0));
                break;
            }
            Err(source) => return Err(ExportError::Replay { thread, source }),
        }
        if let Some(failed) = rows.failed.take() {
            return Err(ExportError::parquet(path, failed));
        }
    }
    let damage = stream.damage().iter().map(ToString::to_string);
    Ok(damage.chain(given_up).collect())
}

fn schema() -> Schema {
    let kind = DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8));
    Schema::new(vec![
        Field::new("thread", DataType::UInt32, false),
        Field::new("process", DataType::UInt32, false),
        Field::new("instr", DataType::UInt64, false),
        Field::new("kind", kind, false),
        Field::new("addr", DataType::UInt64, true),
        Field::new("size", DataType::UInt64, false),
        Field::new("site", DataType::UInt32, false),
        Field::new("ticks", DataType::UInt64, false),
    ])
}

/// zstd, and differences for what mostly grows.
fn properties() -> Result<WriterProperties, ParquetError> {
    let delta = |b: WriterPropertiesBuilder, column: &str| {
        let column = ColumnPath::from(column);
        b.set_column_dictionary_enabled(column.clone(), false)
            .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED)
    };
    let builder = compressed()?.set_max_row_group_row_count(Some(ROW_GROUP));
    Ok(delta(delta(builder, "instr"), "addr").build())
}

pub(super) fn compressed() -> Result<WriterPropertiesBuilder, ParquetError> {
    let zstd = Compression::ZSTD(ZstdLevel::try_new(1)?);
    let builder = WriterProperties::builder().set_compression(zstd);
    Ok(builder.set_created_by(concat!("prestore ", env!("CARGO_PKG_VERSION")).to_owned()))
}

#[derive(Default)]
struct Columns {
    thread: Vec<u32>,
    process: Vec<u32>,
    instr: Vec<u64>,
    kind: Vec<i8>,
    addr: Vec<Option<u64>>,
    size: Vec<u64>,
    site: Vec<u32>,
    ticks: Vec<u64>,
}

struct Rows {
    schema: Arc<Schema>,
    writer: ArrowWriter<File>,
    columns: Columns,
    /// The first failure: replaying cannot be stopped from within.
    failed: Option<ParquetError>,
    written: u64,
}

impl Rows {
    fn push(&mut self, process: u32, ticks: u64, event: &Event<'_>) {
        if self.failed.is_some() {
            return;
        }
        let has_address = !matches!(event.kind, EventKind::Fence(_));
        let c = &mut self.columns;
        c.thread.push(event.thread.0);
        c.process.push(process);
        c.instr.push(event.instr);
        c.kind.push(EventCounts::index_of(event.kind) as i8);
        c.addr.push(has_address.then_some(event.addr));
        c.size.push(event.size);
        c.site.push(event.site.0);
        c.ticks.push(ticks);
        if c.thread.len() >= BATCH {
            self.failed = self.flush().err();
        }
    }

    fn flush(&mut self) -> Result<(), ParquetError> {
        let c = std::mem::take(&mut self.columns);
        self.written += c.thread.len() as u64;
        let names: ArrayRef = Arc::new(StringArray::from_iter_values(EventCounts::names()));
        let kind = DictionaryArray::<Int8Type>::try_new(Int8Array::from(c.kind), names)?;
        let columns: Vec<ArrayRef> = vec![
            Arc::new(UInt32Array::from(c.thread)),
            Arc::new(UInt32Array::from(c.process)),
            Arc::new(UInt64Array::from(c.instr)),
            Arc::new(kind),
            Arc::new(UInt64Array::from(c.addr)),
            Arc::new(UInt64Array::from(c.size)),
            Arc::new(UInt32Array::from(c.site)),
            Arc::new(UInt64Array::from(c.ticks)),
        ];
        self.writer
            .write(&RecordBatch::try_new(Arc::clone(&self.schema), columns)?)
    }
}

struct Sink<'a> {
    rows: &'a mut Rows,
    table: &'a BlockTable,
    sites: &'a mut SiteTable,
    process: u32,
    ticks: u64,
    context: EventContext<'a>,
}

impl ExecSink for Sink<'_> {
    fn exec(&mut self, before: u64, block: &Block, values: &[u64], executed: u32) {
        let (rows, process, ticks) = (&mut *self.rows, self.process, self.ticks);
        let mut push = |e: &Event<'_>| rows.push(process, ticks, e);
        for_each_event(self.context, before, block, values, executed, &mut push);
    }

    fn special(&mut self, before: u64, special: Special) {
        let (kind, addr, size, caller) = match special {
            Special::Alloc {
                addr, size, caller, ..
            } => (EventKind::Alloc, addr, size, caller),
            Special::Free { addr, caller } => (EventKind::Free, addr, 0, caller),
            _ => return,
        };
        let event = Event {
            thread: self.context.thread,
            instr: before,
            site: self.table.site_of(caller, self.sites),
            kind,
            addr,
            size,
            value: None,
        };
        self.rows.push(self.process, self.ticks, &event);
    }
}
