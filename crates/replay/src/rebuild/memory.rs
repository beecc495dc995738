//! The memory of one process.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::files::Files;
use super::order::{Order, Writer};
use super::page::{PAGE, Page};
use super::ranges::Ranges;

/// What is known of a process's memory.
///
/// Memory: 4.6 KiB for each page that was ever other than zeros, 12.6 KiB with several threads.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    pages: FxHashMap<u64, Page>,
    /// Of what no page is there.
    zeros: Ranges,
    /// What others write unseen.
    shared: Ranges,
    files: Files,
    /// What else a byte may be, and who has stored it.
    unordered: FxHashMap<u64, Vec<(u8, Writer)>>,
}

/// The words of a record, byte by byte.
fn bytes_of(data: &[u64]) -> impl Iterator<Item = u8> + '_ {
    data.iter().flat_map(|w| w.to_le_bytes())
}

impl Memory {
    /// The byte at `addr`; `None`: it is not known, or no memory.
    pub fn byte(&self, addr: u64) -> Option<u8> {
        if self
            .shared
            .parts(addr, addr.saturating_add(1))
            .next()
            .is_some()
        {
            return None;
        }
        let at = (addr % PAGE) as usize;
        match self.pages.get(&(addr / PAGE)) {
            Some(page) => page.is_known(at).then(|| page.bytes()[at]),
            None => self.zeros.parts(addr, addr + 1).next().map(|_| 0),
        }
    }

    /// Copies what is at `addr` to `to`; false where not all of it is known.
    pub fn read(&self, addr: u64, to: &mut [u8]) -> bool {
        let mut all = true;
        for (addr, to) in (addr..).zip(to) {
            let byte = self.byte(addr);
            all &= byte.is_some();
            *to = byte.unwrap_or(0);
        }
        all
    }

    /// The numbers of the pages (address by [`PAGE`]) that were ever other than zeros.
    pub fn pages(&self) -> impl Iterator<Item = u64> + '_ {
        self.pages.keys().copied()
    }

    /// What an unordered byte may be beside [`Memory::byte`]; nothing of others.
    pub fn others(&self, addr: u64) -> impl Iterator<Item = u8> + '_ {
        let all = self.unordered.get(&addr).into_iter().flatten();
        all.map(|o| o.0)
    }

    /// Bytes that are unordered now.
    pub fn unordered(&self) -> impl Iterator<Item = u64> + '_ {
        self.unordered.keys().copied()
    }

    /// `len` bytes at `addr` are `data`, or zeros: stored by `now`, also where else a file shows them. Returns
    /// how many are unordered.
    pub(super) fn store(
        &mut self,
        addr: u64,
        len: u64,
        data: &[u64],
        order: &Order,
        now: Writer,
    ) -> u64 {
        for (there, skipped, len) in self.files.elsewhere(addr, len) {
            let part: Vec<u8> = bytes_of(data).skip(skipped as usize).collect();
            let words: Vec<u64> = part
                .chunks(8)
                .map(|c| c.iter().rev().fold(0, |w, b| w << 8 | u64::from(*b)))
                .collect();
            self.store_at(there, len, &words, order, now);
        }
        self.store_at(addr, len, data, order, now)
    }

    fn store_at(&mut self, addr: u64, len: u64, data: &[u64], order: &Order, now: Writer) -> u64 {
        let mut bytes = bytes_of(data);
        let mut unordered = 0;
        for (number, from, to) in pages(addr, len) {
            let page = page(&mut self.pages, &mut self.zeros, number);
            let part = bytes.by_ref().chain(std::iter::repeat(0)).take(to - from);
            if order.is_trivial() {
                page.set(from, part);
                continue;
            }
            let base = number * PAGE;
            let mut over = Vec::new();
            page.note(from, to, order, now, |at, old, by| over.push((at, old, by)));
            page.set(from, part);
            if !self.unordered.is_empty() {
                for addr in base + from as u64..base + to as u64 {
                    settle(&mut self.unordered, addr, order, now);
                }
            }
            for (at, old, by) in over {
                if page.bytes()[at] != old {
                    self.unordered
                        .entry(base + at as u64)
                        .or_default()
                        .push((old, by));
                    unordered += 1;
                }
            }
        }
        unordered
    }

    /// `len` bytes at `addr` are `data`, or zeros, before anybody stores there: what others have stored at the same
    /// time comes behind.
    pub(super) fn begin_with(
        &mut self,
        addr: u64,
        len: u64,
        data: &[u64],
        order: &Order,
        now: Writer,
    ) {
        if data.is_empty() {
            return self.zero(addr, len, order, now);
        }
        let mut bytes = bytes_of(data);
        for (number, from, to) in pages(addr, len) {
            let page = page(&mut self.pages, &mut self.zeros, number);
            for at in from..to {
                let byte = bytes.next().unwrap_or(0);
                if !page.may_stay(at, order, now) {
                    page.set(at, std::iter::once(byte));
                }
            }
        }
    }

    fn zero(&mut self, addr: u64, len: u64, order: &Order, now: Writer) {
        let end = addr.saturating_add(len);
        self.each_page(addr, end, |page, from, to| {
            for at in from..to {
                if !page.may_stay(at, order, now) {
                    page.set(at, std::iter::once(0));
                }
            }
        });
        self.zeros.add(addr, end);
    }

    /// Nothing is known of `len` bytes at `addr`. `gone`: there are none any more.
    pub(super) fn forget(&mut self, addr: u64, len: u64, gone: bool) {
        let end = addr.saturating_add(len);
        self.zeros.remove(addr, end);
        self.unordered.retain(|at, _| !(addr..end).contains(at));
        self.each_page(addr, end, Page::forget);
        if gone {
            self.shared.remove(addr, end);
            self.files.unmap(addr, end);
            let whole = addr.div_ceil(PAGE)..end / PAGE;
            self.pages.retain(|number, _| !whole.contains(number));
        }
    }

    /// A file was mapped, so that stores reach it.
    pub(super) fn map(&mut self, addr: u64, len: u64, file: &Arc<str>, offset: u64) {
        let len = len.next_multiple_of(PAGE);
        self.files.map(addr, addr.saturating_add(len), file, offset);
    }

    /// Something else was mapped.
    pub(super) fn map_other(&mut self, addr: u64, len: u64) {
        self.files.unmap(addr, addr.saturating_add(len));
    }

    /// Others write to `len` bytes at `addr` from now on.
    pub(super) fn share(&mut self, addr: u64, len: u64) {
        self.shared.add(addr, addr.saturating_add(len));
    }

    /// Nothing is known of any memory.
    pub(super) fn forget_all(&mut self) {
        *self = Self::default();
    }

    /// What was at `from` is at `to`: whole pages.
    pub(super) fn moved(&mut self, from: u64, to: u64, len: u64) {
        let end = from.saturating_add(len);
        let away = to.wrapping_sub(from);
        self.forget(to, len, true);
        let zeros: Vec<_> = self.zeros.parts(from, end).collect();
        for (b, e) in zeros {
            self.zeros.add(b.wrapping_add(away), e.wrapping_add(away));
        }
        for number in from / PAGE..end.div_ceil(PAGE) {
            if let Some(page) = self.pages.remove(&number) {
                self.pages
                    .insert((number * PAGE).wrapping_add(away) / PAGE, page);
            }
        }
        self.forget(from, len, true);
    }

    /// Calls `each` with the pages there are from `addr` to `end`, and from where to where in them.
    fn each_page(&mut self, addr: u64, end: u64, mut each: impl FnMut(&mut Page, usize, usize)) {
        let (first, behind) = (addr / PAGE, end.div_ceil(PAGE));
        let within = |number: u64| {
            let base = number * PAGE;
            (
                (addr.max(base) - base) as usize,
                (end.min(base + PAGE) - base) as usize,
            )
        };
        if behind.saturating_sub(first) > self.pages.len() as u64 {
            for (&number, page) in &mut self.pages {
                if (first..behind).contains(&number) {
                    let (from, to) = within(number);
                    each(page, from, to);
                }
            }
            return;
        }
        for number in first..behind {
            if let Some(page) = self.pages.get_mut(&number) {
                let (from, to) = within(number);
                each(page, from, to);
            }
        }
    }
}

/// The page of `number`, made where it is not there.
fn page<'a>(pages: &'a mut FxHashMap<u64, Page>, zeros: &mut Ranges, number: u64) -> &'a mut Page {
    pages.entry(number).or_insert_with(|| {
        let base = number * PAGE;
        let mut page = Page::new();
        for (b, e) in zeros.parts(base, base.saturating_add(PAGE)) {
            let zeros = std::iter::repeat_n(0, (e - b) as usize);
            page.set((b - base) as usize, zeros);
        }
        page
    })
}

/// A byte is stored by `now`: what came before it certainly is no more.
fn settle(
    unordered: &mut FxHashMap<u64, Vec<(u8, Writer)>>,
    addr: u64,
    order: &Order,
    now: Writer,
) {
    if let Some(others) = unordered.get_mut(&addr) {
        others.retain(|o| order.overlap(o.1, now));
        if others.is_empty() {
            unordered.remove(&addr);
        }
    }
}

/// The pages that `len` bytes at `addr` are in, and from where to where in each.
fn pages(addr: u64, len: u64) -> impl Iterator<Item = (u64, usize, usize)> {
    let mut at = addr;
    let end = addr.saturating_add(len);
    std::iter::from_fn(move || {
        (at < end).then(|| {
            let number = at / PAGE;
            let behind = (number + 1).saturating_mul(PAGE).min(end);
            let base = number * PAGE;
            let part = (number, (at - base) as usize, (behind - base) as usize);
            at = behind;
            part
        })
    })
}
