//! The binary form of block descriptions and other facts about a process.
//!
//! The client appends them to the process's *meta log*; the container stores that log as it is.
//! All integers little-endian. A log is a sequence of frames: `u32 type`, `u32 payload bytes`
//! (a multiple of 8), payload. Frames of unknown type are passed over.
//!
//! `BLOCK` payload: `u32 id, u32 instrs, u64 start_pc, u64 next_pc, u32 last_delta` (last
//! instruction's address minus `start_pc`)`, u32 words, u16 refs, u8 end, u8 has code, u32 0`, then the
//! refs of [`REF_BYTES`] each, then one byte an instruction (its length), then, if it has them, the
//! instructions' bytes; padded to 8.
//!
//! Ref: `u16 instr, u8 kind, u8 mode, u32 pc_delta, u32 size, u16 slot, u16 aux, u16 index,
//! u16 value_slot, u8 scale, u8 lanes, u16 extra, u64 disp`.
//!
//! | mode | | aux | index | extra |
//! |---|---|---|---|---|
//! | 0 | plain (`lanes` 1: at a constant from the stack pointer) | flags behind a compare and exchange, or none | - | - |
//! | 1 | rep | count | - | 0: up; 1: down; n: as the direction flag in value n - 2 says |
//! | 2 | rep until | count before | count after | as above |
//! | 3 | masked | mask | - | 0: bits; n: top bits of n-byte elements |
//! | 4 | indexed | mask | index vector | low byte as in 3; high byte: index size |
//! | 5 | packed | mask | - | - |
//! | 6 | xsave | features | two words of the header, or none | 0: xsave; 1: xsavec; 2: xsaveopt; 3: xrstor |
//! | 7 | bit | number of the bit | - | - |
//! | 8 | tile (`lanes`: which) | its configuration, 8 words | stride, or none | - |
//!
//! `MODULE` payload: `u64 start, u64 end, u64 load_bias, u16 build-id bytes, u16 path bytes,
//! u32 0`, build id (raw), path; padded to 8. `UNLOAD`: `u64 start`.
//! `UNKNOWN_OPCODE`: `u64 pc, 16 bytes of code, u64 executions so far`: once when it is met and
//! whenever a thread ends; the latest counts.
//! `PROCESS`: `u32 pid, u32 parent pid, u32 inherited, u32 xsave entries, u64 xcr0, u64 stamp,
//! u64 origin`, then `u32 offset, u32 size` (bit 31: aligned to 64 in the compacted form) for each
//! xsave component; `inherited` > 0: forked from
//! the process with the parent's pid and the stamp `origin`, whose blocks with ids below
//! `inherited` are this process's too. Its modules follow: those that it began with.
//! `FILE`: `u64 number, u32 path bytes, u32 0`, path; padded to 8; `u64 identity` (0: not known; older recordings have none): the file
//! that `MAPPED` records ([`crate::record`]) mean by that number; no path where it could not be had.
//! `SHARED`: `u64 address, u64 bytes, u64 identity, u64 offset`: memory of which other processes may have the same pages
//! (`MAP_SHARED`, `shmat`): what has the same identity and offset is the same.
//! `MOVED`: `u64 from, u64 bytes, u64 to, u64 bytes`: such memory was moved, or has another length now (`mremap`).

use super::{Direction, MaskForm, RefMode, XsaveForm};
use crate::{DemoteKind, EventKind, FenceKind, FlushKind};

/// "No such value".
pub const NO_SLOT: u16 = 0xffff;

/// `lanes` of a plain reference whose address is the stack pointer and a constant.
pub(super) const PLAIN_IN_FRAME: u8 = 1;

/// `XSTATE_BV` and `XCOMP_BV`.
const XSAVE_HEADER_WORDS: usize = 2;

/// What `sttilecfg` stores.
const TILE_CONFIG_WORDS: usize = 8;

/// So many a configuration has room for.
const TILES: u8 = 16;

/// Bytes of a reference in a block's description.
pub const REF_BYTES: usize = 32;

/// Frame types of the meta log.
pub mod meta {
    /// A basic block.
    pub const BLOCK: u32 = 1;
    /// A module was loaded.
    pub const MODULE: u32 = 2;
    /// A module was unloaded.
    pub const UNLOAD: u32 = 3;
    /// An instruction the engine cannot decode.
    pub const UNKNOWN_OPCODE: u32 = 4;
    /// First frame of a process.
    pub const PROCESS: u32 = 5;
    /// The name of a file that the program mapped.
    pub const FILE: u32 = 6;
    /// Memory that other processes may have as well.
    pub const SHARED: u32 = 7;
    /// Such memory was moved.
    pub const MOVED: u32 = 8;
}

/// How many bytes at the start of `log` are whole frames.
pub fn whole_frames(log: &[u8]) -> usize {
    let mut at = 0;
    while let Some(len) = log.get(at + 4..at + 8) {
        let end = at + 8 + u32::from_le_bytes([len[0], len[1], len[2], len[3]]) as usize;
        if end > log.len() {
            break;
        }
        at = end;
    }
    at
}

pub(super) fn kind_from(code: u8) -> Option<EventKind> {
    use EventKind as E;
    Some(match code {
        0 => E::Load,
        1 => E::Store,
        2 => E::NtStore,
        3 => E::AtomicRmw,
        4 => E::Flush(FlushKind::Clflush),
        5 => E::Flush(FlushKind::Clflushopt),
        6 => E::Flush(FlushKind::Clwb),
        7 => E::Flush(FlushKind::DcCivac),
        8 => E::Flush(FlushKind::DcCvac),
        9 => E::Flush(FlushKind::DcCvap),
        10 => E::Demote(DemoteKind::Cldemote),
        11 => E::Demote(DemoteKind::DcCvau),
        12 => E::Fence(FenceKind::Store),
        13 => E::Fence(FenceKind::Load),
        14 => E::Fence(FenceKind::Full),
        15 => E::RegionBegin,
        16 => E::RegionEnd,
        _ => return None,
    })
}

/// The mode of a reference and the number of words it reads at its `aux` and `index` slots, so
/// that the caller can check them against the block's.
pub(super) fn mode_from(
    mode: u8,
    aux: u16,
    index: u16,
    scale: u8,
    lanes: u8,
    extra: u16,
) -> Option<(RefMode, usize, usize)> {
    let (form, mask_words) = mask_form(mode, lanes, extra)?;
    let direction = match extra {
        0 => Direction::Up,
        1 => Direction::Down,
        n => Direction::ByFlags(n - 2),
    };
    Some(match mode {
        0 => (RefMode::Plain, 0, 0),
        1 => (
            RefMode::Rep {
                count: aux,
                direction,
            },
            1,
            0,
        ),
        2 => (
            RefMode::RepUntil {
                count: aux,
                left: index,
                direction,
            },
            1,
            1,
        ),
        3 => (
            RefMode::Masked {
                mask: aux,
                form,
                lanes,
            },
            mask_words,
            0,
        ),
        4 => {
            let index_size = (extra >> 8) as u8;
            if !matches!(index_size, 4 | 8) {
                return None;
            }
            (
                RefMode::Indexed {
                    mask: aux,
                    form,
                    lanes,
                    index,
                    index_size,
                    scale,
                },
                mask_words,
                (usize::from(lanes) * usize::from(index_size)).div_ceil(8),
            )
        }
        5 => (RefMode::Packed { mask: aux, lanes }, 1, 0),
        6 => (
            RefMode::Xsave {
                features: aux,
                header: index,
                form: xsave_form(extra)?,
            },
            1,
            if index == NO_SLOT {
                0
            } else {
                XSAVE_HEADER_WORDS
            },
        ),
        7 => (RefMode::Bit { number: aux }, 1, 0),
        8 if lanes < TILES => (
            RefMode::Tile {
                config: aux,
                tile: lanes,
                stride: index,
                scale,
            },
            TILE_CONFIG_WORDS,
            usize::from(index != NO_SLOT),
        ),
        _ => return None,
    })
}

/// How a mask says which lanes are set, and how many words it takes.
fn mask_form(mode: u8, lanes: u8, extra: u16) -> Option<(MaskForm, usize)> {
    Some(match (extra & 0xff) as u8 {
        // `extra` is something else there.
        _ if matches!(mode, 1 | 2 | 6) => (MaskForm::Bits, 1),
        0 => (MaskForm::Bits, 1),
        n @ (1 | 2 | 4 | 8) => {
            let bytes = usize::from(lanes) * usize::from(n);
            (MaskForm::TopBits(n), bytes.div_ceil(8))
        }
        _ => return None,
    })
}

fn xsave_form(extra: u16) -> Option<XsaveForm> {
    Some(match extra {
        0 => XsaveForm::All,
        1 => XsaveForm::Compacted,
        2 => XsaveForm::InUse,
        3 => XsaveForm::Restored,
        _ => return None,
    })
}
