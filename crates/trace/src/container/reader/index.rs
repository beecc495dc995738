//! Which stored blocks a stream has, found by its headers alone.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use super::{Damage, DamageKind, ReadError};
use crate::ThreadId;
use crate::container::manifest::Totals;
use crate::container::stored::{HEADER, StoredBlock, chain};

/// The stored blocks of one stream.
#[derive(Clone, Debug, Default)]
pub(super) struct StreamIndex {
    /// Where each starts in the file, and its header.
    pub(super) blocks: Vec<(u64, StoredBlock)>,
    pub(super) totals: Totals,
    /// CRC-32 of the headers' checksums: of all, and of the first that the manifest knows of.
    pub(super) checksum: u32,
    pub(super) noted_checksum: u32,
    /// Bytes of the file.
    pub(super) len: u64,
    pub(super) damage: Vec<Damage>,
}

impl StreamIndex {
    /// Takes a stored block in, if it is one of `thread` that comes behind those before; says what is
    /// wrong.
    fn take(
        &mut self,
        at: u64,
        block: StoredBlock,
        thread: ThreadId,
        noted: u64,
    ) -> Option<String> {
        let (number, whose) = (block.number, block.thread);
        if whose != thread {
            return Some(format!("a stored block of thread {} stands here", whose.0));
        }
        let next = self.blocks.last().map_or(0, |b| b.1.number + 1);
        if number < next {
            let last = next - 1;
            return Some(format!("stored block {number} stands here, behind {last}"));
        }
        self.totals += Totals::of(&block);
        self.checksum = chain(self.checksum, block.own_crc());
        self.blocks.push((at, block));
        if self.blocks.len() as u64 == noted {
            self.noted_checksum = self.checksum;
        }
        (number > next).then(|| {
            let missing = number - next;
            format!("stored block {number} stands here, {missing} before it are missing")
        })
    }
}

/// Walks the headers of the stream of `thread` at `path`; what is wrong is left out and told. The
/// manifest knows of `noted` stored blocks.
pub(super) fn scan(path: &Path, thread: ThreadId, noted: u64) -> Result<StreamIndex, ReadError> {
    let io = |e| ReadError::io(path, e);
    let mut file = File::open(path).map_err(io)?;
    let len = file.metadata().map_err(io)?.len();
    let mut index = StreamIndex {
        len,
        ..StreamIndex::default()
    };
    let mut at = 0;
    let damage = |offset, bytes, what| Damage {
        path: path.to_owned(),
        offset,
        bytes,
        what,
    };
    while at < len {
        let torn = damage(at, len - at, DamageKind::TornTail);
        if len - at < HEADER as u64 {
            index.damage.push(torn);
            break;
        }
        file.seek(SeekFrom::Start(at)).map_err(io)?;
        let mut bytes = [0; HEADER];
        file.read_exact(&mut bytes).map_err(io)?;
        match StoredBlock::parse(&bytes) {
            Some(block) if len - at - (HEADER as u64) < block.payload as u64 => {
                index.damage.push(torn);
                break;
            }
            Some(block) => {
                let start = at;
                at += (HEADER + block.payload) as u64;
                let before = index.blocks.len();
                if let Some(what) = index.take(start, block, thread, noted) {
                    let left_out = index.blocks.len() == before;
                    let bytes = if left_out { at - start } else { 0 };
                    let what = DamageKind::Corrupt(what);
                    index.damage.push(damage(start, bytes, what));
                }
            }
            // A file system that lost the data but kept the length leaves zeros.
            None if only_zeros(&mut file, at).map_err(io)? => {
                index.damage.push(torn);
                break;
            }
            None => {
                let what = DamageKind::Corrupt("no stored block starts here".to_owned());
                let next = next_header(&mut file, at + 1).map_err(io)?.unwrap_or(len);
                index.damage.push(damage(at, next - at, what));
                at = next;
            }
        }
    }
    Ok(index)
}

fn only_zeros(file: &mut File, from: u64) -> std::io::Result<bool> {
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = BufReader::new(file).bytes();
    bytes.try_fold(true, |zero, b| b.map(|b| zero && b == 0))
}

/// Where the next thing that is a header starts.
fn next_header(file: &mut File, from: u64) -> std::io::Result<Option<u64>> {
    const CHUNK: usize = 1 << 16;
    let mut at = from;
    let mut bytes = vec![0; CHUNK + HEADER];
    loop {
        file.seek(SeekFrom::Start(at))?;
        let mut have = 0;
        while have < bytes.len() {
            match file.read(&mut bytes[have..])? {
                0 => break,
                n => have += n,
            }
        }
        let found = bytes[..have].windows(HEADER).position(|window| {
            window
                .first_chunk()
                .is_some_and(|w| StoredBlock::parse(w).is_some())
        });
        if let Some(i) = found {
            return Ok(Some(at + i as u64));
        }
        if have < bytes.len() {
            return Ok(None);
        }
        at += CHUNK as u64 + 1;
    }
}
