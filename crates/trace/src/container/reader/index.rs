//! Which stored blocks a stream has, found by its headers alone.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use super::{Damage, DamageKind, ReadError};
use crate::container::manifest::Totals;
use crate::container::stored::{HEADER, StoredBlock};

/// The stored blocks of one stream.
#[derive(Clone, Debug, Default)]
pub(super) struct StreamIndex {
    /// Where each starts in the file, and its header.
    pub(super) blocks: Vec<(u64, StoredBlock)>,
    pub(super) totals: Totals,
    pub(super) damage: Vec<Damage>,
}

/// Walks the headers of the stream at `path`.
pub(super) fn scan(path: &Path, lenient: bool) -> Result<StreamIndex, ReadError> {
    let io = |e| ReadError::io(path, e);
    let mut file = File::open(path).map_err(io)?;
    let len = file.metadata().map_err(io)?.len();
    let mut index = StreamIndex::default();
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
                index.totals += Totals::of(&block);
                index.blocks.push((start, block));
            }
            // A file system that lost the data but kept the length leaves zeros.
            None if only_zeros(&mut file, at).map_err(io)? => {
                index.damage.push(torn);
                break;
            }
            None => {
                let what = "no stored block starts here".to_owned();
                if !lenient {
                    let path = path.to_owned();
                    return Err(ReadError::Corrupt {
                        path,
                        offset: at,
                        what,
                    });
                }
                let next = next_header(&mut file, at + 1).map_err(io)?.unwrap_or(len);
                index
                    .damage
                    .push(damage(at, next - at, DamageKind::Corrupt(what)));
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
