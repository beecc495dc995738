//! The blocks and modules of one process, fed from its meta log.

use thiserror::Error;

use super::blocks::Blocks;
use super::fields::Fields;
use super::files::{MappedFile, MappedFiles};
use super::layout::{self, NO_SLOT, REF_BYTES, meta};
use super::process::ProcessFacts;
use super::{Block, BlockEnd, ModuleLoad, Ref, RefMode, SharedMemory, XsaveComponent};
use crate::record::FIRST_BLOCK;
use crate::{EventKind, InternSites, Module, ModuleId, Site, SiteId};

/// A meta log that does not follow its format.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum MetaError {
    /// A frame's payload is shorter than its own counts say, or names values it does not have.
    #[error("frame of type {kind} at byte {at} of the block log is malformed: {what}")]
    Malformed {
        /// Frame type.
        kind: u32,
        /// Where the frame starts, bytes into the log.
        at: u64,
        /// What is wrong.
        what: &'static str,
    },
}

/// An instruction that the engine could not decode; it was executed, but its accesses are not in
/// the trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownOpcode {
    /// How often it was executed; at least so often where the process was killed.
    pub executions: u64,
    /// Where in the code.
    pub site: SiteId,
    /// First 16 bytes of code at the instruction.
    pub bytes: [u8; 16],
}

/// A module in a process's address space.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mapping {
    start: u64,
    end: u64,
    load_bias: u64,
    module: ModuleId,
}

/// The blocks and modules of one process.
#[derive(Clone, Debug, Default)]
pub struct BlockTable {
    blocks: Blocks,
    mappings: Vec<Mapping>,
    unknown: Vec<UnknownOpcode>,
    files: MappedFiles,
    shared: SharedMemory,
    xsave: Vec<XsaveComponent>,
    facts: ProcessFacts,
    consumed: u64,
    changes: u64,
}

impl BlockTable {
    /// The block of `id`.
    #[inline]
    pub fn get(&self, id: u32) -> Option<&Block> {
        self.blocks.get(id)
    }

    /// Dynamic values that an execution of the block of `id` has; 0 where there is none.
    #[inline]
    pub(crate) fn words(&self, id: u32) -> usize {
        self.blocks.words(id) as usize
    }

    /// All blocks, by id.
    pub fn iter(&self) -> impl Iterator<Item = &Block> {
        self.blocks.iter()
    }

    /// Instructions the engine could not decode.
    pub fn unknown_opcodes(&self) -> &[UnknownOpcode] {
        &self.unknown
    }

    /// The file that [`crate::record::Special::Mapped`] means by `number`; `None` for no such number.
    pub fn mapped_file(&self, number: u64) -> Option<&MappedFile> {
        self.files.get(number)
    }

    /// What the file of `identity` was called when it was mapped, each name once.
    pub fn names_of(&self, identity: u64) -> impl Iterator<Item = &str> {
        self.files.names_of(identity)
    }

    /// Memory that the process, or one it was forked from, has had in common with others.
    pub fn shared(&self) -> &SharedMemory {
        &self.shared
    }

    /// Components of the `xsave` area, by number.
    pub fn xsave(&self) -> &[XsaveComponent] {
        &self.xsave
    }

    /// Whose blocks they are.
    pub fn process(&self) -> &ProcessFacts {
        &self.facts
    }

    /// Bytes of the meta log that were taken so far.
    pub fn consumed(&self) -> u64 {
        self.consumed
    }

    /// How often it was changed: a copy with as many has the same.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Takes over the blocks that a forked child shares with its parent: those with ids below
    /// [`ProcessFacts::inherited`].
    pub fn inherit(&mut self, parent: &BlockTable) {
        // A forked process has mostly its parent's blocks: they are shared, not copied.
        self.changes += 1;
        self.blocks.inherit(&parent.blocks, self.facts.inherited);
        self.shared.join(&parent.shared);
    }

    /// Adds a block (made, not read from a log): filters and importers do.
    pub fn put(&mut self, block: Block) {
        self.changes += 1;
        self.blocks.put(block);
    }

    /// The site of the code at absolute address `pc`.
    pub fn site_of(&self, pc: u64, sites: &mut impl InternSites) -> SiteId {
        let after = self.mappings.partition_point(|m| m.start <= pc);
        let site = match after.checked_sub(1).map(|i| &self.mappings[i]) {
            Some(m) if pc < m.end => Site {
                module: m.module,
                offset: pc.wrapping_sub(m.load_bias),
            },
            _ => Site {
                module: sites.intern_module(Module {
                    path: format!("[jit:{}]", self.facts.pid),
                    build_id: String::new(),
                    load_bias: 0,
                }),
                offset: pc,
            },
        };
        sites.intern(site)
    }

    /// Reads the whole frames at the start of `log`, which continues what was fed before, and
    /// returns how many bytes they are; a torn frame at the end is left for the next call.
    ///
    /// # Errors
    /// [`MetaError`] for a frame that contradicts itself; the frames before it were taken.
    pub fn feed(&mut self, log: &[u8], sites: &mut impl InternSites) -> Result<usize, MetaError> {
        let mut at = 0;
        while let Some(head) = log.get(at..at + 8) {
            let mut head = Fields(head);
            let (kind, len) = (head.u32().unwrap_or(0), head.u32().unwrap_or(0) as usize);
            let Some(payload) = log.get(at + 8..at + 8 + len) else {
                break;
            };
            let frame = Frame {
                kind,
                at: self.consumed,
                payload,
            };
            self.take(&frame, sites)?;
            at += 8 + len;
            self.consumed += 8 + len as u64;
        }
        Ok(at)
    }

    fn take(&mut self, frame: &Frame<'_>, sites: &mut impl InternSites) -> Result<(), MetaError> {
        self.changes += 1;
        match frame.kind {
            meta::BLOCK => {
                let block = self.block(frame, sites)?;
                self.put(block);
            }
            meta::MODULE => self.module(frame, sites)?,
            meta::UNLOAD => {
                let start = Fields(frame.payload).u64().ok_or(frame.bad(SHORT))?;
                self.mappings.retain(|m| m.start != start);
            }
            meta::UNKNOWN_OPCODE => {
                let mut f = Fields(frame.payload);
                let (pc, bytes) = (f.u64(), f.bytes(16).and_then(|b| b.try_into().ok()));
                let (Some(pc), Some(bytes), Some(executions)) = (pc, bytes, f.u64()) else {
                    return Err(frame.bad(SHORT));
                };
                let now = UnknownOpcode {
                    executions,
                    site: self.site_of(pc, sites),
                    bytes,
                };
                let same = |u: &&mut UnknownOpcode| u.site == now.site && u.bytes == now.bytes;
                match self.unknown.iter_mut().find(same) {
                    Some(known) => known.executions = known.executions.max(executions),
                    None => self.unknown.push(now),
                }
            }
            meta::FILE => {
                let taken = self.files.take(Fields(frame.payload));
                taken.ok_or(frame.bad(SHORT))?;
            }
            meta::SHARED => {
                let taken = self.shared.take(Fields(frame.payload));
                taken.ok_or(frame.bad(SHORT))?;
            }
            meta::MOVED => {
                let taken = self.shared.moves(Fields(frame.payload));
                taken.ok_or(frame.bad(SHORT))?;
            }
            meta::PROCESS => {
                let mut f = Fields(frame.payload);
                let short = frame.bad(SHORT);
                let (Some(pid), Some(parent), Some(inherited), Some(entries), Some(_xcr0)) =
                    (f.u32(), f.u32(), f.u32(), f.u32(), f.u64())
                else {
                    return Err(short);
                };
                let (Some(stamp), Some(origin)) = (f.u64(), f.u64()) else {
                    return Err(short);
                };
                self.facts = ProcessFacts {
                    pid,
                    parent,
                    inherited,
                    stamp,
                    origin,
                };
                self.xsave.clear();
                for _ in 0..entries.min(64) {
                    let (Some(offset), Some(size)) = (f.u32(), f.u32()) else {
                        return Err(short);
                    };
                    self.xsave.push(XsaveComponent::of_words(offset, size));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn module(&mut self, frame: &Frame<'_>, sites: &mut impl InternSites) -> Result<(), MetaError> {
        let ModuleLoad {
            start,
            end,
            load_bias,
            build_id,
            path,
        } = ModuleLoad::parse(frame.payload).ok_or(frame.bad(SHORT))?;
        let module = sites.intern_module(Module {
            path,
            build_id,
            load_bias,
        });
        self.mappings.retain(|m| m.end <= start || m.start >= end);
        self.mappings.push(Mapping {
            start,
            end,
            load_bias,
            module,
        });
        self.mappings.sort_by_key(|m| m.start);
        Ok(())
    }

    fn block(&self, frame: &Frame<'_>, sites: &mut impl InternSites) -> Result<Block, MetaError> {
        let mut f = Fields(frame.payload);
        let short = || frame.bad(SHORT);
        let id = f.u32().ok_or_else(short)?;
        let instrs = f.u32().ok_or_else(short)?;
        let start_pc = f.u64().ok_or_else(short)?;
        let next_pc = f.u64().ok_or_else(short)?;
        let last_delta = f.u32().ok_or_else(short)?;
        let words = f.u32().ok_or_else(short)?;
        let n_refs = f.u16().ok_or_else(short)?;
        let end = match f.u8().ok_or_else(short)? {
            1 => BlockEnd::Call,
            2 => BlockEnd::Ret,
            3 => BlockEnd::Syscall,
            _ => BlockEnd::Jump,
        };
        let has_code = f.u8().ok_or_else(short)? != 0;
        f.bytes(4).ok_or_else(short)?;
        if !(FIRST_BLOCK..=MAX_BLOCK).contains(&id) || words > u32::from(NO_SLOT) {
            return Err(frame.bad("block id or value count out of range"));
        }
        let mut refs = Vec::with_capacity(usize::from(n_refs));
        for _ in 0..n_refs {
            let bytes = f.bytes(REF_BYTES).ok_or_else(short)?;
            let one = reference(bytes, words, |delta| {
                self.site_of(start_pc.wrapping_add(delta), sites)
            });
            let one = one.ok_or_else(|| frame.bad("unknown reference or value out of range"))?;
            if u32::from(one.instr) >= instrs {
                return Err(frame.bad("reference of an instruction beyond the block"));
            }
            refs.push(one);
        }
        let lengths = f.bytes(instrs as usize).ok_or_else(short)?;
        let code: &[u8] = if has_code {
            let bytes = lengths.iter().map(|l| usize::from(*l)).sum();
            f.bytes(bytes).ok_or_else(short)?
        } else {
            &[]
        };
        Ok(Block {
            id,
            instrs,
            words,
            end,
            start_pc,
            next_pc,
            last_site: self.site_of(start_pc.wrapping_add(u64::from(last_delta)), sites),
            start_site: self.site_of(start_pc, sites),
            refs: refs.into(),
            lengths: lengths.into(),
            code: code.into(),
        })
    }
}

/// Ids beyond this are nonsense (and would make the table huge).
const MAX_BLOCK: u32 = 1 << 24;

const SHORT: &str = "too short";

struct Frame<'a> {
    kind: u32,
    at: u64,
    payload: &'a [u8],
}

impl Frame<'_> {
    fn bad(&self, what: &'static str) -> MetaError {
        MetaError::Malformed {
            kind: self.kind,
            at: self.at,
            what,
        }
    }
}

fn reference(bytes: &[u8], words: u32, site: impl FnOnce(u64) -> SiteId) -> Option<Ref> {
    let mut f = Fields(bytes);
    let (instr, kind, mode) = (f.u16()?, f.u8()?, f.u8()?);
    let (delta, size, slot, aux) = (f.u32()?, f.u32()?, f.u16()?, f.u16()?);
    let (index, value_slot, scale, lanes) = (f.u16()?, f.u16()?, f.u8()?, f.u8()?);
    let (extra, disp) = (f.u16()?, f.u64()?);
    let kind: EventKind = layout::kind_from(kind)?;
    let (mode, aux_words, index_words) = layout::mode_from(mode, aux, index, scale, lanes, extra)?;
    let fits = |at: u16, n: usize| usize::from(at) + n <= words as usize;
    let has = |at: u16, n: usize| at == NO_SLOT || fits(at, n);
    let value_words = (size as usize).div_ceil(8);
    let ok = has(slot, 1)
        && (aux_words == 0 || fits(aux, aux_words))
        && (index_words == 0 || fits(index, index_words))
        && has(value_slot, value_words)
        && mode.flags_slot().is_none_or(|at| fits(at, 1))
        && (mode != RefMode::Plain || has(aux, 1))
        && lanes <= 64;
    ok.then(|| Ref {
        kind,
        mode,
        instr,
        slot,
        value_slot,
        size,
        disp,
        site: site(u64::from(delta)),
        frame: mode == RefMode::Plain && lanes == layout::PLAIN_IN_FRAME,
        compare: if mode == RefMode::Plain { aux } else { NO_SLOT },
    })
}
