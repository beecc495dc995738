//! The hot loop of the encoder: executions of blocks that are known to follow each other.

use super::super::bytes::Bytes;
use super::super::hits::hit;
use super::super::model::{Code, Model, Parts};
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
        if values.len() > 64 {
            return self.many_values(next, values);
        }
        let mut parts = self.model.parts(next);
        let missed = miss_mask(values, parts.predicted);
        let (Some(mask), 1..) = (parts.mask.first_mut(), missed) else {
            parts.done(false);
            return VALUES_PREDICTED;
        };
        let before = std::mem::replace(mask, missed);
        if missed != before {
            self.streams.aux.put(missed, values.len().div_ceil(8));
        }
        write_misses(&mut self.streams, &mut parts, 0, values, missed, before);
        parts.done(true);
        match missed == before {
            true => VALUES_SAME_MASK,
            false => VALUES_NEW_MASK,
        }
    }

    /// The same of more values than a mask has bits.
    #[inline(never)]
    fn many_values(&mut self, next: u32, values: &[u64]) -> u8 {
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
            let mask = miss_mask(chunk, &parts.predicted[64 * g..]);
            if changed != 0 {
                self.streams.aux.put(mask, chunk.len().div_ceil(8));
            }
            let before = std::mem::replace(&mut parts.mask[g], mask);
            write_misses(&mut self.streams, &mut parts, 64 * g, chunk, mask, before);
        }
        parts.done(true);
        match changed {
            0 => VALUES_SAME_MASK,
            _ => VALUES_NEW_MASK,
        }
    }
}

/// Writes those of up to 64 values, from slot `from` on, that are not as predicted (`missed`; `before`: those that were not when
/// any was not last).
#[inline(always)]
fn write_misses(
    streams: &mut Streams<Bytes>,
    parts: &mut Parts<'_>,
    from: usize,
    values: &[u64],
    missed: u64,
    before: u64,
) {
    let Streams { codes, raw, .. } = streams;
    let mut left = missed;
    while left != 0 {
        let j = left.trailing_zeros() as usize;
        left &= left - 1;
        match parts.write_miss(from + j, values[j], before >> j & 1 == 1) {
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

/// Which of up to 64 values are not as predicted.
#[inline(always)]
fn miss_mask(values: &[u64], predicted: &[u64]) -> u64 {
    // Most blocks have few values, and loops that count to a few cost more than they do.
    match values.len() {
        1 => few::<1>(values, predicted),
        2 => few::<2>(values, predicted),
        3 => few::<3>(values, predicted),
        4 => few::<4>(values, predicted),
        _ => some(values, predicted),
    }
}

#[inline(always)]
fn few<const N: usize>(values: &[u64], predicted: &[u64]) -> u64 {
    match (values.first_chunk::<N>(), predicted.first_chunk::<N>()) {
        (Some(values), Some(predicted)) => some(values, predicted),
        _ => 0,
    }
}

#[inline(always)]
fn some(values: &[u64], predicted: &[u64]) -> u64 {
    let pairs = values.iter().zip(predicted).enumerate();
    pairs.fold(0, |mask, (j, (v, p))| mask | (u64::from(v != p) << j))
}
