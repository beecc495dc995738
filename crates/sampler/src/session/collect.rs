use crate::address_space::AddressSpaces;
use crate::pmu::Source;
use crate::record::{AccessKind, AuxChunk, DecodeError, Decoder, RawSample, Record};
use crate::ring::{ClockConversion, RingError, records};
use crate::samples::{ChainTable, Losses, Sample};
use crate::spe::decode_spe;

/// What has been gathered from the buffers of all CPUs.
#[derive(Debug, Clone, Default)]
pub struct Collected {
    /// Samples, in order of arrival.
    pub samples: Vec<Sample>,
    /// Mapping history.
    pub spaces: AddressSpaces,
    /// What is missing.
    pub losses: Losses,
    /// Samples taken by the hardware, dropped ones included.
    pub taken: u64,
    pub(crate) chains: ChainTable,
}

/// Reads buffers' bytes into [`Collected`]. Knows nothing of mappings and system calls.
pub struct Collector {
    collected: Collected,
    max_samples: usize,
}

impl Collector {
    /// A collector that keeps at most `max_samples`.
    pub fn new(max_samples: usize) -> Self {
        Self {
            collected: Collected::default(),
            max_samples,
        }
    }

    /// Reads whole records. AUX chunks are handed to `aux`, in order.
    pub fn feed(
        &mut self,
        bytes: &[u8],
        decoder: &Decoder,
        mut aux: impl FnMut(&mut Self, AuxChunk) -> Result<(), RingError>,
    ) -> Result<(), FeedError> {
        for record in records(bytes) {
            match decoder.decode(record?)? {
                Record::Sample(sample) => self.sample(&sample),
                Record::Lost(count) => self.collected.losses.lost += count,
                Record::Throttle => self.collected.losses.throttled += 1,
                Record::Mapping(mapping) => self.collected.spaces.map(mapping),
                Record::Fork { pid, parent, time } => {
                    self.collected.spaces.fork(pid, parent, time);
                }
                Record::Exec { pid, time } => self.collected.spaces.exec(pid, time),
                Record::Aux(chunk) => {
                    self.collected.losses.aux_gaps += u64::from(chunk.incomplete);
                    aux(self, chunk)?;
                }
                Record::Unthrottle | Record::Other(_) => {}
            }
        }
        Ok(())
    }

    /// Reads a chunk of Arm SPE packets; each sample stands for `period` operations.
    pub fn feed_spe(
        &mut self,
        bytes: &[u8],
        chunk: AuxChunk,
        period: u64,
        clock: Option<ClockConversion>,
    ) {
        let stream = decode_spe(bytes, chunk.offset);
        self.collected.losses.unreadable += stream.unknown + stream.incomplete;
        for record in stream.records {
            let time = match (record.timestamp, clock) {
                (Some(ticks), Some(clock)) => clock.nanoseconds(ticks),
                // The chunk's own time is later than its samples but of the right process image.
                _ => chunk.time,
            };
            self.sample(&RawSample {
                ip: record.pc,
                addr: record.addr,
                pid: chunk.pid,
                tid: chunk.tid,
                time,
                period,
                kind: if record.store {
                    AccessKind::Store
                } else {
                    AccessKind::Load
                },
                callchain: Vec::new(),
                user: record.exception_level == 0,
            });
        }
    }

    fn sample(&mut self, raw: &RawSample) {
        self.collected.taken += 1;
        if !raw.user {
            return;
        }
        if self.collected.samples.len() >= self.max_samples {
            self.collected.losses.beyond_cap += 1;
            return;
        }
        let chain = self.collected.chains.intern(&raw.callchain);
        self.collected.samples.push(Sample {
            ip: raw.ip,
            addr: raw.addr,
            pid: raw.pid,
            tid: raw.tid,
            time: raw.time,
            period: raw.period,
            kind: raw.kind,
            chain,
        });
    }

    /// Puts everything in order of time. `root`, if given, keeps only that process and its
    /// descendants: events that see whole CPUs bring others too.
    pub fn into_collected(self, root: Option<u32>) -> Collected {
        let mut collected = self.collected;
        collected.spaces.settle();
        if let Some(root) = root {
            let spaces = &collected.spaces;
            collected
                .samples
                .retain(|sample| spaces.descends_from(sample.pid, root));
        }
        collected.samples.sort_by_key(|sample| sample.time);
        collected
    }
}

/// Bytes that are no records, or records that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FeedError {
    /// The buffer is inconsistent.
    #[error(transparent)]
    Ring(#[from] RingError),
    /// A record is.
    #[error(transparent)]
    Record(#[from] DecodeError),
}

/// Whether the `ip` of this source's samples is the sampled instruction itself.
pub(crate) fn is_precise(source: Source, level: u8) -> bool {
    match source {
        // Level 1 has a constant skid of one instruction; from 2 on it is corrected.
        Source::IntelMemStores => level >= 2,
        Source::AmdIbsOp | Source::ArmSpe => true,
        Source::CpuClock => false,
    }
}
