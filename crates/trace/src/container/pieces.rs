//! Block logs in checked pieces.
//!
//! A log is appended to as code is met. Each piece is a header and whole frames (`crate::block`),
//! zstd-compressed where that is shorter. Little-endian: magic `PSBL`, `u16` version, `u16` header
//! bytes, `u32` bytes of the frames, `u32` bytes as stored, `u64` number in the log, from 0, `u32`
//! crc32 of the bytes as stored, `u32` crc32 of the header up to here.

use std::io;

use serde::{Deserialize, Serialize};

/// Bytes of a header.
pub(crate) const HEADER: usize = 32;

const MAGIC: [u8; 4] = *b"PSBL";
const VERSION: u16 = 2;

/// Frames of a piece have at most so many bytes: a few of the largest frames.
pub(crate) const MAX_BYTES: usize = 16 << 20;

/// What a log holds, so that one that was cut is told from a whole one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LogTotals {
    /// Pieces.
    pub pieces: u64,
    /// Bytes of the file.
    pub bytes: u64,
    /// CRC-32 of the checksums of all headers, in order.
    pub checksum: u32,
}

impl LogTotals {
    /// Takes in the next piece.
    pub(crate) fn add(&mut self, piece: &Piece) {
        self.pieces += 1;
        self.bytes += (HEADER + piece.stored) as u64;
        self.checksum = super::stored::chain(self.checksum, piece.own_crc);
    }
}

/// The header of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Bytes of the frames.
    pub(crate) bytes: usize,
    /// Bytes that follow the header.
    pub(crate) stored: usize,
    pub(crate) number: u64,
    crc: u32,
    /// Of the header itself.
    own_crc: u32,
}

impl Piece {
    /// Puts `frames` (whole ones, at most [`MAX_BYTES`]) behind their header into `out`.
    pub(crate) fn write(frames: &[u8], number: u64, out: &mut Vec<u8>) -> io::Result<Self> {
        out.clear();
        out.resize(HEADER, 0);
        let packed = zstd::bulk::compress(frames, 1)?;
        out.extend(if packed.len() < frames.len() {
            &packed
        } else {
            frames
        });
        let stored = out.len() - HEADER;
        let crc = crc32fast::hash(&out[HEADER..]);
        let mut head = Vec::with_capacity(HEADER);
        head.extend(MAGIC);
        head.extend(VERSION.to_le_bytes());
        head.extend((HEADER as u16).to_le_bytes());
        head.extend((frames.len() as u32).to_le_bytes());
        head.extend((stored as u32).to_le_bytes());
        head.extend(number.to_le_bytes());
        head.extend(crc.to_le_bytes());
        let own_crc = crc32fast::hash(&head);
        head.extend(own_crc.to_le_bytes());
        out[..HEADER].copy_from_slice(&head);
        Ok(Self {
            bytes: frames.len(),
            stored,
            number,
            crc,
            own_crc,
        })
    }

    /// `None` where the bytes are no header.
    pub(crate) fn parse(bytes: &[u8; HEADER]) -> Option<Self> {
        let u32_at = |at: usize| {
            let mut b = [0; 4];
            b.copy_from_slice(&bytes[at..at + 4]);
            u32::from_le_bytes(b)
        };
        let own = u32::from(VERSION) | ((HEADER as u32) << 16);
        let own_crc = u32_at(HEADER - 4);
        if bytes[..4] != MAGIC
            || u32_at(4) != own
            || own_crc != crc32fast::hash(&bytes[..HEADER - 4])
        {
            return None;
        }
        let (bytes, stored) = (u32_at(8) as usize, u32_at(12) as usize);
        (bytes <= MAX_BYTES && stored <= bytes).then(|| Self {
            bytes,
            stored,
            number: u64::from(u32_at(16)) | (u64::from(u32_at(20)) << 32),
            crc: u32_at(24),
            own_crc,
        })
    }

    /// The frames, from the bytes behind the header; an error says what is wrong with them.
    pub(crate) fn frames(&self, stored: Vec<u8>) -> Result<Vec<u8>, String> {
        if crc32fast::hash(&stored) != self.crc {
            return Err("the checksum does not match".to_owned());
        }
        if self.stored == self.bytes {
            return Ok(stored);
        }
        match zstd::bulk::decompress(&stored, self.bytes) {
            Ok(frames) if frames.len() == self.bytes => Ok(frames),
            Ok(_) => Err("it has fewer bytes than it says".to_owned()),
            Err(e) => Err(format!("it cannot be decompressed: {e}")),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn write(frames: &[u8]) -> (Piece, Vec<u8>) {
        let mut out = Vec::new();
        let piece = Piece::write(frames, 7, &mut out).unwrap();
        (piece, out)
    }

    #[test]
    fn reads_back() {
        for frames in [vec![3u8; 4000], (0..=255).collect(), vec![]] {
            let (piece, out) = write(&frames);
            let parsed = Piece::parse(out.first_chunk().unwrap()).unwrap();
            assert_eq!((parsed, parsed.number), (piece, 7));
            assert_eq!(parsed.frames(out[HEADER..].to_vec()), Ok(frames));
        }
    }

    #[test]
    fn any_changed_byte_is_noticed() {
        let (piece, out) = write(&[3; 400]);
        for at in 0..out.len() {
            let mut bad = out.clone();
            bad[at] ^= 0x10;
            match Piece::parse(bad.first_chunk().unwrap()) {
                None => assert!(at < HEADER),
                Some(_) => assert!(piece.frames(bad[HEADER..].to_vec()).is_err(), "byte {at}"),
            }
        }
    }
}
