//! One line of persistent memory: which of its bytes wait for what.

use prestore_trace::ThreadId;

use crate::finding::At;
use crate::write::{State, Write};

/// Bytes of a line of x86.
pub(crate) const LINE: u64 = 64;

/// A line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    pub(crate) writes: Vec<Write>,
    pub(crate) last_flush: Option<At>,
    /// The last non-temporal store, where no flush has come since.
    last_non_temporal: Option<At>,
    /// Who stored to it last.
    stored_by: Option<ThreadId>,
}

/// What a flush met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Met {
    /// Something to flush; the thread has to fence.
    Work,
    /// Nothing, and nothing that another thread has still to fence.
    Nothing,
}

impl Line {
    /// `last_flush`: before anything was stored to it.
    pub(crate) fn new(last_flush: Option<At>) -> Self {
        Self {
            last_flush,
            ..Self::default()
        }
    }

    /// `new` is stored; what was there at its bytes is gone. `ordered`: a store between a flush of
    /// its bytes and the fence is to be told.
    pub(crate) fn store(&mut self, mut new: Write, ordered: bool) {
        self.stored_by = Some(new.first.thread);
        let mut over = None;
        for old in &mut self.writes {
            if old.bytes & new.bytes == 0 {
                continue;
            }
            over = over.or(match &old.state {
                State::Flushed { flush, .. } if old.state.is_flushed_by(new.first.thread) => {
                    Some(*flush)
                }
                State::Dirty {
                    over, told: false, ..
                } if old.first.thread == new.first.thread => *over,
                _ => None,
            });
            old.bytes &= !new.bytes;
        }
        self.writes.retain(|w| w.bytes != 0);
        match &mut new.state {
            State::Dirty { over: behind, .. } => *behind = over.filter(|_| ordered),
            State::Flushed { flush, .. } => self.last_non_temporal = Some(*flush),
        }
        match self.writes.last_mut() {
            Some(last) if last.goes_on_with(&new) => {
                last.same &= !new.bytes;
                last.bytes |= new.bytes;
                last.stores += new.stores;
            }
            _ => {
                // Of most lines one waits, and there may be millions.
                if self.writes.is_empty() {
                    self.writes.reserve_exact(1);
                }
                self.writes.push(new);
            }
        }
    }

    /// What was stored at `at` last has left `bytes` as they were.
    pub(crate) fn is_same(&mut self, at: At, bytes: u64) {
        if let Some(write) = self.writes.iter_mut().rfind(|w| w.at == at) {
            write.same |= bytes;
        }
    }

    /// `thread` flushes the line at `at`; `alone`: no fence is needed for that.
    pub(crate) fn flush(&mut self, thread: ThreadId, at: At, alone: bool) -> Met {
        let mut met = Met::Nothing;
        for write in &mut self.writes {
            match &mut write.state {
                State::Dirty { .. } => {
                    let (flush, by) = (at, vec![thread]);
                    write.state = State::Flushed { flush, by };
                    met = Met::Work;
                }
                State::Flushed { by, .. } if !by.contains(&thread) => {
                    by.push(thread);
                    met = Met::Work;
                }
                State::Flushed { .. } => {}
            }
        }
        self.flushed(at);
        if alone {
            self.writes.clear();
        }
        met
    }

    /// It is flushed at `at`, whatever that meets.
    pub(crate) fn flushed(&mut self, at: At) {
        (self.last_flush, self.last_non_temporal) = (Some(at), None);
    }

    /// Has another one than `thread` stored to it last?
    pub(crate) fn is_of_another(&self, thread: ThreadId) -> bool {
        self.stored_by.is_some_and(|by| by != thread)
    }

    /// What wrote the line back last, or made it be: a flush, or a non-temporal store.
    pub(crate) fn last_written_back(&self) -> Option<At> {
        self.last_non_temporal.or(self.last_flush)
    }

    /// What `thread` flushed is persistent: it has fenced, or made an atomic. Answers which bytes.
    pub(crate) fn complete(&mut self, thread: ThreadId) -> u64 {
        let through = |w: &mut Write| w.state.is_flushed_by(thread);
        (self.writes.extract_if(.., through)).fold(0, |all, w| all | w.bytes)
    }

    /// `thread` makes an atomic, and has [completed](Self::complete) what it flushed. Answers whether there are stores between a flush
    /// and this, of which the next fence will tell.
    pub(crate) fn pass_atomic(&mut self, thread: ThreadId) -> bool {
        let mut any = false;
        for write in self.writes.iter_mut().filter(|w| w.first.thread == thread) {
            if let State::Dirty { over, past, .. } = &mut write.state
                && over.is_some()
            {
                *past = over.take();
                any = true;
            }
        }
        any
    }

    /// `thread` fences at `at`, and has [completed](Self::complete) what it flushed. `late` gets the writes that came between
    /// its flush and this, with the flush.
    pub(crate) fn fence(&mut self, thread: ThreadId, at: At, mut late: impl FnMut(&Write, At)) {
        for write in self.writes.iter_mut().filter(|w| w.first.thread == thread) {
            write.fence.get_or_insert(at);
            let changes = write.bytes & !write.same != 0;
            if let State::Dirty { over, past, told } = &mut write.state
                && let Some(flush) = over.take().or(past.take()).filter(|_| changes)
            {
                *told = true;
                late(write, flush);
            }
        }
    }
}

/// The bits of the bytes `from` to `from + size` of a line.
pub(crate) fn mask(from: u64, size: u64) -> u64 {
    let ones = match size {
        LINE.. => u64::MAX,
        size => (1 << size) - 1,
    };
    ones << from
}

#[cfg(test)]
mod tests {
    use prestore_trace::replay::NodeId;
    use prestore_trace::{ProcessId, SiteId};

    use super::*;
    use crate::finding::First;

    const ONE: ThreadId = ThreadId(1);
    const TWO: ThreadId = ThreadId(2);

    fn at(site: u32) -> At {
        At {
            site: SiteId(site),
            node: NodeId::ROOT,
        }
    }

    fn write(site: u32, thread: ThreadId, bytes: u64) -> Write {
        Write {
            at: at(site),
            first: First {
                process: ProcessId(0),
                thread,
                instr: 0,
                address: 0,
                offset: 0,
            },
            stores: 1,
            bytes,
            same: 0,
            state: State::Dirty {
                over: None,
                past: None,
                told: false,
            },
            fence: None,
            is_pointed_to: false,
        }
    }

    fn around_caches(site: u32, thread: ThreadId, bytes: u64) -> Write {
        Write {
            state: State::Flushed {
                flush: at(site),
                by: vec![thread],
            },
            ..write(site, thread, bytes)
        }
    }

    /// The sites that come between flush and fence.
    fn fence(line: &mut Line, thread: ThreadId) -> Vec<u32> {
        let mut late = Vec::new();
        line.complete(thread);
        line.fence(thread, at(99), |w, _| late.push(w.at.site.0));
        late
    }

    fn waiting(line: &Line) -> Vec<(u32, u64)> {
        line.writes.iter().map(|w| (w.at.site.0, w.bytes)).collect()
    }

    #[test]
    fn bytes_beside_flushed_ones_wait_for_a_flush_of_their_own() {
        let mut line = Line::default();
        line.store(write(1, ONE, 0x0f), true);
        assert_eq!(line.flush(ONE, at(50), false), Met::Work);
        line.store(write(2, ONE, 0xf0), true);
        assert!(fence(&mut line, ONE).is_empty());
        assert_eq!(waiting(&line), [(2, 0xf0)]);
        assert_eq!(line.flush(ONE, at(50), false), Met::Work);
        fence(&mut line, ONE);
        assert!(waiting(&line).is_empty());
    }

    #[test]
    fn a_store_over_flushed_bytes_comes_too_late_for_the_fence() {
        let mut line = Line::default();
        line.store(write(1, ONE, 0xff), true);
        line.flush(ONE, at(50), false);
        line.store(write(2, ONE, 0x0f), true);
        // Stored once more: still of the same flush.
        line.store(write(3, ONE, 0x0f), true);
        assert_eq!(fence(&mut line, ONE), [3]);
        assert!(fence(&mut line, ONE).is_empty(), "told once");
        assert_eq!(waiting(&line), [(3, 0x0f)]);
    }

    #[test]
    fn flushed_again_before_the_fence_it_does_not() {
        let mut line = Line::default();
        line.store(write(1, ONE, 0xff), true);
        line.flush(ONE, at(50), false);
        line.store(write(2, ONE, 0xff), true);
        assert_eq!(line.flush(ONE, at(51), false), Met::Work);
        assert!(fence(&mut line, ONE).is_empty());
        assert!(waiting(&line).is_empty());
    }

    #[test]
    fn an_atomic_completes_flushes_and_is_not_what_the_next_store_had_to_be_flushed_before() {
        let mut line = Line::default();
        line.store(write(1, ONE, 0xff), true);
        line.flush(ONE, at(50), false);
        line.store(write(2, ONE, 0x0f), true);
        assert_eq!(line.complete(ONE), 0xf0);
        assert!(!line.pass_atomic(TWO) && line.pass_atomic(ONE));
        assert!(!line.pass_atomic(ONE), "known from the first one");
        let mut again = line.clone();
        assert_eq!(again.flush(ONE, at(51), false), Met::Work);
        assert!(fence(&mut again, ONE).is_empty());
        let mut behind = line.clone();
        behind.store(write(3, ONE, 0x0f), true);
        assert!(fence(&mut behind, ONE).is_empty(), "the flush is long over");
        assert_eq!(fence(&mut line, ONE), [2], "flushed before no fence");
    }

    #[test]
    fn another_threads_store_is_its_own_business() {
        let mut line = Line::default();
        line.store(write(1, ONE, 0xff), true);
        line.flush(ONE, at(50), false);
        line.store(write(2, TWO, 0xff), true);
        assert!(fence(&mut line, ONE).is_empty());
        assert_eq!(waiting(&line), [(2, 0xff)]);
    }

    #[test]
    fn the_fence_has_to_be_of_a_thread_that_flushed() {
        let mut line = Line::default();
        line.store(write(1, ONE, 0xff), true);
        assert_eq!(line.flush(TWO, at(50), false), Met::Work);
        fence(&mut line, ONE);
        assert_eq!(waiting(&line), [(1, 0xff)]);
        assert_eq!(
            line.flush(ONE, at(51), false),
            Met::Work,
            "nobody has fenced yet"
        );
        assert_eq!(line.flush(ONE, at(51), false), Met::Nothing);
        fence(&mut line, ONE);
        assert!(waiting(&line).is_empty());
    }

    #[test]
    fn stores_around_the_caches_need_a_fence_only() {
        let mut line = Line::default();
        line.store(around_caches(1, ONE, 0xff), true);
        assert_eq!(line.flush(ONE, at(50), false), Met::Nothing);
        fence(&mut line, ONE);
        assert!(waiting(&line).is_empty());
    }

    #[test]
    fn what_wrote_back_last_is_a_flush_or_a_store_around_the_caches() {
        let mut line = Line::default();
        assert_eq!(line.last_written_back(), None);
        line.store(write(1, ONE, 0xff), true);
        line.flush(ONE, at(50), false);
        line.store(around_caches(2, ONE, 0xff), true);
        assert_eq!(line.last_written_back(), Some(at(2)));
        assert_eq!(line.last_flush, Some(at(50)));
        line.flush(ONE, at(51), false);
        assert_eq!(line.last_written_back(), Some(at(51)));
    }

    #[test]
    fn a_flush_that_is_ordered_by_itself_needs_none() {
        let mut line = Line::default();
        line.store(write(1, ONE, 0xff), true);
        assert_eq!(line.flush(ONE, at(50), true), Met::Work);
        assert!(waiting(&line).is_empty());
        assert_eq!(line.flush(ONE, at(50), true), Met::Nothing);
    }

    #[test]
    fn masks_of_parts_of_lines() {
        assert_eq!(mask(0, 64), u64::MAX);
        assert_eq!(mask(60, 4), 0xf << 60);
        assert_eq!(mask(0, 1), 1);
    }
}
