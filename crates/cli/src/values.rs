//! What a recording knows of memory, for `prestore trace info`.

use std::collections::BTreeMap;

use prestore_replay::{Counts, Rebuild};
use prestore_report::{bytes, count};
use prestore_trace::container::Trace;
use serde::Serialize;

use crate::error::CliError;

/// Bytes where nothing else is said.
#[derive(Serialize)]
pub struct Values {
    stored: u64,
    kernel: u64,
    images: u64,
    unknown: u64,
    shared: u64,
    unordered: u64,
    /// System calls of which it is not known what they write, by number: how often.
    compared: BTreeMap<u64, u64>,
    gaps: u64,
    /// Words of the recording that are values, and that share of all.
    words: u64,
    share: f64,
}

/// `None` where the values of all code are not in it.
pub fn of(trace: &Trace) -> Result<Option<Values>, CliError> {
    let scope = &trace.manifest().info.scope;
    let totals = &trace.manifest().totals;
    if !scope.values || scope.mode == "functions" || totals.executions == 0 {
        return Ok(None);
    }
    let mut rebuild = Rebuild::new(trace, true)?;
    rebuild.to_end()?;
    let Counts {
        stored,
        kernel,
        images,
        unknown,
        shared,
        unordered,
        compared,
        gaps,
        words,
    } = rebuild.counts().clone();
    Ok(Some(Values {
        stored,
        kernel,
        images,
        unknown,
        shared,
        unordered,
        compared,
        gaps,
        words,
        share: words as f64 / totals.words.max(1) as f64,
    }))
}

impl Values {
    /// Lines of a name and what is to be said.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let mut lines = vec![(
            "Values",
            format!(
                "{} stored, {} from the kernel, {} there before; {:.0}% of what was recorded",
                bytes(self.stored),
                bytes(self.kernel),
                bytes(self.images),
                100.0 * self.share
            ),
        )];
        let mut missing = |n: u64, what: &str| {
            if n > 0 {
                lines.push(("  not known", format!("{} {what}", bytes(n))));
            }
        };
        missing(self.unknown, "of stores, which could not be read any more");
        missing(
            self.shared,
            "that the kernel or a device writes when it likes",
        );
        missing(
            self.unordered,
            "stored by two threads at the same time: either may have been last",
        );
        if self.gaps > 0 {
            let gaps = count(self.gaps);
            lines.push((
                "  not known",
                format!("memory behind {gaps} stretches that were not recorded"),
            ));
        }
        let calls: u64 = self.compared.values().sum();
        if calls > 0 {
            let numbers: Vec<String> = self.compared.keys().map(u64::to_string).collect();
            lines.push((
                "  compared",
                format!(
                    "{} system calls (number {}): what they changed within 4 KiB of their arguments",
                    count(calls),
                    numbers.join(", ")
                ),
            ));
        }
        lines
    }
}
