//! What memory holds, beside what stores did: records of recordings with values.

use crate::record::{header, id};

/// Why memory holds it, or what else is said of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u64)]
pub enum Why {
    /// The last instruction of the execution before has stored it: a repeated, masked, scattered or
    /// large store.
    Stored = 0,
    /// A system call or the frame of a signal.
    Kernel = 1,
    /// It was there: when recording began, or in what was mapped.
    Image = 2,
    /// The range is not mapped any more, or was the frame of a handler that has returned.
    Gone = 3,
    /// From now on others write there unseen.
    Unknown = 4,
    /// The range has got its content, with the mapping, from the address in the data.
    Moved = 5,
    /// Of the system call with the number that stands for the address is not known what it writes;
    /// what had changed near its arguments was recorded.
    Compared = 6,
}

/// A range of memory and what it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content<'a> {
    /// First byte.
    pub addr: u64,
    /// How many.
    pub len: u64,
    /// Why.
    pub why: Why,
    /// The bytes, little-endian, the last word filled up; none: they are zeros, or `why` has no data.
    pub data: &'a [u64],
}

impl<'a> Content<'a> {
    /// Reads a record's payload; `None` where it contradicts itself or is of a later schema.
    pub fn parse(payload: &'a [u64]) -> Option<Self> {
        let (&[addr, len, why], data) = payload.split_first_chunk::<3>()?;
        let why = match why {
            0 => Why::Stored,
            1 => Why::Kernel,
            2 => Why::Image,
            3 => Why::Gone,
            4 => Why::Unknown,
            5 => Why::Moved,
            6 => Why::Compared,
            _ => return None,
        };
        let fits = match why {
            Why::Stored | Why::Kernel | Why::Image => {
                data.is_empty() || data.len() as u64 == len.div_ceil(8)
            }
            Why::Moved => data.len() == 1,
            _ => data.is_empty(),
        };
        fits.then_some(Self {
            addr,
            len,
            why,
            data,
        })
    }

    /// Appends the record to `words`.
    pub fn write(&self, words: &mut Vec<u64>) {
        let n = 3 + self.data.len() as u32;
        words.extend([header(id::CONTENT, n), self.addr, self.len, self.why as u64]);
        words.extend_from_slice(self.data);
    }

    /// Does it say why the bytes are?
    pub fn is_known(&self) -> bool {
        matches!(self.why, Why::Stored | Why::Kernel | Why::Image)
    }
}
