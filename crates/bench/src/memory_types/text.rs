//! The table of types.

use std::fmt::Write;

use super::TypeResults;

/// The figures as text for people: medians; warnings last.
pub fn render_types(results: &TypeResults) -> String {
    let mut out = String::new();
    let flush = results.flush_instruction.as_deref().unwrap_or("none");
    let _ = writeln!(
        out,
        "{}, {} runs, {} MiB of each type, by 8 bytes; the flush is {flush} and a fence\n",
        results.cpu,
        results.runs,
        results.bytes >> 20
    );
    let _ = writeln!(
        out,
        "{:<6}{:>12}{:>12}{:>12}{:>12}",
        "type", "read GB/s", "write GB/s", "copy GB/s", "flush ns"
    );
    for one in &results.types {
        let flush = one.flush.as_ref();
        let _ = writeln!(
            out,
            "{:<6}{:>12.3}{:>12.3}{:>12.3}{:>12}",
            one.memory_type,
            one.read.median,
            one.write.median,
            one.copy.median,
            flush.map_or("-".to_owned(), |flush| format!("{:.0}", flush.median))
        );
    }
    for warning in &results.warnings {
        let _ = writeln!(out, "\nNote: {warning}.");
    }
    out
}
