//! What it takes to make a file's bytes durable where it is.

use std::fmt;
use std::fs;

use rustix::fs::fstatfs;

use crate::Error;
use crate::flusher::Flusher;

/// How stores to a file are made durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// As the file's place asks for: flush instructions on persistent memory and tmpfs, `msync` elsewhere.
    #[default]
    Auto,
    /// Flush instructions. On a plain disk the data then survives the program, not the machine.
    Flush,
    /// `msync`.
    Msync,
}

/// Where a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Mapped persistent memory: the kernel vouches that flushed lines are durable (`MAP_SYNC`).
    PersistentMemory,
    /// Memory that the machine loses.
    Tmpfs,
    Disk,
}

/// What is done.
#[derive(Clone, Copy, Debug)]
pub(super) enum Means {
    Flush { flusher: Flusher, place: Place },
    Msync,
}

const TMPFS: i128 = 0x0102_1994;
const RAMFS: i128 = 0x8584_58f6;

impl Place {
    /// `synchronous`: whether it could be mapped with `MAP_SYNC`.
    pub fn of(file: &fs::File, synchronous: bool) -> Place {
        if synchronous {
            return Place::PersistentMemory;
        }
        match fstatfs(file).map(|answer| i128::from(answer.f_type)) {
            Ok(TMPFS | RAMFS) => Place::Tmpfs,
            _ => Place::Disk,
        }
    }
}

impl Means {
    pub fn choose(wanted: Durability, place: Place) -> Result<Means, Error> {
        let flusher = Flusher::choose();
        match (wanted, flusher) {
            (Durability::Msync, _) => Ok(Means::Msync),
            (Durability::Auto, _) if place == Place::Disk => Ok(Means::Msync),
            (_, Some(flusher)) => Ok(Means::Flush { flusher, place }),
            (Durability::Auto, None) => Ok(Means::Msync),
            (Durability::Flush, None) => Err(Error::Durability(
                "this CPU has no instruction that flushes a line: take msync".to_string(),
            )),
        }
    }
}

impl fmt::Display for Means {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Means::Flush { flusher, place } => {
                let survives = match place {
                    Place::PersistentMemory => "on persistent memory: survives a power cut",
                    Place::Tmpfs => "on tmpfs: survives the program, not the machine",
                    Place::Disk => "on a disk, as asked for: survives the program, not the machine",
                };
                write!(f, "{} {survives}", flusher.name())
            }
            Means::Msync => f.write_str("msync: survives a power cut as far as the disk does"),
        }
    }
}
