//! What a thread says about windows and regions.

/// Where the client keeps it, in both kinds of a thread's files.
const AT: usize = 40;

/// Instructions and regions of a thread so far (`wire_tally_t`); zero where everything is recorded.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) recorded: u64,
    pub(crate) skipped: u64,
    pub(crate) regions: u64,
}

impl Tally {
    /// Reads it from a thread's file. A running thread may be changing it: each number is one
    /// aligned word, and the host only needs them when the thread has ended.
    pub(super) fn read(file: &[u8]) -> Self {
        let word = |i: usize| {
            let bytes = file.get(AT + 8 * i..AT + 8 * i + 8);
            bytes
                .and_then(|b| b.try_into().ok())
                .map_or(0, u64::from_le_bytes)
        };
        Self {
            recorded: word(0),
            skipped: word(1),
            regions: word(2),
        }
    }
}
