//! The static side of a trace: basic blocks and how their accesses follow from few values.
//!
//! The tracer describes each block of code once (its instructions, its memory references) and at
//! run time writes only the block's id and the register values from which the addresses follow.
//! Two references through one register share one value; references to fixed addresses need none.
//! Ids are per process.

mod blocks;
mod fields;
mod files;
mod layout;
mod module;
mod process;
mod shared;
mod table;
mod xsave;

pub use files::MappedFile;
pub use layout::{NO_SLOT, REF_BYTES, meta, whole_frames};
pub use module::ModuleLoad;
pub use process::ProcessFacts;
pub use shared::SharedMemory;
pub use table::{BlockTable, MetaError, UnknownOpcode};
pub use xsave::{XsaveComponent, XsaveForm};

use crate::{EventKind, SiteId};

/// How control leaves a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum BlockEnd {
    /// Jump, branch, fall-through.
    Jump = 0,
    /// Call; the return address is [`Block::next_pc`].
    Call = 1,
    /// Return.
    Ret = 2,
    /// System call.
    Syscall = 3,
}

/// A basic block: one entry, one exit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Id in its process.
    pub id: u32,
    /// Instructions, repeated string instructions counted once.
    pub instrs: u32,
    /// Dynamic values (payload words) an execution has.
    pub words: u32,
    /// How it ends.
    pub end: BlockEnd,
    /// Absolute address of its first instruction.
    pub start_pc: u64,
    /// Absolute address behind its last instruction.
    pub next_pc: u64,
    /// Site of its last instruction (of the call, where it ends in one).
    pub last_site: SiteId,
    /// Site of its first instruction.
    pub start_site: SiteId,
    /// Its accesses, flushes, fences and region marks, in program order.
    pub refs: Box<[Ref]>,
    /// Length in bytes of each instruction.
    pub lengths: Box<[u8]>,
    /// Its instructions' bytes, one instruction behind the other. Not told by older recordings, nor by other tools: empty.
    pub code: Box<[u8]>,
}

impl Block {
    /// The bytes of each instruction, in order; none where they are not known.
    pub fn instructions(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = &*self.code;
        self.lengths.iter().map_while(move |length| {
            let (one, behind) = rest.split_at_checked(usize::from(*length))?;
            rest = behind;
            Some(one)
        })
    }

    /// How many instructions come before the one at `pc`; all of them where `pc` is none of its.
    pub fn instrs_before(&self, pc: u64) -> u32 {
        let mut at = self.start_pc;
        for (i, len) in self.lengths.iter().enumerate() {
            if at == pc {
                return i as u32;
            }
            at = at.wrapping_add(u64::from(*len));
        }
        self.instrs
    }
}

/// One memory reference (or fence, or region mark) of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ref {
    /// What it does.
    pub kind: EventKind,
    /// How the address follows from the block's values.
    pub mode: RefMode,
    /// Index of its instruction in the block.
    pub instr: u16,
    /// Index of the value that holds the base address, or [`NO_SLOT`]: the address is `disp`.
    pub slot: u16,
    /// First of the words that hold the stored value, or [`NO_SLOT`].
    pub value_slot: u16,
    /// Bytes; for the modes with elements, bytes of one element.
    pub size: u32,
    /// Added to the base, wrapping.
    pub disp: u64,
    /// Where in the code.
    pub site: SiteId,
    /// At a constant from the stack pointer: a call's or push's, a spill, the red zone, or the
    /// locked instruction that compilers use as a fence. Not told by older recordings.
    pub frame: bool,
    /// Value with the flags behind a compare and exchange, which has stored only if the zero flag is
    /// set there, or [`NO_SLOT`]. Told with values only.
    pub compare: u16,
}

/// The zero flag among the processor's flags.
const ZERO_FLAG: u64 = 1 << 6;

impl Ref {
    /// Is it a compare and exchange that found something else, and so has stored nothing? `values`: of the block's execution.
    #[inline]
    pub fn has_failed(&self, values: &[u64]) -> bool {
        let flags = values.get(usize::from(self.compare));
        self.compare != NO_SLOT && flags.is_some_and(|flags| flags & ZERO_FLAG == 0)
    }
}

/// How the bytes a reference touches follow from its block's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefMode {
    /// `size` bytes at base + disp.
    Plain,
    /// `size` bytes times the value in `count`, upwards (or downwards) from base + disp:
    /// `rep movs`, `rep stos`, `rep lods`. A count of zero touches nothing.
    Rep {
        /// Value with the count before the instruction.
        count: u16,
        /// Which way it goes.
        direction: Direction,
    },
    /// As `Rep`, for `repe/repne cmps/scas`, which may stop early.
    RepUntil {
        /// Value with the count before.
        count: u16,
        /// Value with the count after.
        left: u16,
        /// Which way it goes.
        direction: Direction,
    },
    /// Lanes of `size` bytes side by side, those whose bit in the mask is set.
    Masked {
        /// First word of the mask.
        mask: u16,
        /// What a set lane looks like.
        form: MaskForm,
        /// Lanes.
        lanes: u8,
    },
    /// Gather or scatter: base + disp + scale * index of each set lane.
    Indexed {
        /// First word of the mask.
        mask: u16,
        /// What a set lane looks like.
        form: MaskForm,
        /// Lanes.
        lanes: u8,
        /// First word of the index vector.
        index: u16,
        /// Bytes of an index: 4 or 8, signed.
        index_size: u8,
        /// Factor: 1, 2, 4, 8.
        scale: u8,
    },
    /// As many elements as the mask has bits, side by side (`vpcompress`, `vpexpand`).
    Packed {
        /// Word with the mask.
        mask: u16,
        /// Lanes: only so many bits of the mask count.
        lanes: u8,
    },
    /// Parts of the area that state is saved to or restored from (`xsave` family).
    Xsave {
        /// Word with the requested-feature bit map.
        features: u16,
        /// First of two words with the area's header behind the instruction, `XSTATE_BV` and
        /// `XCOMP_BV`; [`NO_SLOT`]: not known, all that is requested counts.
        header: u16,
        /// Which of what is requested, and where it is.
        form: XsaveForm,
    },
    /// `size` bytes that hold the bit numbered by a signed value of as many bytes, counted from
    /// base + disp (`bt`, `bts`, `btr`, `btc` with a register).
    Bit {
        /// Value with the bit's number.
        number: u16,
    },
    /// The rows of a tile (AMX): as many and as long as its configuration says, a stride apart.
    Tile {
        /// First of the words with the configuration, as `sttilecfg` stores it.
        config: u16,
        /// Which tile.
        tile: u8,
        /// Value that the stride is `scale` times of; [`NO_SLOT`]: all rows are the same memory.
        stride: u16,
        /// Factor: 1, 2, 4, 8.
        scale: u8,
    },
}

impl RefMode {
    /// The value with the flags that it needs.
    pub(crate) fn flags_slot(&self) -> Option<u16> {
        match self {
            RefMode::Rep {
                direction: Direction::ByFlags(at),
                ..
            }
            | RefMode::RepUntil {
                direction: Direction::ByFlags(at),
                ..
            } => Some(*at),
            _ => None,
        }
    }
}

/// Which way a repeated string instruction goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To higher addresses: the block has cleared the direction flag.
    Up,
    /// To lower addresses: the block has set it.
    Down,
    /// The value with the flags before the instruction tells.
    ByFlags(u16),
}

/// What tells that a lane is active.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaskForm {
    /// Bit *i* of the mask word.
    Bits,
    /// The top bit of element *i*, elements of so many bytes, in as many words as it takes.
    TopBits(u8),
}
