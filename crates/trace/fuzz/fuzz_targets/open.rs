//! No files make opening and reading a trace panic.
#![no_main]

use std::fs;

use libfuzzer_sys::fuzz_target;
use prestore_trace::container::{
    Existing, Outcome, ReadOptions, RecordingInfo, Trace, TraceWriter,
};

fuzz_target!(|data: &[u8]| {
    let Some((&split, data)) = data.split_first() else {
        return;
    };
    let (events, log) = data.split_at(usize::from(split).min(data.len()));
    let Ok(dir) = tempfile::tempdir() else {
        return;
    };
    let writer = TraceWriter::create(dir.path(), RecordingInfo::default(), Existing::Keep);
    let _ = writer.and_then(|w| w.finish(Outcome::Complete));
    let _ = fs::write(dir.path().join("thread-0.events"), events);
    let _ = fs::write(dir.path().join("process-0.blocks"), log);
    for lenient in [false, true] {
        let Ok(trace) = Trace::open_with(dir.path(), ReadOptions { lenient }) else {
            continue;
        };
        let _ = trace.info();
        let Ok(mut merged) = trace.merged() else {
            continue;
        };
        while let Ok(Some(_)) = merged.next_segment() {}
    }
});
