//! Source lines around the stores of a finding.

use crate::finding::LineStores;
use std::path::{Path, PathBuf};

/// Lines shown before and after one that stores.
const AROUND: u32 = 1;
/// Lines that store and are shown at most, those with most stores.
const MOST_LINES: usize = 8;

/// Where source text comes from.
pub trait Sources {
    /// Text of the file that debug information calls `path`; `None` where it cannot be read.
    fn read(&self, path: &str) -> Option<String>;
}

/// Sources on this machine's disk.
#[derive(Clone, Debug, Default)]
pub struct DiskSources {
    /// Folder that relative paths start from.
    pub base: PathBuf,
}

impl Sources for DiskSources {
    fn read(&self, path: &str) -> Option<String> {
        let bytes = std::fs::read(self.base.join(Path::new(path))).ok()?;
        // Sources in old encodings are still worth showing.
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// One line of an excerpt.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Excerpt {
    /// Start of a file's lines.
    File(String),
    /// A line that stores, with its share of the finding's stores (0 to 1), or one beside it.
    Line {
        number: u32,
        text: String,
        share: Option<f64>,
    },
    /// Lines left out.
    Gap,
    /// The file could not be read.
    Unreadable(String),
}

/// The lines of `stores` with those around them, file by file, in the order of their most written.
pub(crate) fn excerpt(stores: &[LineStores], sources: &dyn Sources) -> Vec<Excerpt> {
    let shown = &stores[..stores.len().min(MOST_LINES)];
    let mut files: Vec<&str> = Vec::new();
    for line in shown {
        if !files.contains(&line.file.as_str()) {
            files.push(&line.file);
        }
    }
    let mut out = Vec::new();
    for file in files {
        let Some(text) = sources.read(file) else {
            out.push(Excerpt::Unreadable(file.to_owned()));
            continue;
        };
        out.push(Excerpt::File(file.to_owned()));
        let marked: Vec<&LineStores> = shown.iter().filter(|l| l.file == file).collect();
        file_excerpt(&text, &marked, &mut out);
    }
    out
}

fn file_excerpt(text: &str, marked: &[&LineStores], out: &mut Vec<Excerpt>) {
    let mut last = None;
    for (number, line) in (1u32..).zip(text.lines()) {
        if !marked.iter().any(|m| m.line.abs_diff(number) <= AROUND) {
            continue;
        }
        if last.is_some_and(|l| l + 1 < number) {
            out.push(Excerpt::Gap);
        }
        last = Some(number);
        out.push(Excerpt::Line {
            number,
            text: line.trim_end().replace('\t', "    "),
            share: marked.iter().find(|m| m.line == number).map(|m| m.share),
        });
    }
}
