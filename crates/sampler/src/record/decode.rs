use perf_event_data::endian::Endian;
use perf_event_data::parse::{ParseConfig, Parser};
use perf_event_data::{
    Aux, AuxFlags, Comm, Fork, Lost, LostSamples, MemOp, Mmap2, RecordMetadata, Sample, Throttle,
    Visitor,
};
use perf_event_open_sys::bindings::{
    PERF_RECORD_MISC_COMM_EXEC, PERF_RECORD_MISC_CPUMODE_MASK, PERF_RECORD_MISC_USER,
    perf_event_attr,
};
use thiserror::Error;

use super::{AccessKind, AuxChunk, Mapping, RawSample, Record, decode_ibs_op};
use crate::pmu::Source;

/// A record that does not have the form its type and the event's attributes ask for.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "a perf record of {bytes} bytes cannot be read ({reason}); the kernel may be newer than this \
     version of prestore"
)]
pub struct DecodeError {
    /// Length of the record.
    pub bytes: usize,
    /// What the parser said.
    pub reason: String,
}

/// This machine's byte order, without the parser's shortcut of reinterpreting arrays in place: the
/// shortcut skips over arrays that are not aligned to their element (perf-event-data 0.1.8).
#[derive(Debug, Clone, Copy, Default)]
struct Unaligned;

// SAFETY: the trait forbids claiming to be native where the byte order differs; this claims nothing.
unsafe impl Endian for Unaligned {
    fn convert_u16(&self, bytes: [u8; 2]) -> u16 {
        u16::from_ne_bytes(bytes)
    }

    fn convert_u32(&self, bytes: [u8; 4]) -> u32 {
        u32::from_ne_bytes(bytes)
    }

    fn convert_u64(&self, bytes: [u8; 8]) -> u64 {
        u64::from_ne_bytes(bytes)
    }
}

/// Reads the records of one event.
#[derive(Clone)]
pub struct Decoder {
    config: ParseConfig<Unaligned>,
    source: Source,
}

impl Decoder {
    /// A decoder for an event opened with these attributes: they decide which fields records have.
    pub fn new(attr: perf_event_attr, source: Source) -> Self {
        Self {
            config: ParseConfig::from(attr),
            source,
        }
    }

    /// Decodes one record, header included.
    pub fn decode(&self, record: &[u8]) -> Result<Record, DecodeError> {
        Parser::new(record, self.config.clone())
            .parse_record(ToRecord(self.source))
            .map_err(|error| DecodeError {
                bytes: record.len(),
                reason: error.to_string(),
            })
    }
}

struct ToRecord(Source);

impl<'a> Visitor<'a> for ToRecord {
    type Output = Record;

    fn visit_unimplemented(self, metadata: RecordMetadata) -> Record {
        Record::Other(metadata.ty())
    }

    fn visit_lost(self, record: Lost, _: RecordMetadata) -> Record {
        Record::Lost(record.lost)
    }

    fn visit_lost_samples(self, record: LostSamples, _: RecordMetadata) -> Record {
        Record::Lost(record.lost)
    }

    fn visit_throttle(self, _: Throttle, _: RecordMetadata) -> Record {
        Record::Throttle
    }

    fn visit_unthrottle(self, _: Throttle, _: RecordMetadata) -> Record {
        Record::Unthrottle
    }

    fn visit_fork(self, record: Fork, _: RecordMetadata) -> Record {
        // A new thread of the same process changes nothing about its address space.
        if record.pid == record.ppid {
            return Record::Other(perf_event_open_sys::bindings::PERF_RECORD_FORK);
        }
        Record::Fork {
            pid: record.pid,
            parent: record.ppid,
            time: record.time,
        }
    }

    fn visit_comm(self, record: Comm<'a>, metadata: RecordMetadata) -> Record {
        if u32::from(metadata.misc()) & PERF_RECORD_MISC_COMM_EXEC == 0 {
            return Record::Other(metadata.ty());
        }
        Record::Exec {
            pid: record.pid,
            time: metadata.sample_id().time().unwrap_or(0),
        }
    }

    fn visit_mmap2(self, record: Mmap2<'a>, metadata: RecordMetadata) -> Record {
        Record::Mapping(Mapping {
            pid: record.pid,
            time: metadata.sample_id().time().unwrap_or(0),
            start: record.addr,
            length: record.len,
            file_offset: record.pgoff,
            build_id: record.build_id().map(<[u8]>::to_vec),
            path: record.filename.into_owned(),
        })
    }

    fn visit_aux(self, record: Aux, metadata: RecordMetadata) -> Record {
        let id = metadata.sample_id();
        Record::Aux(AuxChunk {
            offset: record.aux_offset,
            size: record.aux_size,
            incomplete: record
                .flags
                .intersects(AuxFlags::TRUNCATED | AuxFlags::PARTIAL | AuxFlags::COLLISION),
            pid: id.pid().unwrap_or(0),
            tid: id.tid().unwrap_or(0),
            time: id.time().unwrap_or(0),
        })
    }

    fn visit_sample(self, sample: Sample<'a>, metadata: RecordMetadata) -> Record {
        let (kind, addr) = access(self.0, &sample);
        let mode = u32::from(metadata.misc()) & PERF_RECORD_MISC_CPUMODE_MASK;
        Record::Sample(RawSample {
            ip: sample.ip().unwrap_or(0),
            addr,
            pid: sample.pid().unwrap_or(0),
            tid: sample.tid().unwrap_or(0),
            time: sample.time().unwrap_or(0),
            period: sample.period().unwrap_or(1),
            kind,
            callchain: user_frames(sample.callchain().unwrap_or(&[])),
            user: mode == PERF_RECORD_MISC_USER,
        })
    }
}

fn access(source: Source, sample: &Sample<'_>) -> (AccessKind, Option<u64>) {
    let addr = sample.addr().filter(|addr| *addr != 0);
    let told = sample.data_src().map(|data| data.mem_op());
    match source {
        // The event counts stores and nothing else, whatever the data source field repeats.
        Source::IntelMemStores | Source::ArmSpe => (AccessKind::Store, addr),
        Source::CpuClock => (AccessKind::Other, None),
        Source::AmdIbsOp => match sample.raw().and_then(decode_ibs_op) {
            Some(op) => (op.kind, op.addr),
            None => match told {
                Some(op) if op.contains(MemOp::STORE) => (AccessKind::Store, addr),
                Some(op) if op.contains(MemOp::LOAD) => (AccessKind::Load, addr),
                _ => (AccessKind::Other, None),
            },
        },
    }
}

/// Drops the markers (`PERF_CONTEXT_*`, the 4095 highest values) and the kernel part of a chain.
fn user_frames(chain: &[u64]) -> Vec<u64> {
    const CONTEXT_MARKERS: u64 = (-4095i64) as u64;
    const CONTEXT_USER: u64 = (-512i64) as u64;
    let mut user = true;
    let mut frames = Vec::with_capacity(chain.len());
    for &entry in chain {
        if entry >= CONTEXT_MARKERS {
            user = entry == CONTEXT_USER;
        } else if user {
            frames.push(entry);
        }
    }
    frames
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_keep_user_frames_only() {
        let marker = |context: i64| context as u64;
        let chain = [
            marker(-128),
            0xffff_8000_0000_0000,
            marker(-512),
            0x40_1000,
            0x40_2000,
        ];
        assert_eq!(user_frames(&chain), [0x40_1000, 0x40_2000]);
        assert_eq!(
            user_frames(&[0x1000]),
            [0x1000],
            "no marker at all means user code"
        );
    }
}
