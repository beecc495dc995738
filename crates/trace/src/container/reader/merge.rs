//! All threads in order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Damage, ReadError, Segment, StreamReader};
use crate::container::codec::Decoder;

/// Reads the words of all threads, segment by segment, in order of the time records they begin
/// with. Records inside a segment keep their thread's order; which of two overlapping segments
/// came first is known only as well as time records are frequent.
///
/// Memory: one decoded stored block for each thread that has begun and not ended.
pub struct Merged<'t> {
    streams: Vec<StreamReader<'t>>,
    queue: BinaryHeap<Reverse<(u64, usize)>>,
    decoder: Decoder,
    /// The stream whose segment was handed out last, to be put back into the queue.
    pending: Option<usize>,
}

impl<'t> Merged<'t> {
    pub(super) fn new(streams: Vec<StreamReader<'t>>) -> Result<Self, ReadError> {
        let keys = streams.iter().enumerate();
        let queue = keys.filter_map(|(i, s)| Some(Reverse((s.next_ticks()?, i))));
        Ok(Self {
            queue: queue.collect(),
            streams,
            decoder: Decoder::new().map_err(|e| ReadError::Io {
                path: "zstd".into(),
                source: std::io::Error::other(e),
            })?,
            pending: None,
        })
    }

    /// The next segment of any thread; `None` at the end.
    ///
    /// # Errors
    /// As [`StreamReader::next_segment`].
    pub fn next_segment(&mut self) -> Result<Option<Segment<'_>>, ReadError> {
        loop {
            if let Some(i) = self.pending.take()
                && let Some(ticks) = self.streams[i].next_ticks()
            {
                self.queue.push(Reverse((ticks, i)));
            }
            let Some(Reverse((_, i))) = self.queue.pop() else {
                return Ok(None);
            };
            self.pending = Some(i);
            if self.streams[i].is_at_end(&mut self.decoder)? {
                continue;
            }
            return self.streams[i].next_segment(&mut self.decoder);
        }
    }

    /// Corrupt stored blocks that were left out so far.
    pub fn damage(&self) -> impl Iterator<Item = &Damage> {
        self.streams.iter().flat_map(|s| s.damage())
    }
}
