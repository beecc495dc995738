//! Payloads to words.

use thiserror::Error;

use super::model::{Code, Model, NONE, Parts};
use super::pack::Unpacker;
use super::*;
use crate::record::{FIRST_BLOCK, header, id};

/// A payload that no encoder wrote.
#[derive(Debug, Error)]
pub enum DecodeError {
    /// It contradicts itself.
    #[error("the stored block is corrupt: {0}")]
    Malformed(&'static str),
    /// zstd found no memory.
    #[error("decompression failed: {0}")]
    Decompression(#[from] std::io::Error),
}

/// The words of a stored block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decoded {
    /// The words as they were encoded: whole records.
    pub words: Vec<u64>,
    /// Where in the words a [`crate::record::Special::Time`] starts, and its ticks.
    pub times: Vec<(usize, u64)>,
}

/// Decodes payloads. Its memory is bounded by what a stored block can hold, whatever the payload.
pub struct Decoder {
    model: Model,
    streams: Streams<Vec<u8>>,
    unpacker: Unpacker,
}

/// Where in the streams the decoder is.
#[derive(Default)]
struct Cursor {
    control: usize,
    aux: usize,
    codes: usize,
    raw: usize,
}

const CUT_SHORT: DecodeError = DecodeError::Malformed("a stream ends early");
const TOO_LONG: DecodeError = DecodeError::Malformed("it holds more words than it says");
const NO_STATE: DecodeError = DecodeError::Malformed("a successor that was never seen");

impl Decoder {
    /// # Errors
    /// [`DecodeError::Decompression`] where zstd finds no memory.
    pub fn new() -> Result<Self, DecodeError> {
        Ok(Self {
            model: Model::new(),
            streams: Streams::default(),
            unpacker: Unpacker::new()?,
        })
    }

    /// Decodes a payload of `words` words into `out`, whose former content is dropped.
    ///
    /// # Errors
    /// [`DecodeError`]; `out` then holds what came before the contradiction.
    pub fn decode(
        &mut self,
        payload: &[u8],
        words: usize,
        out: &mut Decoded,
    ) -> Result<(), DecodeError> {
        out.words.clear();
        out.times.clear();
        if words > MAX_WORDS {
            return Err(DecodeError::Malformed("it claims impossibly many words"));
        }
        self.unpacker.unpack(payload, &mut self.streams)?;
        self.model.reset();
        out.words.reserve(words);
        let mut at = Cursor::default();
        let mut cur = NONE;
        while let Some(&control) = self.streams.control.get(at.control) {
            at.control += 1;
            let mut run = u64::from(control >> 4);
            if run == LONG_RUN {
                let more = varint::get(&self.streams.aux, &mut at.aux).ok_or(CUT_SHORT)?;
                run = run.saturating_add(more);
            }
            cur = self.run(cur, run, words, &mut out.words)?;
            cur = self.event(cur, control, words, &mut at, out)?;
        }
        self.rest(cur, words, &mut out.words)?;
        if out.words.len() == words {
            Ok(())
        } else {
            Err(TOO_LONG)
        }
    }

    /// Executions as predicted until there are `words` words.
    fn rest(&mut self, mut cur: u32, words: usize, out: &mut Vec<u64>) -> Result<(), DecodeError> {
        while out.len() < words {
            cur = self.run(cur, 1, words, out)?;
        }
        Ok(())
    }

    /// `run` executions as predicted.
    #[inline(always)]
    fn run(
        &mut self,
        mut cur: u32,
        mut run: u64,
        words: usize,
        out: &mut Vec<u64>,
    ) -> Result<u32, DecodeError> {
        let Model { states, slots, .. } = &mut self.model;
        while run > 0 {
            let next = states[cur as usize].succ;
            let state = &mut states[next as usize];
            if next == NONE || (state.header as u32) < FIRST_BLOCK {
                return Err(NO_STATE);
            }
            let n = state.words as usize;
            if out.len() + 1 + n > words {
                return Err(TOO_LONG);
            }
            let from = state.slots as usize;
            predicted(state.header, &mut slots[from..from + 2 * n], out);
            state.execs = state.execs.wrapping_add(1);
            cur = next;
            run -= 1;
        }
        Ok(cur)
    }

    fn event(
        &mut self,
        cur: u32,
        control: u8,
        words: usize,
        at: &mut Cursor,
        out: &mut Decoded,
    ) -> Result<u32, DecodeError> {
        let state = &self.model.states[cur as usize];
        let succ = state.succ;
        let next = match control & 3 {
            SUCC_PREDICTED => succ,
            SUCC_ALT => state.alt,
            SUCC_AUX => self.explicit(words - out.words.len(), at)?,
            _ => return Err(DecodeError::Malformed("an unknown control byte")),
        };
        if next == NONE {
            return Err(NO_STATE);
        }
        if next != succ {
            self.model.learn_successor(cur, next);
        }
        let state = &self.model.states[next as usize];
        let (header, n) = (state.header, state.words as usize);
        if out.words.len() + 1 + n > words {
            return Err(TOO_LONG);
        }
        let start = out.words.len();
        out.words.push(header);
        self.values(next, n, control & 0b1100, at, &mut out.words)?;
        if header as u32 == id::TIME && n > 0 {
            out.times.push((start, out.words[start + 1]));
        }
        Ok(next)
    }

    /// A successor written out; `room`: words that may still come.
    fn explicit(&mut self, room: usize, at: &mut Cursor) -> Result<u32, DecodeError> {
        let aux = &self.streams.aux;
        let mut read = || varint::get(aux, &mut at.aux).ok_or(CUT_SHORT);
        let index = read()?;
        let (index, header_differs) = (index >> 1, index & 1 == 1);
        let known = self.model.states.len() as u64;
        if index == 0 || index > known {
            return Err(NO_STATE);
        }
        if index == known {
            let (record, n) = (read()?, read()?);
            let (Ok(record), Ok(n)) = (u32::try_from(record), u32::try_from(n)) else {
                return Err(DecodeError::Malformed("a block id beyond 32 bits"));
            };
            if record == id::END || n > MAX_RECORD || n as usize >= room {
                return Err(TOO_LONG);
            }
            let high = if record < FIRST_BLOCK { n } else { 0 };
            self.model.add(header(record, high), n, true);
        }
        if header_differs {
            let high = u32::try_from(read()?)
                .map_err(|_| DecodeError::Malformed("a header beyond 64 bits"))?;
            let state = &mut self.model.states[index as usize];
            state.header = header(state.header as u32, high);
        }
        Ok(index as u32)
    }

    #[inline]
    fn values(
        &mut self,
        next: u32,
        n: usize,
        kind: u8,
        at: &mut Cursor,
        out: &mut Vec<u64>,
    ) -> Result<(), DecodeError> {
        let Streams {
            aux, codes, raw, ..
        } = &self.streams;
        let mut parts = self.model.parts(next);
        if kind == VALUES_PREDICTED {
            append(parts.predicted, out);
            parts.done(false);
            return Ok(());
        }
        let from = (&aux[..], &codes[..], &raw[..]);
        if n <= 64 {
            group(&mut parts, (0, n), kind, from, at)?;
        } else {
            for g in 0..n.div_ceil(64) {
                group(&mut parts, (g, (n - 64 * g).min(64)), kind, from, at)?;
            }
        }
        append(parts.predicted, out);
        parts.done(true);
        Ok(())
    }
}

/// Reads what 64 values were that were not all as predicted, or the `len` last ones, which are group `g`.
#[inline(always)]
fn group(
    parts: &mut Parts<'_>,
    (g, len): (usize, usize),
    kind: u8,
    (aux, codes, raw): (&[u8], &[u8], &[u8]),
    at: &mut Cursor,
) -> Result<(), DecodeError> {
    let Some(known) = parts.mask.get_mut(g) else {
        return Ok(());
    };
    let before = *known;
    let mask = match kind {
        VALUES_SAME_MASK => before,
        VALUES_NEW_MASK => take(aux, &mut at.aux, len.div_ceil(8))?,
        _ => return Err(DecodeError::Malformed("an unknown control byte")),
    };
    *known = mask;
    let mut left = mask & (u64::MAX >> (64 - len));
    while left != 0 {
        let j = left.trailing_zeros() as usize;
        left &= left - 1;
        let code = *codes.get(at.codes).ok_or(CUT_SHORT)?;
        at.codes += 1;
        let code = match code {
            CODE_ALT => Code::Alt,
            CODE_RECENT..CODE_DELTA => Code::Recent(code - CODE_RECENT),
            _ => {
                let bytes = usize::from(code - CODE_DELTA);
                if bytes > 8 {
                    return Err(DecodeError::Malformed("an unknown value code"));
                }
                Code::Delta(varint::unzigzag(take(raw, &mut at.raw, bytes)?))
            }
        };
        parts.read_miss(64 * g + j, code, before >> j & 1 == 1);
    }
    Ok(())
}

/// An execution as predicted is appended, and the predictions move on. `slots`: a prediction each, then a stride each.
/// Most blocks have few values, and loops and copies of any number of them cost more than they do.
#[inline(always)]
fn predicted(header: u64, slots: &mut [u64], out: &mut Vec<u64>) {
    match slots {
        [] => out.push(header),
        [a, by] => {
            out.extend_from_slice(&[header, *a]);
            *a = a.wrapping_add(*by);
        }
        [a, b, by_a, by_b] => {
            out.extend_from_slice(&[header, *a, *b]);
            *a = a.wrapping_add(*by_a);
            *b = b.wrapping_add(*by_b);
        }
        [a, b, c, by_a, by_b, by_c] => {
            out.extend_from_slice(&[header, *a, *b, *c]);
            *a = a.wrapping_add(*by_a);
            *b = b.wrapping_add(*by_b);
            *c = c.wrapping_add(*by_c);
        }
        _ => many_predicted(header, slots, out),
    }
}

#[inline(never)]
fn many_predicted(header: u64, slots: &mut [u64], out: &mut Vec<u64>) {
    let (predicted, stride) = slots.split_at_mut(slots.len() / 2);
    out.push(header);
    out.extend_from_slice(predicted);
    for (p, s) in predicted.iter_mut().zip(&*stride) {
        *p = p.wrapping_add(*s);
    }
}

/// Appends values, mostly few.
#[inline(always)]
fn append(values: &[u64], out: &mut Vec<u64>) {
    match *values {
        [] => {}
        [a] => out.push(a),
        [a, b] => out.extend_from_slice(&[a, b]),
        [a, b, c] => out.extend_from_slice(&[a, b, c]),
        _ => out.extend_from_slice(values),
    }
}

/// The little-endian number in the next `n` (at most 8) bytes.
#[inline]
fn take(from: &[u8], at: &mut usize, n: usize) -> Result<u64, DecodeError> {
    let start = *at;
    *at += n;
    if let Some(eight) = from.get(start..start + 8) {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(eight);
        let all = u64::from_le_bytes(bytes);
        return Ok(if n == 8 {
            all
        } else {
            all & ((1 << (8 * n)) - 1)
        });
    }
    let some = from.get(start..start + n).ok_or(CUT_SHORT)?;
    let mut bytes = [0; 8];
    bytes[..n].copy_from_slice(some);
    Ok(u64::from_le_bytes(bytes))
}
