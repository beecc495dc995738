//! `values.parquet`: what memory was given, beside the events: a row a store, or a part of a large one,
//! and a row for what the kernel wrote and what was there before.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryArray, RecordBatch, StringArray, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::errors::ParquetError;

use super::ExportError;
use super::events::compressed;
use crate::block::{Block, BlockTable};
use crate::container::{Decoder, Trace};
use crate::content::{Content, Why};
use crate::record::Special;
use crate::replay::{ExecSink, Replayer, Store, Stores};

/// Rows handed to the Parquet writer at once.
const BATCH: usize = 1 << 15;

/// Bytes of rows after which they are handed over too.
const BATCH_BYTES: usize = 16 << 20;

/// Zeros up to so many bytes are written out.
const ZEROS: u64 = 4096;

/// Writes the file and returns its number of rows.
pub(super) fn write(trace: &Trace, path: &Path) -> Result<u64, ExportError> {
    let schema = Arc::new(Schema::new(vec![
        Field::new("thread", DataType::UInt32, false),
        Field::new("process", DataType::UInt32, false),
        Field::new("instr", DataType::UInt64, false),
        Field::new("why", DataType::Utf8, false),
        Field::new("addr", DataType::UInt64, false),
        Field::new("size", DataType::UInt64, false),
        Field::new("bytes", DataType::Binary, true),
    ]));
    let parquet = |e| ExportError::parquet(path, e);
    let file = File::create_new(path).map_err(|e| ExportError::io(path, e))?;
    let properties = compressed().map_err(parquet)?.build();
    let writer = ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties));
    let mut rows = Rows {
        schema,
        writer: writer.map_err(parquet)?,
        columns: Columns::default(),
        bytes: 0,
        written: 0,
        failed: None,
    };
    for thread in &trace.manifest().threads {
        let mut stream = trace.stream(thread.id, 0)?;
        let mut decoder =
            Decoder::new().map_err(|e| ExportError::io(path, std::io::Error::other(e)))?;
        let mut replayer = Replayer::default();
        let mut stores = Stores::default();
        while let Some(segment) = stream.next_segment(&mut decoder)? {
            if let Some(before) = segment.instrs {
                replayer = Replayer::starting_at(before);
            }
            let table = &*trace.table(segment.process)?;
            let mut sink = Sink {
                rows: &mut rows,
                stores: &mut stores,
                table,
                thread: thread.id.0,
                process: segment.process.0,
            };
            match replayer.replay(segment.words, table, &mut sink) {
                Ok(_) => {}
                // The events' file says so.
                Err(_) if trace.is_lenient() => break,
                Err(source) => {
                    let thread = thread.id;
                    return Err(ExportError::Replay { thread, source });
                }
            }
            if let Some(failed) = rows.failed.take() {
                return Err(parquet(failed));
            }
        }
    }
    rows.flush().map_err(parquet)?;
    rows.writer.close().map_err(parquet)?;
    Ok(rows.written)
}

#[derive(Default)]
struct Columns {
    thread: Vec<u32>,
    process: Vec<u32>,
    instr: Vec<u64>,
    why: Vec<&'static str>,
    addr: Vec<u64>,
    size: Vec<u64>,
    bytes: Vec<Option<Vec<u8>>>,
}

struct Rows {
    schema: Arc<Schema>,
    writer: ArrowWriter<File>,
    columns: Columns,
    /// Of `columns.bytes`.
    bytes: usize,
    written: u64,
    /// The first failure: replaying cannot be stopped from within.
    failed: Option<ParquetError>,
}

/// One row.
struct Row<'a> {
    thread: u32,
    process: u32,
    instr: u64,
    why: &'static str,
    addr: u64,
    size: u64,
    /// As in [`Store::data`].
    data: Option<&'a [u64]>,
}

impl Rows {
    fn push(&mut self, row: &Row<'_>) {
        let bytes = match row.data {
            Some([]) if row.size <= ZEROS => Some(vec![0; row.size as usize]),
            None | Some([]) => None,
            Some(words) => {
                let all = words.iter().flat_map(|w| w.to_le_bytes());
                Some(all.take(row.size as usize).collect())
            }
        };
        self.bytes += bytes.as_ref().map_or(0, Vec::len);
        let c = &mut self.columns;
        c.thread.push(row.thread);
        c.process.push(row.process);
        c.instr.push(row.instr);
        c.why.push(row.why);
        c.addr.push(row.addr);
        c.size.push(row.size);
        c.bytes.push(bytes);
        if self.failed.is_none() && (c.thread.len() >= BATCH || self.bytes >= BATCH_BYTES) {
            self.failed = self.flush().err();
        }
    }

    fn flush(&mut self) -> Result<(), ParquetError> {
        let c = std::mem::take(&mut self.columns);
        self.bytes = 0;
        self.written += c.thread.len() as u64;
        let columns: Vec<ArrayRef> = vec![
            Arc::new(UInt32Array::from(c.thread)),
            Arc::new(UInt32Array::from(c.process)),
            Arc::new(UInt64Array::from(c.instr)),
            Arc::new(StringArray::from(c.why)),
            Arc::new(UInt64Array::from(c.addr)),
            Arc::new(UInt64Array::from(c.size)),
            Arc::new(
                c.bytes
                    .iter()
                    .map(|b| b.as_deref())
                    .collect::<BinaryArray>(),
            ),
        ];
        self.writer
            .write(&RecordBatch::try_new(Arc::clone(&self.schema), columns)?)
    }
}

struct Sink<'a> {
    rows: &'a mut Rows,
    stores: &'a mut Stores,
    table: &'a BlockTable,
    thread: u32,
    process: u32,
}

impl Sink<'_> {
    fn stored(rows: &mut Rows, thread: u32, process: u32, s: &Store<'_>) {
        rows.push(&Row {
            thread,
            process,
            instr: s.instr,
            why: if s.data.is_some() { "store" } else { "unknown" },
            addr: s.addr,
            size: s.len,
            data: s.data,
        });
    }
}

impl ExecSink for Sink<'_> {
    fn exec(&mut self, before: u64, block: &Block, values: &[u64], executed: u32) {
        let (rows, thread, process) = (&mut *self.rows, self.thread, self.process);
        let xsave = self.table.xsave();
        (self.stores).exec(xsave, before, block, values, executed, |s| {
            Self::stored(rows, thread, process, &s);
        });
    }

    fn content(&mut self, before: u64, content: Content<'_>) {
        let (rows, thread, process) = (&mut *self.rows, self.thread, self.process);
        let why = match content.why {
            Why::Stored => {
                return (self.stores)
                    .content(&content, |s| Self::stored(rows, thread, process, &s));
            }
            Why::Kernel => "kernel",
            Why::Image => "image",
            Why::Gone => "gone",
            Why::Unknown => "shared",
            Why::Moved => "moved",
            Why::Compared => return,
        };
        rows.push(&Row {
            thread,
            process,
            instr: before,
            why,
            addr: content.addr,
            size: content.len,
            data: content.is_known().then_some(content.data),
        });
    }

    fn special(&mut self, _: u64, _: Special) {}
}
