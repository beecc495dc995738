//! The header of a stored block, which stands before its payload in a thread's event stream.
//!
//! Little-endian: magic `PSEB`, `u16` version, `u16` header bytes, `u32` process, `u32` thread,
//! `u32` words, `u32` payload bytes, `u64` instructions before, `u64` instructions, `u64`
//! executions, `u64` ticks at the start, `u64` ticks last, 19 `u64` event counts, `u64` further
//! lines, `u64` number in the stream, from 0, `u32` crc32 of the payload, `u32` crc32 of the header up to here.

use super::EventCounts;
use super::codec::MAX_WORDS;
use super::counts::KINDS;
use crate::{ProcessId, ThreadId};

/// Bytes of a header.
pub(crate) const HEADER: usize = 24 + 5 * 8 + KINDS * 8 + 8 + 8 + 8;

const MAGIC: [u8; 4] = *b"PSEB";
const VERSION: u16 = 3;

/// Payloads are never longer: words that do not compress, and the streams' heads.
const MAX_PAYLOAD: usize = 16 * MAX_WORDS;

/// What a stored block holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredBlock {
    /// The process whose blocks its words refer to.
    pub process: ProcessId,
    /// Whose words they are.
    pub thread: ThreadId,
    /// How many words.
    pub words: usize,
    /// Bytes of the payload, which follows the header.
    pub payload: usize,
    /// Instructions the thread had executed before it.
    pub instrs_before: u64,
    /// Instructions in it, skipped ones included.
    pub instrs: u64,
    /// Block executions in it.
    pub execs: u64,
    /// Ticks of the time record in effect at its first record, 0 before the first of all.
    pub start_ticks: u64,
    /// Ticks of the time record in effect at its end.
    pub last_ticks: u64,
    /// Events in it.
    pub counts: EventCounts,
    /// Of its events' [`further_lines`], the sum.
    pub further_lines: u64,
    /// Its number in the stream, from 0.
    pub number: u64,
    pub(crate) crc: u32,
}

/// Longer accesses, bytes, are those of string instructions, and few others (states of the processor).
const LONG: u64 = 256;

/// Lines of 64 bytes that an access of `bytes` has beyond the first, where it is long; 0 of others. Results of a sample
/// count a long access as so many more: one `rep stos` can take as long as millions of other stores.
pub fn further_lines(bytes: u64) -> u64 {
    match bytes > LONG {
        true => bytes.div_ceil(64) - 1,
        false => 0,
    }
}

/// The checksum of a file whose headers, in order, have these: those so far and the next.
pub(crate) fn chain(so_far: u32, next: u32) -> u32 {
    let mut hasher = crc32fast::Hasher::new_with_initial(so_far);
    hasher.update(&next.to_le_bytes());
    hasher.finalize()
}

impl StoredBlock {
    /// The checksum in its header, of the header.
    pub(crate) fn own_crc(&self) -> u32 {
        let bytes = self.to_bytes();
        let mut last = [0; 4];
        last.copy_from_slice(&bytes[HEADER - 4..]);
        u32::from_le_bytes(last)
    }

    pub(crate) fn to_bytes(&self) -> [u8; HEADER] {
        let mut out = Vec::with_capacity(HEADER);
        out.extend(MAGIC);
        out.extend(VERSION.to_le_bytes());
        out.extend((HEADER as u16).to_le_bytes());
        let narrow = [
            self.process.0,
            self.thread.0,
            self.words as u32,
            self.payload as u32,
        ];
        out.extend(narrow.iter().flat_map(|v| v.to_le_bytes()));
        let wide = [
            self.instrs_before,
            self.instrs,
            self.execs,
            self.start_ticks,
            self.last_ticks,
        ];
        let wide = wide.iter().chain(&self.counts.0);
        out.extend(wide.flat_map(|v| v.to_le_bytes()));
        out.extend(self.further_lines.to_le_bytes());
        out.extend(self.number.to_le_bytes());
        out.extend(self.crc.to_le_bytes());
        out.extend(crc32fast::hash(&out).to_le_bytes());
        let mut bytes = [0; HEADER];
        bytes.copy_from_slice(&out);
        bytes
    }

    /// `None` where the bytes are no header.
    pub(crate) fn parse(bytes: &[u8; HEADER]) -> Option<Self> {
        let u32_at = |at: usize| {
            let mut b = [0; 4];
            b.copy_from_slice(&bytes[at..at + 4]);
            u32::from_le_bytes(b)
        };
        let u64_at = |at: usize| u64::from(u32_at(at)) | (u64::from(u32_at(at + 4)) << 32);
        let own = u32::from(VERSION) | ((HEADER as u32) << 16);
        let crc_at = HEADER - 4;
        if bytes[..4] != MAGIC || u32_at(4) != own {
            return None;
        }
        if u32_at(crc_at) != crc32fast::hash(&bytes[..crc_at]) {
            return None;
        }
        let mut counts = EventCounts::default();
        for (i, n) in counts.0.iter_mut().enumerate() {
            *n = u64_at(64 + 8 * i);
        }
        let (words, payload) = (u32_at(16) as usize, u32_at(20) as usize);
        (words <= MAX_WORDS && payload <= MAX_PAYLOAD).then(|| Self {
            process: ProcessId(u32_at(8)),
            thread: ThreadId(u32_at(12)),
            words,
            payload,
            instrs_before: u64_at(24),
            instrs: u64_at(32),
            execs: u64_at(40),
            start_ticks: u64_at(48),
            last_ticks: u64_at(56),
            counts,
            further_lines: u64_at(HEADER - 24),
            number: u64_at(HEADER - 16),
            crc: u32_at(HEADER - 8),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> StoredBlock {
        let mut counts = EventCounts::default();
        counts
            .0
            .iter_mut()
            .enumerate()
            .for_each(|(i, n)| *n = i as u64 + 100);
        StoredBlock {
            process: ProcessId(1),
            thread: ThreadId(2),
            words: 3,
            payload: 4,
            instrs_before: 5,
            instrs: 6,
            execs: 7,
            start_ticks: 8,
            last_ticks: 9,
            counts,
            further_lines: 12,
            number: 11,
            crc: 10,
        }
    }

    #[test]
    fn reads_back() {
        assert_eq!(StoredBlock::parse(&some().to_bytes()), Some(some()));
    }

    #[test]
    fn any_changed_byte_is_noticed() {
        let bytes = some().to_bytes();
        for at in 0..HEADER {
            let mut bad = bytes;
            bad[at] ^= 0x10;
            assert_eq!(StoredBlock::parse(&bad), None, "byte {at}");
        }
    }
}
