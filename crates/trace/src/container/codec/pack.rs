//! The four streams to one payload: `u32 bytes, u32 bytes as stored` for each, then each in turn,
//! zstd-compressed where that makes it smaller.

use super::bytes::Bytes;
use super::{DecodeError, MAX_WORDS, Streams};

/// Level 1: the streams are small already, and the recorder must keep up with the program.
const LEVEL: i32 = 1;

const HEAD: usize = 4 * 8;

/// A stream cannot honestly be longer than this: masks and steps are at most the words.
const MAX_STREAM: usize = 16 * MAX_WORDS;

/// Compresses streams.
pub(super) struct Packer(zstd::bulk::Compressor<'static>);

impl Packer {
    pub(super) fn new() -> std::io::Result<Self> {
        zstd::bulk::Compressor::new(LEVEL).map(Self)
    }

    /// Appends the payload of `streams` to `out`.
    pub(super) fn pack(
        &mut self,
        streams: &Streams<Bytes>,
        out: &mut Vec<u8>,
    ) -> std::io::Result<()> {
        let head = out.len();
        out.resize(head + HEAD, 0);
        for (i, stream) in in_order(streams).into_iter().enumerate() {
            let from = out.len();
            let bound = zstd::zstd_safe::compress_bound(stream.len());
            out.resize(from + bound, 0);
            let mut stored = self.0.compress_to_buffer(stream, &mut out[from..])?;
            if stored >= stream.len() {
                stored = stream.len();
                out[from..from + stored].copy_from_slice(stream);
            }
            out.truncate(from + stored);
            let at = head + 8 * i;
            out[at..at + 4].copy_from_slice(&(stream.len() as u32).to_le_bytes());
            out[at + 4..at + 8].copy_from_slice(&(stored as u32).to_le_bytes());
        }
        Ok(())
    }
}

fn in_order(s: &Streams<Bytes>) -> [&[u8]; 4] {
    [&s.control, &s.aux, &s.codes, &s.raw].map(Bytes::written)
}

/// Takes payloads apart.
pub(super) struct Unpacker(zstd::bulk::Decompressor<'static>);

impl Unpacker {
    pub(super) fn new() -> std::io::Result<Self> {
        zstd::bulk::Decompressor::new().map(Self)
    }

    pub(super) fn unpack(
        &mut self,
        payload: &[u8],
        streams: &mut Streams<Vec<u8>>,
    ) -> Result<(), DecodeError> {
        let (head, mut rest) = payload
            .split_at_checked(HEAD)
            .ok_or(DecodeError::Malformed("its streams are cut short"))?;
        let into = [
            &mut streams.control,
            &mut streams.aux,
            &mut streams.codes,
            &mut streams.raw,
        ];
        for (i, out) in into.into_iter().enumerate() {
            let size = |at: usize| {
                let bytes = [head[at], head[at + 1], head[at + 2], head[at + 3]];
                u32::from_le_bytes(bytes) as usize
            };
            let (plain, stored) = (size(8 * i), size(8 * i + 4));
            if plain > MAX_STREAM {
                return Err(DecodeError::Malformed("a stream is impossibly long"));
            }
            let (bytes, after) = rest
                .split_at_checked(stored)
                .ok_or(DecodeError::Malformed("its streams are cut short"))?;
            rest = after;
            out.clear();
            if stored == plain {
                out.extend_from_slice(bytes);
                continue;
            }
            out.resize(plain, 0);
            let got = self.0.decompress_to_buffer(bytes, out.as_mut_slice());
            if !matches!(got, Ok(n) if n == plain) {
                return Err(DecodeError::Malformed("a stream does not decompress"));
            }
        }
        Ok(())
    }
}
