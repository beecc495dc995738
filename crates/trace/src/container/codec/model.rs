//! What encoder and decoder both know of a thread: which block follows which, and how each
//! value moves from one execution of its block to the next.
//!
//! Both sides make the same predictions and learn the same from each miss, so only misses are
//! written. A model lives for one stored block: stored blocks decode independently.

/// Index of the state that stands for "nothing yet"; also where a stored block starts.
pub(super) const NONE: u32 = 0;

/// More words than any slice has, so that no execution fits.
pub(super) const NEVER: u32 = u32::MAX;

/// Deltas that were coded last, see [`Model::recent`].
pub(super) const RECENT: usize = 4;

/// What is known of one block (or of one kind of special record) of the thread.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    /// Its header word as of the last execution.
    pub(super) header: u64,
    /// Payload words if an execution may go into a run; [`NEVER`] where each is written explicitly
    /// (special records, accesses that have to be counted one by one).
    pub(super) run_words: u32,
    /// First of its predictions in [`Model::slots`].
    pub(super) slots: u32,
    /// Payload words.
    pub(super) words: u32,
    /// State that followed most lately, with hysteresis.
    pub(super) succ: u32,
    /// Another state that followed.
    pub(super) alt: u32,
    /// Executions so far.
    pub(super) execs: u32,
    /// `execs` when the successor was last mispredicted.
    succ_miss: u32,
    /// `execs` when a value was last mispredicted.
    value_miss: u32,
    /// First word of its miss mask in [`Model::masks`].
    mask: u32,
}

impl State {
    fn nothing() -> Self {
        Self {
            run_words: NEVER,
            ..Self::default()
        }
    }
}

/// Predictions for all blocks seen since the start of the stored block.
#[derive(Clone, Debug)]
pub(super) struct Model {
    pub(super) states: Vec<State>,
    /// Of each state, `words` predicted values, then their strides, then the strides to learn.
    pub(super) slots: Vec<u64>,
    /// Of each state, which values missed when any last did.
    masks: Vec<u64>,
    recent: [u64; RECENT],
    /// The value that was coded last: base of a block's first values.
    last: u64,
}

impl Model {
    pub(super) fn new() -> Self {
        Self {
            states: vec![State::nothing()],
            slots: Vec::new(),
            masks: Vec::new(),
            recent: [0; RECENT],
            last: 0,
        }
    }

    pub(super) fn reset(&mut self) {
        self.states.truncate(1);
        self.states[0] = State::nothing();
        self.slots.clear();
        self.masks.clear();
        self.recent = [0; RECENT];
        self.last = 0;
    }

    /// Makes a state and returns its index.
    pub(super) fn add(&mut self, header: u64, words: u32, runs: bool) -> u32 {
        let index = self.states.len() as u32;
        self.states.push(State {
            header,
            run_words: if runs { words } else { NEVER },
            slots: self.slots.len() as u32,
            words,
            mask: self.masks.len() as u32,
            ..State::default()
        });
        self.slots.resize(self.slots.len() + 3 * words as usize, 0);
        self.masks.resize(self.masks.len() + groups(words), 0);
        index
    }

    /// Learns that `next` followed `cur` against the prediction.
    pub(super) fn learn_successor(&mut self, cur: u32, next: u32) {
        let state = &mut self.states[cur as usize];
        let again = state.succ_miss.wrapping_add(1) == state.execs;
        state.succ_miss = state.execs;
        if state.succ == NONE {
            state.succ = next;
        } else if state.alt == next && again {
            // Twice in a row: it is the likelier one now. Once is a loop's exit.
            std::mem::swap(&mut state.succ, &mut state.alt);
        } else {
            state.alt = next;
        }
    }

    /// The three arrays of a state's values, and its miss mask.
    pub(super) fn parts(&mut self, index: u32) -> Parts<'_> {
        let state = &mut self.states[index as usize];
        let (from, n) = (state.slots as usize, state.words as usize);
        let all = &mut self.slots[from..from + 3 * n];
        let (predicted, rest) = all.split_at_mut(n);
        let (stride, alt) = rest.split_at_mut(n);
        let mask_from = state.mask as usize;
        Parts {
            first: state.execs == 0,
            again: state.execs > 0 && state.value_miss == state.execs,
            predicted,
            stride,
            alt,
            mask: &mut self.masks[mask_from..mask_from + groups(n as u32)],
            recent: &mut self.recent,
            last: &mut self.last,
            value_miss: &mut state.value_miss,
            execs: &mut state.execs,
        }
    }
}

/// Words of a mask of so many values.
pub(super) fn groups(words: u32) -> usize {
    (words as usize).div_ceil(64)
}

/// One state's values, open to be compared and learned from.
pub(super) struct Parts<'a> {
    /// No execution was seen before.
    pub(super) first: bool,
    /// A value was mispredicted in the execution just before.
    pub(super) again: bool,
    pub(super) predicted: &'a mut [u64],
    pub(super) stride: &'a mut [u64],
    pub(super) alt: &'a mut [u64],
    pub(super) mask: &'a mut [u64],
    recent: &'a mut [u64; RECENT],
    last: &'a mut u64,
    value_miss: &'a mut u32,
    execs: &'a mut u32,
}

/// How a mispredicted value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
    /// It moved by the delta of the slot's last miss.
    Alt,
    /// It moved by a delta that was written lately, 0 the latest.
    Recent(u8),
    /// It moved by this delta.
    Delta(u64),
}

impl Parts<'_> {
    /// What deltas of slot `i` start from.
    #[inline(always)]
    fn base(&self, i: usize) -> u64 {
        if self.first {
            *self.last
        } else {
            self.predicted[i].wrapping_sub(self.stride[i])
        }
    }

    /// Takes in that slot `i`, mispredicted, has `value`, and returns how to write that. `missed_before`: it missed
    /// in the last execution that had a miss.
    #[inline(always)]
    pub(super) fn write_miss(&mut self, i: usize, value: u64, missed_before: bool) -> Code {
        let delta = value.wrapping_sub(self.base(i));
        let code = if !self.first && delta == self.alt[i] {
            Code::Alt
        } else if let Some(at) = self.recent.iter().position(|&r| r == delta) {
            Code::Recent(at as u8)
        } else {
            self.remember(delta);
            Code::Delta(delta)
        };
        self.learn(i, value, delta, missed_before);
        code
    }

    /// Takes in a mispredicted slot's `code`: the inverse of [`Parts::write_miss`].
    #[inline(always)]
    pub(super) fn read_miss(&mut self, i: usize, code: Code, missed_before: bool) {
        let delta = match code {
            Code::Alt => self.alt[i],
            Code::Recent(at) => self.recent[usize::from(at) % RECENT],
            Code::Delta(delta) => {
                self.remember(delta);
                delta
            }
        };
        let value = self.base(i).wrapping_add(delta);
        self.learn(i, value, delta, missed_before);
    }

    #[inline(always)]
    fn remember(&mut self, delta: u64) {
        self.recent.copy_within(..RECENT - 1, 1);
        self.recent[0] = delta;
    }

    /// Slot `i` has `value`, `delta` from its base: makes it what was predicted, and learns how it goes on.
    #[inline(always)]
    fn learn(&mut self, i: usize, value: u64, delta: u64, missed_before: bool) {
        if self.first {
            self.stride[i] = 0;
        } else {
            // The same delta twice in a row is a stride; once is the step to the next row.
            if self.again && missed_before && delta == self.alt[i] {
                self.stride[i] = delta;
            }
            self.alt[i] = delta;
        }
        self.predicted[i] = value;
        *self.last = value;
    }

    /// Ends an execution, whose values now all are those that were predicted: predicts the next one's.
    #[inline(always)]
    pub(super) fn done(self, missed: bool) {
        for (p, s) in self.predicted.iter_mut().zip(&*self.stride) {
            *p = p.wrapping_add(*s);
        }
        *self.execs = self.execs.wrapping_add(1);
        if missed {
            *self.value_miss = *self.execs;
        }
    }
}
