//! JIT code by the map that runtimes leave for perf: `START SIZE NAME` lines in hex.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::location::FunctionName;

/// One process's perf map.
pub struct PerfMap {
    path: PathBuf,
    /// Length of the file when it was read; `None` while it has never been.
    read: Option<u64>,
    entries: BTreeMap<u64, (u64, String)>,
}

impl PerfMap {
    /// The map in `path`, which is read when first needed.
    pub fn new(path: PathBuf) -> Self {
        Self {
            path,
            read: None,
            entries: BTreeMap::new(),
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file has been read.
    pub fn is_read(&self) -> bool {
        self.read.is_some()
    }

    /// The function that covers `address`. The file is read again where it has grown, for the
    /// program may still be running.
    pub fn find(&mut self, address: u64) -> Option<FunctionName> {
        if self.covering(address).is_none() {
            self.refresh();
        }
        let (start, end, name) = self.covering(address)?;
        Some(FunctionName {
            name: name.into(),
            raw: name.into(),
            start,
            size: end - start,
        })
    }

    fn covering(&self, address: u64) -> Option<(u64, u64, &str)> {
        let (start, (end, name)) = self.entries.range(..=address).next_back()?;
        (address < *end).then_some((*start, *end, name))
    }

    fn refresh(&mut self) {
        let Ok(length) = fs::metadata(&self.path).map(|meta| meta.len()) else {
            return;
        };
        if self.read == Some(length) {
            return;
        }
        let Ok(text) = fs::read(&self.path) else {
            return;
        };
        self.read = Some(length);
        self.entries.clear();
        for line in String::from_utf8_lossy(&text).lines() {
            // The last line of a running program may be cut short; so may any of a crashed one.
            if let Some((start, size, name)) = parse(line) {
                self.insert(start, size, name);
            }
        }
    }

    /// Adds a function over what was there: a runtime reuses the memory of dropped code, and
    /// later lines tell what it holds at the end.
    fn insert(&mut self, start: u64, size: u64, name: &str) {
        let end = start.saturating_add(size);
        if let Some((before, (before_end, before_name))) = self
            .entries
            .range_mut(..start)
            .next_back()
            .map(|(at, entry)| (*at, entry.clone()))
        {
            if before_end > start {
                self.entries.insert(before, (start, before_name.clone()));
            }
            if before_end > end {
                self.entries.insert(end, (before_end, before_name));
            }
        }
        while let Some((at, _)) = self.entries.range(start..end).next() {
            let at = *at;
            if let Some((old_end, old_name)) = self.entries.remove(&at)
                && old_end > end
            {
                self.entries.insert(end, (old_end, old_name));
            }
        }
        self.entries.insert(start, (end, name.to_owned()));
    }
}

fn parse(line: &str) -> Option<(u64, u64, &str)> {
    let mut fields = line.splitn(3, ' ');
    let mut number = || {
        let digits = fields.next()?;
        u64::from_str_radix(digits.trim_start_matches("0x"), 16).ok()
    };
    let (start, size) = (number()?, number()?);
    let name = fields.next()?.trim();
    (size > 0 && !name.is_empty()).then_some((start, size, name))
}

#[cfg(test)]
mod tests {
    use super::PerfMap;
    use std::io::Write;

    #[test]
    fn later_lines_win_and_growth_is_seen() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        writeln!(
            file,
            "1000 100 old:function with spaces\nnonsense\n0x2000 0x10 b\n30"
        )
        .unwrap();
        let mut map = PerfMap::new(file.path().to_owned());
        let name = |map: &mut PerfMap, at| map.find(at).map(|f| f.name.to_string());
        assert_eq!(
            name(&mut map, 0x10ff).as_deref(),
            Some("old:function with spaces")
        );
        assert_eq!(name(&mut map, 0x1100), None);
        assert_eq!(name(&mut map, 0x200f).as_deref(), Some("b"));

        writeln!(file, "\n1040 20 new\n3000 8 c").unwrap();
        assert_eq!(name(&mut map, 0x3000).as_deref(), Some("c"));
        assert_eq!(name(&mut map, 0x1050).as_deref(), Some("new"));
        assert_eq!(
            name(&mut map, 0x103f).as_deref(),
            Some("old:function with spaces")
        );
        assert_eq!(
            name(&mut map, 0x1060).as_deref(),
            Some("old:function with spaces")
        );
    }
}
