//! Which addresses of a process are whose persistent memory.

use std::collections::BTreeMap;

use crate::line::LINE;
use crate::memory::Key;

/// A stretch of one image in an address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    /// Address behind its last byte.
    pub(crate) end: u64,
    /// Whose memory it is, see [`crate::memory::Memory`].
    pub(crate) owner: u32,
    /// Where it begins in that memory, bytes.
    pub(crate) base: u64,
    /// What users count from: where the image begins in that memory, bytes.
    pub(crate) origin: u64,
    /// What becomes of it.
    pub(crate) life: Life,
}

/// How a region ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    /// It does not.
    Range,
    /// Its data stays when it is unmapped.
    File,
    /// Its data is gone when it is freed.
    Allocation,
}

/// A part of an access that lies in one region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) owner: u32,
    /// First byte in the owner's memory.
    pub(crate) at: u64,
    /// Bytes.
    pub(crate) size: u64,
    /// Virtual address of the first.
    pub(crate) addr: u64,
    /// Bytes from the image's beginning.
    pub(crate) offset: u64,
}

/// A part of a piece that lies in one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) key: Key,
    /// First byte in the line, and how many.
    pub(crate) from: u64,
    pub(crate) size: u64,
    /// Bytes of the piece before it.
    pub(crate) further: u64,
}

impl Piece {
    /// The line that it begins in.
    pub(crate) fn key(&self) -> Key {
        (self.owner, self.at / LINE)
    }

    /// What is left of it behind its first `bytes`.
    fn behind(self, bytes: u64) -> Self {
        Self {
            owner: self.owner,
            at: self.at + bytes,
            size: self.size - bytes,
            addr: self.addr + bytes,
            offset: self.offset.wrapping_add(bytes),
        }
    }

    /// Its lines.
    pub(crate) fn lines(self) -> impl Iterator<Item = Part> {
        let (mut at, end) = (self.at, self.at + self.size);
        std::iter::from_fn(move || {
            let (line, from) = (at / LINE, at % LINE);
            let part = Part {
                key: (self.owner, line),
                from,
                size: (end - at).min(LINE - from),
                further: at - self.at,
            };
            at += part.size;
            (part.size > 0).then_some(part)
        })
    }
}

/// Regions before an address that are looked at: what is mapped holds what is allocated in it.
const NESTED: usize = 4;

/// The regions of one process.
#[derive(Clone, Debug, Default)]
pub(crate) struct Regions {
    by_start: BTreeMap<u64, Region>,
    /// Where all of them lie, and all that were there before.
    bounds: Bounds,
}

/// Addresses from the first to before the second.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bounds(u64, u64);

impl Bounds {
    /// May some of `size` bytes at `addr` lie in a region?
    pub(crate) fn meet(self, addr: u64, size: u64) -> bool {
        addr < self.1 && addr.saturating_add(size) > self.0
    }
}

impl Regions {
    pub(crate) fn is_empty(&self) -> bool {
        self.by_start.is_empty()
    }

    /// Where its regions lie.
    pub(crate) fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// Answers what began at `start` before.
    pub(crate) fn add(&mut self, start: u64, region: Region) -> Option<Region> {
        self.bounds = match self.bounds {
            Bounds(_, 0) => Bounds(start, region.end),
            Bounds(first, end) => Bounds(first.min(start), end.max(region.end)),
        };
        self.by_start.insert(start, region)
    }

    /// The region at `start` ends, if one that may begins there.
    pub(crate) fn remove(&mut self, start: u64) -> Option<Region> {
        let region = self.by_start.get(&start)?;
        if region.life == Life::Range {
            return None;
        }
        self.by_start.remove(&start)
    }

    /// Something else is mapped at `start`: what files were there is theirs no more.
    pub(crate) fn replace(&mut self, start: u64, end: u64) {
        let over: Vec<(u64, Region)> = (self.by_start.range(..end))
            .filter(|(_, r)| r.end > start && r.life == Life::File)
            .map(|(&s, &r)| (s, r))
            .collect();
        for (first, region) in over {
            self.by_start.remove(&first);
            if first < start {
                self.add(
                    first,
                    Region {
                        end: start,
                        ..region
                    },
                );
            }
            if region.end > end {
                let base = region.base + (end - first);
                self.add(end, Region { base, ..region });
            }
        }
    }

    fn holding(&self, addr: u64) -> Option<(u64, &Region)> {
        let before = self.by_start.range(..=addr).rev().take(NESTED);
        before.map(|(&s, r)| (s, r)).find(|(_, r)| addr < r.end)
    }

    /// The parts of `size` bytes at `addr` that lie in regions.
    pub(crate) fn pieces(&self, addr: u64, size: u64, mut piece: impl FnMut(Piece)) {
        let end = addr.saturating_add(size);
        let mut at = addr;
        while at < end {
            let next = |from: u64| self.by_start.range(from..).next().map_or(end, |(&s, _)| s);
            let Some((start, region)) = self.holding(at) else {
                at = next(at);
                continue;
            };
            let until = end.min(region.end).min(next(at + 1));
            let place = region.base + (at - start);
            piece(Piece {
                owner: region.owner,
                at: place,
                size: until - at,
                addr: at,
                offset: place.wrapping_sub(region.origin),
            });
            at = until;
        }
    }

    /// The `size` bytes at `offset` of each file of which all of them are mapped in one.
    pub(crate) fn in_files(&self, offset: u64, size: u64, mut piece: impl FnMut(Piece)) {
        for (start, region) in self.by_start.iter().filter(|(_, r)| r.life == Life::File) {
            let first = region.base.wrapping_sub(region.origin);
            let further = offset.wrapping_sub(first);
            let behind = further.saturating_add(size);
            if offset >= first && behind <= region.end - start {
                self.pieces(start + further, size, &mut piece);
            }
        }
    }

    /// What of the line that `addr` is in lies in regions, which may begin and end within lines: one piece for each owner; that of
    /// the byte at `addr` begins there.
    pub(crate) fn line(&self, addr: u64) -> Vec<Piece> {
        let mut all: Vec<Piece> = Vec::new();
        self.pieces(addr / LINE * LINE, LINE, |piece| {
            let before = addr.saturating_sub(piece.addr);
            let holds = piece.addr <= addr && before < piece.size;
            let piece = if holds { piece.behind(before) } else { piece };
            match all.iter_mut().find(|p| p.key() == piece.key()) {
                Some(other) if holds => *other = piece,
                Some(_) => {}
                None => all.push(piece),
            }
        });
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(end: u64, base: u64) -> Region {
        Region {
            end,
            owner: 7,
            base,
            origin: 0,
            life: Life::File,
        }
    }

    fn pieces(regions: &Regions, addr: u64, size: u64) -> Vec<(u64, u64)> {
        let mut all = Vec::new();
        regions.pieces(addr, size, |p| all.push((p.at, p.size)));
        all
    }

    #[test]
    fn an_access_is_cut_at_the_ends() {
        let mut regions = Regions::default();
        regions.add(0x1000, file(0x2000, 0));
        regions.add(0x3000, file(0x4000, 0x8000));
        assert_eq!(pieces(&regions, 0xff0, 0x20), [(0, 0x10)]);
        assert_eq!(
            pieces(&regions, 0x1ff0, 0x1020),
            [(0xff0, 0x10), (0x8000, 0x10)]
        );
        assert!(pieces(&regions, 0x2000, 0x1000).is_empty());
    }

    #[test]
    fn a_mapping_in_the_middle_leaves_both_ends() {
        let mut regions = Regions::default();
        regions.add(0x1000, file(0x4000, 0));
        regions.replace(0x2000, 0x3000);
        assert_eq!(
            pieces(&regions, 0x1000, 0x3000),
            [(0, 0x1000), (0x2000, 0x1000)]
        );
        assert!(regions.remove(0x3000).is_some());
        assert_eq!(pieces(&regions, 0x1000, 0x3000), [(0, 0x1000)]);
    }

    #[test]
    fn an_allocation_in_a_mapping_is_the_allocations() {
        let mut regions = Regions::default();
        regions.add(0x1000, file(0x2000, 0));
        let region = Region {
            owner: 8,
            ..file(0x1200, 0x100)
        };
        regions.add(0x1100, region);
        assert_eq!(
            pieces(&regions, 0x10f0, 0x120),
            [(0xf0, 0x10), (0x100, 0x100), (0x200, 0x10)]
        );
    }

    #[test]
    fn of_a_line_every_owner_has_one_piece() {
        let mut regions = Regions::default();
        let own = |owner: u32, end: u64, base: u64| Region {
            owner,
            ..file(end, base)
        };
        regions.add(0x1010, own(7, 0x1020, 0x1010));
        regions.add(0x1020, own(8, 0x1030, 0x1020));
        regions.add(0x1030, own(7, 0x1080, 0x1030));
        let line = |addr: u64| -> Vec<(u32, u64)> {
            let pieces = regions.line(addr).into_iter();
            pieces.map(|p| (p.owner, p.addr)).collect()
        };
        assert_eq!(line(0x1000), [(7, 0x1010), (8, 0x1020)]);
        assert_eq!(line(0x1024), [(7, 0x1010), (8, 0x1024)]);
        assert_eq!(line(0x1038), [(7, 0x1038), (8, 0x1020)]);
        assert_eq!(line(0x1047), [(7, 0x1047)]);
        assert_eq!(line(0xfff), []);
    }
}
