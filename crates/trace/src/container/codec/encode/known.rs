//! The hot loop of the encoder: executions of blocks that are known to follow each other.

use super::super::hits::hit;
use super::super::model::{Code, Model};
use super::super::*;
use super::Encoder;

impl Encoder {
    /// The hot loop: executions of the two blocks that are known to follow.
    #[inline]
    pub(super) fn known_ones(
        &mut self,
        words: &[u64],
        at: &mut usize,
        limit: usize,
        last: &mut usize,
    ) {
        loop {
            self.run_of_hits(&words[..words.len().min(limit + *last)], at);
            let Some(&header) = words.get(*at) else {
                return;
            };
            if *at >= limit {
                return;
            }
            let states = &self.model.states;
            let cur = &states[self.cur as usize];
            let (mut next, mut control) = (cur.succ, SUCC_PREDICTED);
            if states[next as usize].header != header {
                (next, control) = (cur.alt, SUCC_ALT);
                if states[next as usize].header != header {
                    return;
                }
            }
            let n = states[next as usize].run_words as usize;
            let Some(values) = words.get(*at + 1..*at + 1 + n) else {
                return;
            };
            if control == SUCC_ALT {
                self.model.learn_successor(self.cur, next);
            }
            self.write_long_run();
            self.behind_a_run(control, next, values);
            *last = 1 + n;
            *at += *last;
        }
    }

    /// Executions that are wholly as predicted.
    #[inline(always)]
    fn run_of_hits(&mut self, words: &[u64], at: &mut usize) {
        let Model { states, slots, .. } = &mut self.model;
        let (mut i, mut cur, mut run) = (*at, self.cur, self.run);
        let mut next = states[cur as usize].succ;
        while let Some(&header) = words.get(i) {
            let state = &mut states[next as usize];
            if header != state.header {
                break;
            }
            let n = state.run_words as usize;
            let from = state.slots as usize;
            let Some(values) = words.get(i + 1..i + 1 + n) else {
                break;
            };
            if !hit(values, &mut slots[from..from + 2 * n]) {
                break;
            }
            state.execs = state.execs.wrapping_add(1);
            cur = next;
            next = state.succ;
            run += 1;
            i += 1 + n;
        }
        (*at, self.cur, self.run) = (i, cur, run);
    }

    /// Of a long run, what its control byte has no room for.
    #[inline(always)]
    pub(super) fn write_long_run(&mut self) {
        if self.run >= LONG_RUN {
            self.streams.aux.varint(self.run - LONG_RUN);
        }
    }

    /// Ends the run with an execution of `next`, whose successor's bits are `control`.
    #[inline(always)]
    pub(super) fn behind_a_run(&mut self, control: u8, next: u32, values: &[u64]) {
        let control = control | self.values(next, values) | (self.run.min(LONG_RUN) as u8) << 4;
        self.streams.control.push(control);
        self.run = 0;
        self.cur = next;
    }

    #[inline(always)]
    fn values(&mut self, next: u32, values: &[u64]) -> u8 {
        let Streams {
            aux, codes, raw, ..
        } = &mut self.streams;
        let mut parts = self.model.parts(next);
        let (mut missed, mut changed) = (0, 0);
        for (g, chunk) in values.chunks(64).enumerate() {
            let mask = miss_mask(chunk, &parts.predicted[64 * g..]);
            missed |= mask;
            changed |= mask ^ parts.mask[g];
        }
        if missed == 0 {
            parts.done(false);
            return VALUES_PREDICTED;
        }
        for (g, chunk) in values.chunks(64).enumerate() {
            let mask = match values.len() {
                0..=64 => missed,
                _ => miss_mask(chunk, &parts.predicted[64 * g..]),
            };
            if changed != 0 {
                aux.put(mask, chunk.len().div_ceil(8));
            }
            let before = std::mem::replace(&mut parts.mask[g], mask);
            let mut left = mask;
            while left != 0 {
                let j = left.trailing_zeros() as usize;
                left &= left - 1;
                match parts.write_miss(64 * g + j, chunk[j], before >> j & 1 == 1) {
                    Code::Alt => codes.push(CODE_ALT),
                    Code::Recent(at) => codes.push(CODE_RECENT + at),
                    Code::Delta(delta) => {
                        let z = varint::zigzag(delta);
                        let bytes = (64 - z.leading_zeros()).div_ceil(8);
                        codes.push(CODE_DELTA + bytes as u8);
                        raw.put(z, bytes as usize);
                    }
                }
            }
        }
        parts.done(true);
        if changed == 0 {
            VALUES_SAME_MASK
        } else {
            VALUES_NEW_MASK
        }
    }
}

/// Which of up to 64 values are not as predicted.
fn miss_mask(values: &[u64], predicted: &[u64]) -> u64 {
    let pairs = values.iter().zip(predicted).enumerate();
    pairs.fold(0, |mask, (j, (v, p))| mask | (u64::from(v != p) << j))
}
