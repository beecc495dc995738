//! Flushes, fences and non-temporal stores that the program has already: how many were useless.

use prestore_trace::EventKind;
use rustc_hash::FxHashMap;

use crate::executed::Place;
use crate::fences::HORIZON;
use crate::lines::LINE_SHIFT;

/// What one of them did, in one thread.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    /// Flushes or fences; for non-temporal stores, lines.
    pub(crate) executed: u64,
    /// Flushes of lines that nobody had written, or not since they were flushed last.
    pub(crate) clean: u64,
    /// Flushes of lines that were written again while near the core, and after how many
    /// instructions.
    pub(crate) rewritten: u64,
    pub(crate) rewrite_sum: u64,
    /// Flushes that a fence followed, and those of which it was one for stores' sake alone.
    pub(crate) fenced: u64,
    pub(crate) fenced_explicitly: u64,
    /// Fences with nothing to wait for.
    pub(crate) idle: u64,
    /// Non-temporal lines that were sent out before they were complete.
    pub(crate) partial: u64,
}

impl Counts {
    pub(crate) fn merge(&mut self, o: &Self) {
        self.executed += o.executed;
        self.clean += o.clean;
        self.rewritten += o.rewritten;
        self.rewrite_sum += o.rewrite_sum;
        self.fenced += o.fenced;
        self.fenced_explicitly += o.fenced_explicitly;
        self.idle += o.idle;
        self.partial += o.partial;
    }

    /// Counts for `weight` times as much.
    pub(crate) fn scale(&mut self, weight: u64) {
        for n in [
            &mut self.executed,
            &mut self.clean,
            &mut self.rewritten,
            &mut self.rewrite_sum,
            &mut self.fenced,
            &mut self.fenced_explicitly,
            &mut self.idle,
            &mut self.partial,
        ] {
            *n *= weight;
        }
    }
}

/// The last flush of a line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flushed {
    pub(crate) thread: u32,
    pub(crate) number: u32,
    pub(crate) time: u64,
}

/// Most buffers that gather non-temporal stores of a core: 16 fill buffers of Intel's Golden Cove
/// (Intel's optimization manual, section 2.3); earlier ones have 10 or 12, AMD's Zen 4 has 8.
const BUFFERS: usize = 16;

#[derive(Debug, Default)]
struct Thread {
    /// By number.
    counts: Vec<Counts>,
    /// Flushes since the last fence: whose, and how many.
    waiting: Vec<(u32, u64)>,
    /// When the latest of them was.
    flushed: u64,
    /// Non-temporal stores or flushes since the last fence.
    weak: bool,
    /// Stores before a store fence, which leaves it to a full one that later loads wait for them.
    stored: bool,
    /// Lines being gathered, the latest last: which, which bytes, and whose.
    gathered: Vec<(u64, u64, u32)>,
    /// Known when it has ended: its instructions, and how many rounds of loops it waited.
    instructions: Vec<Instruction>,
    waited: u64,
}

impl Thread {
    /// A fence at `now` is too late for what was flushed before a long pause. From flush to flush there is none: a large
    /// range is flushed line by line, with one fence behind it.
    fn fenced_by(&mut self, now: u64) {
        if now - self.flushed > HORIZON {
            self.waiting.clear();
        }
    }
}

/// What counts under a thread's number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instruction {
    pub(crate) number: u32,
    pub(crate) place: Place,
    pub(crate) kind: EventKind,
}

/// What all threads of a process did.
#[derive(Debug, Default)]
pub(crate) struct Existing {
    threads: Vec<Thread>,
    pub(crate) flushed: FxHashMap<u64, Flushed>,
}

/// What a fence waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waits {
    /// Non-temporal stores and flushes; ordinary stores are in order anyway.
    Weak,
    /// Any store.
    All,
    /// It does something else too: it is not judged.
    Atomic,
}

impl Existing {
    pub(crate) fn thread_begins(&mut self) {
        self.threads.push(Thread::default());
    }

    pub(crate) fn counts(&mut self, thread: u32, number: u32) -> &mut Counts {
        let counts = &mut self.threads[thread as usize].counts;
        if counts.len() <= number as usize {
            counts.resize(number as usize + 1, Counts::default());
        }
        &mut counts[number as usize]
    }

    /// What each instruction of threads that have ended did.
    pub(crate) fn by_instruction(&self) -> impl Iterator<Item = (Instruction, Counts)> {
        let of_thread = |t: &'_ Thread| {
            let of = |i: &Instruction| {
                let mut counts = *t.counts.get(i.number as usize)?;
                // A loop that waits may fence in each round, which takes nobody's time.
                counts.idle = counts.idle.saturating_sub(t.waited);
                Some((*i, counts))
            };
            t.instructions.iter().filter_map(of).collect::<Vec<_>>()
        };
        self.threads.iter().flat_map(of_thread)
    }

    /// The thread has flushed a line, with its instruction `number`.
    pub(crate) fn flush(&mut self, thread: u32, number: u32, line: u64, now: u64) {
        self.send_out(thread, Some(line));
        let thread = &mut self.threads[thread as usize];
        thread.weak = true;
        thread.fenced_by(now);
        thread.flushed = now;
        match thread.waiting.iter_mut().rfind(|w| w.0 == number) {
            Some(waiting) => waiting.1 += 1,
            None => thread.waiting.push((number, 1)),
        }
    }

    /// Does a fence that waits so need nothing of what the thread did? `stores`: it has stored.
    pub(crate) fn fence(&mut self, thread: u32, waits: Waits, stores: bool, now: u64) -> bool {
        self.send_out(thread, None);
        let thread = &mut self.threads[thread as usize];
        thread.fenced_by(now);
        for (number, flushes) in thread.waiting.drain(..) {
            let counts = &mut thread.counts[number as usize];
            counts.fenced += flushes;
            if waits != Waits::Atomic {
                counts.fenced_explicitly += flushes;
            }
        }
        let idle = match waits {
            Waits::Weak => !thread.weak,
            Waits::All => !thread.weak && !thread.stored && !stores,
            Waits::Atomic => false,
        };
        thread.weak = false;
        thread.stored = waits == Waits::Weak && (thread.stored || stores);
        idle
    }

    /// The thread has written these bytes of a line non-temporally.
    pub(crate) fn gather(&mut self, thread: u32, number: u32, addr: u64, bits: u64) {
        let line = addr >> LINE_SHIFT;
        let known = &mut self.threads[thread as usize];
        known.weak = true;
        let at = known.gathered.iter().rposition(|g| g.0 == line);
        let (_, mut mask, _) = at.map_or((line, 0, number), |at| known.gathered.remove(at));
        mask |= bits;
        if mask == u64::MAX {
            self.counts(thread, number).executed += 1;
            return;
        }
        known.gathered.push((line, mask, number));
        if known.gathered.len() > BUFFERS {
            let (_, _, number) = known.gathered.remove(0);
            self.partial(thread, number);
        }
    }

    /// What the thread gathers, of this line or of all, leaves as it is.
    fn send_out(&mut self, thread: u32, line: Option<u64>) {
        let gathered = &mut self.threads[thread as usize].gathered;
        if gathered.is_empty() {
            return;
        }
        let sent: Vec<u32> = gathered
            .extract_if(.., |g| line.is_none_or(|l| l == g.0))
            .map(|g| g.2)
            .collect();
        for number in sent {
            self.partial(thread, number);
        }
    }

    fn partial(&mut self, thread: u32, number: u32) {
        let counts = self.counts(thread, number);
        counts.executed += 1;
        counts.partial += 1;
    }

    /// The thread has ended; others may yet write what it flushed.
    pub(crate) fn thread_ends(&mut self, thread: u32, all: Vec<Instruction>, waited: u64) {
        self.send_out(thread, None);
        let thread = &mut self.threads[thread as usize];
        (thread.instructions, thread.waited) = (all, waited);
        (thread.waiting, thread.gathered) = (Vec::new(), Vec::new());
    }
}
