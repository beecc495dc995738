//! Which addresses show the same bytes of a file: mappings that stores reach it through.

use std::sync::Arc;

/// One mapping, shared.
#[derive(Clone, Debug)]
struct Mapping {
    begin: u64,
    end: u64,
    file: Arc<str>,
    /// Where in the file it begins.
    offset: u64,
}

/// A process's shared mappings of files. Files are told apart by their path when they were mapped.
#[derive(Clone, Debug, Default)]
pub(super) struct Files(Vec<Mapping>);

impl Files {
    pub(super) fn map(&mut self, begin: u64, end: u64, file: &Arc<str>, offset: u64) {
        self.unmap(begin, end);
        self.0.push(Mapping {
            begin,
            end,
            file: Arc::clone(file),
            offset,
        });
    }

    /// Something else, or nothing, is from `begin` to `end`.
    pub(super) fn unmap(&mut self, begin: u64, end: u64) {
        let (cut, mut kept): (Vec<_>, Vec<_>) = std::mem::take(&mut self.0)
            .into_iter()
            .partition(|m| m.begin < end && begin < m.end);
        for m in cut {
            if m.begin < begin {
                kept.push(Mapping {
                    end: begin,
                    ..m.clone()
                });
            }
            if end < m.end {
                let offset = m.offset + (end - m.begin);
                kept.push(Mapping {
                    begin: end,
                    offset,
                    ..m
                });
            }
        }
        self.0 = kept;
    }

    /// Where else the bytes from `addr` on are: the address there, how many bytes behind `addr` they begin, and
    /// how many they are.
    pub(super) fn elsewhere(&self, addr: u64, len: u64) -> Vec<(u64, u64, u64)> {
        let end = addr.saturating_add(len);
        let mut found = Vec::new();
        // One mapping has no other.
        if self.0.len() < 2 {
            return found;
        }
        for (i, m) in self.0.iter().enumerate() {
            let (first, last) = (m.begin.max(addr), m.end.min(end));
            if first >= last {
                continue;
            }
            let (from, to) = (m.offset + (first - m.begin), m.offset + (last - m.begin));
            for (j, other) in self.0.iter().enumerate() {
                let behind = other.offset + (other.end - other.begin);
                let (from, to) = (from.max(other.offset), to.min(behind));
                if i == j || other.file != m.file || from >= to {
                    continue;
                }
                let there = other.begin + (from - other.offset);
                let skipped = m.begin + (from - m.offset) - addr;
                found.push((there, skipped, to - from));
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::Files;

    #[test]
    fn what_is_mapped_twice_is_in_both_places() {
        let (mut files, a, b) = (Files::default(), "a".into(), "b".into());
        files.map(0x1000, 0x4000, &a, 0);
        files.map(0x10000, 0x12000, &a, 0x1000);
        files.map(0x20000, 0x30000, &b, 0);
        assert_eq!(files.elsewhere(0x1000, 0x1000), []);
        assert_eq!(files.elsewhere(0x1ff8, 16), [(0x10000, 8, 8)]);
        assert_eq!(files.elsewhere(0x11ff8, 8), [(0x3ff8, 0, 8)]);
        files.unmap(0x2000, 0x3000);
        assert_eq!(files.elsewhere(0x10000, 8), []);
        assert_eq!(files.elsewhere(0x11000, 8), [(0x3000, 0, 8)]);
    }
}
