//! What is known of each cache line, found by address in one or two loads.
//!
//! Memory comes in regions of 2 MB, pages of 4 KB, groups of 16 lines. A region costs 17 KB when
//! first touched (read or written): an *unread* and a *private* bit a line, where its groups are, and a sample's age. A group of
//! 1 KB costs 512 bytes when first written: 32 bytes a line. Reads of what nobody wrote, the bulk
//! of most programs, look at one bit of a bitmap that has 8 bytes a page.

mod owner;
mod state;
mod table;
mod watched;

use rustc_hash::FxHashMap;

use crate::cores::{sample_bits, sample_of};
use crate::touched::Touch;
use table::Table;
use watched::Watched;

pub(crate) use owner::Owner;
pub(crate) use state::LineState;

/// log2 of the line size. The pre-stores of the papers act on 64-byte lines.
pub(crate) const LINE_SHIFT: u32 = 6;
/// Bytes of a line.
pub(crate) const LINE: u64 = 1 << LINE_SHIFT;
/// log2 of the region size.
pub(crate) const REGION_SHIFT: u32 = 21;

/// The bytes of its line that `size` > 0 bytes at `addr` fill, which do not reach beyond it.
#[inline(always)]
pub(crate) fn bits_of(addr: u64, size: u64) -> u64 {
    (u64::MAX >> (LINE - size)) << (addr % LINE)
}

const PAGES: usize = 1 << (REGION_SHIFT - 12);
/// Lines whose states lie next to each other.
pub(crate) const GROUP_LINES: usize = 16;
const RECENT: usize = 256;

/// All lines of an address space.
#[derive(Debug)]
pub(crate) struct Lines {
    regions: FxHashMap<u64, u32>,
    /// Regions entered lately, by the low bits of their number.
    recent: Box<[RegionHint; RECENT]>,
    /// A bit a line, a word a page: written by tracked code and not read since, or of the sample.
    pub(crate) unread: Vec<u64>,
    /// As many bits: its writer's alone, so far; see `memory::own`.
    pub(crate) private: Vec<u64>,
    /// When the sampled line of each few pages was touched, see `cores`.
    pub(crate) touched: Vec<Touch>,
    /// Four groups a page: 0, or the group's number.
    groups: Vec<[u32; 4]>,
    /// Sixteen a group; group 0 is never used.
    pub(crate) states: Table,
    watched: Watched,
}

impl Default for Lines {
    fn default() -> Self {
        let mut states = Table::default();
        states.extend(GROUP_LINES);
        Self {
            regions: FxHashMap::default(),
            recent: Box::new([RegionHint::default(); RECENT]),
            unread: Vec::new(),
            private: Vec::new(),
            touched: Vec::new(),
            groups: Vec::new(),
            states,
            watched: Watched::default(),
        }
    }
}

/// The region an instruction touched last, so that it is found without a look-up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RegionHint {
    region: u64,
    base: u32,
}

impl Default for RegionHint {
    fn default() -> Self {
        Self {
            region: u64::MAX,
            base: 0,
        }
    }
}

impl Lines {
    /// Index into `unread` of the page that holds `addr`.
    #[inline(always)]
    pub(crate) fn page(&mut self, hint: &mut RegionHint, addr: u64) -> usize {
        let region = addr >> REGION_SHIFT;
        if hint.region != region {
            *hint = self.recent[region as usize % RECENT];
            if hint.region != region {
                *hint = self.enter(region);
            }
        }
        hint.base as usize + (addr as usize >> 12) % PAGES
    }

    #[inline(never)]
    fn enter(&mut self, region: u64) -> RegionHint {
        let next = self.unread.len() as u32;
        let base = *self.regions.entry(region).or_insert(next);
        if base == next {
            let first = region << (REGION_SHIFT - 12);
            self.unread
                .extend((first..first + PAGES as u64).map(sample_bits));
            self.touched
                .resize(sample_of(next as usize + PAGES), Touch::default());
            self.private.resize(next as usize + PAGES, 0);
            self.groups.resize(next as usize + PAGES, [0; 4]);
        }
        let hint = RegionHint { region, base };
        self.recent[region as usize % RECENT] = hint;
        hint
    }

    /// The bits of `size` > 0 bytes at `addr` among those of the lines of the page that holds them, the first line's lowest; `None`:
    /// they cross pages.
    #[inline(always)]
    pub(crate) fn unread_at(&mut self, hint: &mut RegionHint, addr: u64, size: u64) -> Option<u64> {
        let page = self.page(hint, addr);
        let unread = self.unread[page];
        if addr % LINE + size <= LINE {
            return Some(unread >> (addr >> LINE_SHIFT & 63) & 1);
        }
        let first = (addr >> LINE_SHIFT) & 63;
        let last = ((addr & 0xfff) + size - 1) >> LINE_SHIFT;
        (last < 64).then(|| (unread >> first) & (u64::MAX >> (63 - (last - first))))
    }

    /// Index into `states` of the line that holds `addr`, made if it is not there.
    #[inline(always)]
    pub(crate) fn state(&mut self, page: usize, addr: u64) -> usize {
        let line = (addr >> LINE_SHIFT) as usize;
        let group = self.groups[page][line / GROUP_LINES % 4];
        if group == 0 {
            return self.make_group(page, line);
        }
        group as usize * GROUP_LINES + line % GROUP_LINES
    }

    #[cold]
    #[inline(never)]
    fn make_group(&mut self, page: usize, line: usize) -> usize {
        let group = self.states.len() / GROUP_LINES;
        self.groups[page][line / GROUP_LINES % 4] = group as u32;
        self.watched.is_written(line as u64);
        self.states.extend(GROUP_LINES);
        group * GROUP_LINES + line % GROUP_LINES
    }

    /// Numbers of the page's first group and of the group of the line at `state`, in order of their first writing.
    pub(crate) fn groups_of(&self, page: usize, state: usize) -> (usize, usize) {
        let groups = self.groups[page].iter().filter(|&&g| g != 0);
        let own = state / GROUP_LINES;
        (groups.min().map_or(own, |&first| first as usize), own)
    }

    /// Nobody has touched the sampled lines of `size` bytes at `addr`, as far as is known: they were mapped anew.
    pub(crate) fn renew(&mut self, addr: u64, size: u64) {
        let mut at = addr;
        while at < addr.saturating_add(size) {
            let region = at >> REGION_SHIFT;
            let next = (region + 1) << REGION_SHIFT;
            if let Some(&base) = self.regions.get(&region) {
                let page = |at: u64| base as usize + (at as usize >> 12) % PAGES;
                let last = next.min(addr.saturating_add(size)) - 1;
                for touch in &mut self.touched[sample_of(page(at))..=sample_of(page(last))] {
                    *touch = touch.renewed();
                }
            }
            at = next;
        }
    }

    /// Index into `states` of the line number `line`, where it is there.
    #[inline]
    pub(crate) fn find(&self, hint: RegionHint, line: u64) -> Option<usize> {
        let region = line >> (REGION_SHIFT - LINE_SHIFT);
        let base = if region == hint.region {
            hint.base
        } else {
            *self.regions.get(&region)?
        };
        let page = base as usize + (line >> (12 - LINE_SHIFT)) as usize % PAGES;
        let group = self.groups[page][line as usize / GROUP_LINES % 4];
        (group != 0).then(|| group as usize * GROUP_LINES + line as usize % GROUP_LINES)
    }

    /// Brings the state of the line that holds `addr` into the cache, if its region was entered
    /// lately.
    #[inline(always)]
    pub(crate) fn prefetch(&self, addr: u64) {
        let region = addr >> REGION_SHIFT;
        let hint = self.recent[region as usize % RECENT];
        if region != hint.region {
            return;
        }
        let line = (addr >> LINE_SHIFT) as usize;
        let page = hint.base as usize + (addr as usize >> 12) % PAGES;
        let group = self.groups[page][line / GROUP_LINES % 4] as usize;
        if group == 0 {
            return;
        }
        let state = group * GROUP_LINES + line % GROUP_LINES;
        // One of its neighbours lies in the same line of the cache.
        prefetch(&self.states[state]);
        let other = match line % 2 {
            0 => line.wrapping_sub(1),
            _ => line.wrapping_add(1),
        };
        if let Some(state) = self.near(hint, state, line as u64, other as u64) {
            prefetch(&self.states[state]);
        }
    }

    /// As [`Lines::find`], where the line number `other` is at `state`: mostly in the same group.
    #[inline(always)]
    pub(crate) fn near(
        &self,
        hint: RegionHint,
        state: usize,
        other: u64,
        line: u64,
    ) -> Option<usize> {
        if (line ^ other) < GROUP_LINES as u64 {
            return Some(state - state % GROUP_LINES + line as usize % GROUP_LINES);
        }
        self.find(hint, line)
    }

    /// Is the line to be looked at when it is read?
    #[inline(always)]
    pub(crate) fn is_unread(&self, page: usize, line: u64) -> bool {
        self.unread[page] >> (line & 63) & 1 != 0
    }

    #[inline(always)]
    pub(crate) fn set_unread(&mut self, page: usize, line: u64) {
        self.unread[page] |= 1 << (line & 63);
    }

    #[inline(always)]
    pub(crate) fn clear_unread(&mut self, page: usize, line: u64) {
        self.unread[page] &= !(1 << (line & 63));
    }

    /// Another thread than its writer has got the line.
    #[inline(always)]
    pub(crate) fn set_shared(&mut self, page: usize, line: u64) {
        self.private[page] &= !(1 << (line & 63));
    }

    /// The line is its writer's alone, so far; true: it was so before.
    #[inline(always)]
    pub(crate) fn set_private(&mut self, page: usize, line: u64) -> bool {
        let (bits, bit) = (&mut self.private[page], 1 << (line & 63));
        let was = *bits & bit != 0;
        *bits |= bit;
        was
    }

    /// Bytes of memory that the lines take.
    pub(crate) fn memory(&self) -> usize {
        (self.unread.capacity() + self.private.capacity()) * 8
            + self.touched.capacity() * size_of::<Touch>()
            + self.groups.capacity() * 16
            + self.states.memory()
            + self.regions.capacity() * 16
    }
}

#[inline(always)]
fn prefetch<T>(what: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch of a valid reference; it changes nothing but the cache.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(what).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = what;
}
