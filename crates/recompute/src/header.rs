//! What tells a loop's file from others, and whether it is whole.

use crate::medium::{load_bytes, load_word, persist_word, store_bytes};
use crate::{Error, Medium, Nest, Scheme};

/// Bytes of the header: two cache lines.
pub(crate) const HEADER: usize = 128;
/// Longest name.
pub(crate) const NAME: usize = 40;
/// Version of the format.
const VERSION: u32 = 1;
/// The first word of a file of ours, stored when all else is durable.
const MAGIC: u64 = u64::from_le_bytes(*b"PRSTLOOP");
/// The first word of a file of ours until then. What has it holds nothing: a loop may be begun in its place.
pub(crate) const UNFINISHED: u64 = u64::from_le_bytes(*b"PRSTBEGN");

/// What a medium turned out to hold.
pub(crate) enum Found {
    /// Nothing, or a beginning that was cut short.
    Nothing,
    /// This very loop.
    Ours,
}

/// What identifies a loop.
pub(crate) struct Identity<'a> {
    pub nest: &'a Nest,
    pub scheme: Scheme,
    pub workers: usize,
    /// Bytes that the loop needs.
    pub total: usize,
}

fn describe(name: &str, outer: u64, regions: u64, scheme: &str, workers: u32) -> String {
    format!("{name} ({outer} iterations of {regions} regions, scheme {scheme}, workers: {workers})")
}

fn word(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}

fn half(bytes: &[u8], at: usize) -> u32 {
    (word(bytes, at & !7) >> (8 * (at & 7))) as u32
}

impl Identity<'_> {
    /// The header without its first word.
    fn encode(&self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        let (scheme, parameter) = self.scheme.code();
        let shape = crate::shape::describe(self.nest);
        let mut put = |at: usize, part: &[u8]| bytes[at..at + part.len()].copy_from_slice(part);
        put(16, &(self.total as u64).to_le_bytes());
        put(24, &crc32fast::hash(shape.as_bytes()).to_le_bytes());
        put(28, &(self.workers as u32).to_le_bytes());
        put(32, &(self.nest.outer as u64).to_le_bytes());
        put(40, &(self.nest.regions() as u64).to_le_bytes());
        put(48, &scheme.to_le_bytes());
        put(56, &parameter.to_le_bytes());
        put(64, self.nest.name.as_bytes());
        let sum = crc32fast::hash(&bytes[16..]);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[12..16].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// Stores the header but for what makes it valid.
    pub fn write(&self, medium: &impl Medium) {
        store_bytes(medium, 8, &self.encode()[8..]);
    }

    /// Makes it valid, once everything else is durable.
    pub fn commit(&self, medium: &impl Medium) -> Result<(), Error> {
        persist_word(medium, 0, MAGIC)
    }

    /// Compares; `place` is how messages call the medium.
    pub fn find(&self, medium: &impl Medium, place: &str) -> Result<Found, Error> {
        let too_small = || Error::TooSmall {
            place: place.to_string(),
            name: self.nest.name.clone(),
            has: medium.len() as u64,
            needs: self.total as u64,
        };
        if medium.len() < HEADER {
            return Err(too_small());
        }
        match load_word(medium, 0) {
            0 | UNFINISHED if medium.len() < self.total => return Err(too_small()),
            0 | UNFINISHED => return Ok(Found::Nothing),
            MAGIC => {}
            _ => return Err(Error::Foreign(place.to_string())),
        }
        let bytes = load_bytes(medium, 0, HEADER);
        let version = half(&bytes, 8);
        if version != VERSION {
            return Err(Error::Version {
                place: place.to_string(),
                found: version,
                known: VERSION,
            });
        }
        if crc32fast::hash(&bytes[16..]) != half(&bytes, 12) {
            return Err(Error::Damaged(format!(
                "{place} (the header's checksum is wrong)"
            )));
        }
        let wanted = self.encode();
        if bytes[16..] != wanted[16..] {
            let (found, wanted) = (explain(&bytes), explain(&wanted));
            let same = found == wanted;
            return Err(Error::Other {
                place: place.to_string(),
                found: if same {
                    format!("{found} with arrays of other sizes")
                } else {
                    found
                },
                wanted,
            });
        }
        if medium.len() < self.total {
            return Err(too_small());
        }
        Ok(Found::Ours)
    }
}

/// The loop of a header, in words.
fn explain(bytes: &[u8]) -> String {
    let name: Vec<u8> = bytes[64..64 + NAME]
        .iter()
        .copied()
        .filter(|b| *b != 0)
        .collect();
    let parameter = word(bytes, 56);
    let scheme = match half(bytes, 48) {
        0 => "none".to_string(),
        1 => format!("CP{parameter}"),
        2 => "L".to_string(),
        3 => "R".to_string(),
        4 => format!("HRx{parameter}"),
        5 => format!("CPall{parameter}"),
        other => format!("number {other}"),
    };
    describe(
        &String::from_utf8_lossy(&name),
        word(bytes, 32),
        word(bytes, 40),
        &scheme,
        half(bytes, 28),
    )
}
