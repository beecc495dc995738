//! The pieces of a block log, one behind the other.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use super::{Damage, DamageKind, ReadError};
use crate::container::pieces::{HEADER, LogTotals, Piece};

/// Reads a log up to its end, or to what is wrong with it.
pub(super) struct LogReader<'a> {
    path: &'a Path,
    file: BufReader<File>,
    len: u64,
    /// What was read.
    pub(super) totals: LogTotals,
    /// What ended it.
    pub(super) damage: Option<Damage>,
}

impl<'a> LogReader<'a> {
    pub(super) fn open(path: &'a Path) -> Result<Self, ReadError> {
        let io = |e| ReadError::io(path, e);
        let file = File::open(path).map_err(io)?;
        let len = file.metadata().map_err(io)?.len();
        Ok(Self {
            path,
            file: BufReader::new(file),
            len,
            totals: LogTotals::default(),
            damage: None,
        })
    }

    /// The next piece's frames; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Vec<u8>>, ReadError> {
        let at = self.totals.bytes;
        if at == self.len || self.damage.is_some() {
            return Ok(None);
        }
        match self.piece().map_err(|e| ReadError::io(self.path, e))? {
            Ok((piece, frames)) => {
                self.totals.add(&piece);
                Ok(Some(frames))
            }
            Err(what) => {
                self.end(at, what);
                Ok(None)
            }
        }
    }

    /// The next piece, or what stands there instead.
    fn piece(&mut self) -> std::io::Result<Result<(Piece, Vec<u8>), DamageKind>> {
        let left = self.len - self.totals.bytes;
        if left < HEADER as u64 {
            return Ok(Err(DamageKind::TornTail));
        }
        let mut header = [0; HEADER];
        self.file.read_exact(&mut header)?;
        let corrupt = |what: String| Ok(Err(DamageKind::Corrupt(what)));
        let Some(piece) = Piece::parse(&header) else {
            // A file system that lost the data but kept the length leaves zeros.
            if header.iter().all(|b| *b == 0) {
                return Ok(Err(DamageKind::TornTail));
            }
            return corrupt("no piece of a block log starts here".to_owned());
        };
        if left - (HEADER as u64) < piece.stored as u64 {
            return Ok(Err(DamageKind::TornTail));
        }
        let next = self.totals.pieces;
        if piece.number != next {
            return corrupt(format!("piece {} stands where {next} should", piece.number));
        }
        let mut stored = vec![0; piece.stored];
        self.file.read_exact(&mut stored)?;
        match piece.frames(stored) {
            Ok(frames) => Ok(Ok((piece, frames))),
            Err(what) => corrupt(what),
        }
    }

    /// The log is read no further: what is from byte `at` on is wrong.
    pub(super) fn end(&mut self, at: u64, what: DamageKind) {
        self.damage = Some(Damage {
            path: self.path.to_owned(),
            offset: at,
            bytes: self.len - at,
            what,
        });
    }
}
