//! Made-up programs: block tables and the words of their threads.
#![allow(dead_code)]

use prestore_trace::block::{
    Block, BlockEnd, BlockTable, Direction, MaskForm, NO_SLOT, REF_BYTES, Ref, RefMode, meta,
};
use prestore_trace::record::{AllocKind, Special, header};
use prestore_trace::{EventKind, SiteId};
use proptest::prelude::*;

/// A plain reference of instruction `instr` through value `slot`.
pub fn plain(kind: EventKind, instr: u16, slot: u16, disp: u64) -> Ref {
    Ref {
        kind,
        mode: RefMode::Plain,
        instr,
        slot,
        value_slot: NO_SLOT,
        size: 8,
        disp,
        site: SiteId(u32::from(instr)),
        frame: false,
        compare: prestore_trace::block::NO_SLOT,
    }
}

/// A block of `refs`, one instruction each and a jump.
pub fn block(id: u32, words: u32, refs: Vec<Ref>) -> Block {
    let instrs = refs.len() as u32 + 1;
    Block {
        id,
        instrs,
        words,
        end: BlockEnd::Jump,
        start_pc: u64::from(id) * 0x100,
        next_pc: u64::from(id) * 0x100 + 4 * u64::from(instrs),
        last_site: SiteId(0),
        start_site: SiteId(0),
        refs: refs.into(),
        lengths: vec![4; instrs as usize].into(),
        code: Box::default(),
    }
}

/// Blocks of all sorts, ids 64 to 71: no values, few, more than a mask word holds, and accesses
/// that depend on their values.
pub fn table() -> BlockTable {
    let mut t = BlockTable::default();
    t.put(block(64, 0, vec![]));
    t.put(block(65, 1, vec![plain(EventKind::Store, 0, 0, 8)]));
    t.put(block(
        66,
        3,
        vec![
            plain(EventKind::Load, 0, 0, 0),
            plain(EventKind::Load, 1, 1, 0),
            plain(EventKind::AtomicRmw, 2, 2, 0),
        ],
    ));
    t.put(block(67, 70, vec![plain(EventKind::NtStore, 0, 69, 0)]));
    t.put(block(68, 64, vec![]));
    let mut masked = plain(EventKind::Store, 0, 0, 0);
    masked.mode = RefMode::Masked {
        mask: 1,
        form: MaskForm::Bits,
        lanes: 8,
    };
    t.put(block(69, 2, vec![masked, plain(EventKind::Load, 1, 0, 0)]));
    let mut rep = plain(EventKind::Load, 0, 0, 0);
    rep.mode = RefMode::Rep {
        count: 1,
        direction: Direction::Up,
    };
    t.put(block(70, 2, vec![rep]));
    t.put(block(71, 2, vec![plain(EventKind::Load, 0, 1, 0)]));
    t
}

/// One stretch of a made-up program.
#[derive(Clone, Debug)]
pub enum Piece {
    /// A loop over `blocks` whose values all move by `stride`.
    Loop {
        blocks: Vec<u32>,
        times: usize,
        start: u64,
        stride: u64,
    },
    /// One execution with arbitrary values and header high half.
    Once { block: u32, high: u32, seed: u64 },
    /// An execution that was cut.
    Cut { block: u32, at: u64 },
    /// Something else.
    Special(u32, Vec<u64>),
}

impl Piece {
    /// Appends its records.
    pub fn write(&self, table: &BlockTable, words: &mut Vec<u64>) {
        let n = |b: u32| table.get(b).map_or(0, |b| u64::from(b.words));
        match self {
            Self::Loop {
                blocks,
                times,
                start,
                stride,
            } => {
                for t in 0..*times as u64 {
                    for &b in blocks {
                        words.push(header(b, 0));
                        let first = start.wrapping_add(stride.wrapping_mul(t));
                        words.extend((0..n(b)).map(|i| first.wrapping_add(i * 1000)));
                    }
                }
            }
            Self::Once { block, high, seed } => {
                words.push(header(*block, *high));
                words
                    .extend((0..n(*block)).map(|i| seed.rotate_left(i as u32) & (seed >> (i % 7))));
            }
            Self::Cut { block, at } => {
                Self::Once {
                    block: *block,
                    high: 0,
                    seed: 1 << 20,
                }
                .write(table, words);
                words.extend([header(1, 1), u64::from(*block) * 0x100 + 4 * at]);
            }
            Self::Special(id, payload) => {
                words.push(header(*id, payload.len() as u32));
                words.extend(payload);
            }
        }
    }
}

/// Arbitrary pieces over the blocks of [`table`].
pub fn piece() -> impl Strategy<Value = Piece> {
    let block = 64u32..72;
    prop_oneof![
        4 => (prop::collection::vec(block.clone(), 1..4), 1usize..40, any::<u32>(), 0u64..100)
            .prop_map(|(blocks, times, start, stride)| Piece::Loop {
                blocks, times, start: start.into(), stride: stride.wrapping_sub(50),
            }),
        3 => (block.clone(), prop_oneof![9 => Just(0u32), 1 => any::<u32>()], any::<u64>())
            .prop_map(|(block, high, seed)| Piece::Once { block, high, seed }),
        1 => (block, 0u64..5).prop_map(|(block, at)| Piece::Cut { block, at }),
        2 => (1u32..64, prop::collection::vec(any::<u64>(), 0..6))
            .prop_map(|(id, payload)| Piece::Special(id, payload)),
    ]
}

/// The words of some pieces.
pub fn words_of(pieces: &[Piece], table: &BlockTable) -> Vec<u64> {
    let mut words = Vec::new();
    pieces.iter().for_each(|p| p.write(table, &mut words));
    words
}

/// A meta log frame.
pub fn frame(kind: u32, mut payload: Vec<u8>) -> Vec<u8> {
    payload.resize(payload.len().next_multiple_of(8), 0);
    let mut out = kind.to_le_bytes().to_vec();
    out.extend((payload.len() as u32).to_le_bytes());
    out.extend(payload);
    out
}

/// The `PROCESS` frame. Its stamp is the pid.
pub fn process_frame(pid: u32, parent: u32, inherited: u32) -> Vec<u8> {
    let mut p = Vec::new();
    for v in [pid, parent, inherited, 0, 0, 0, pid, 0, parent, 0] {
        p.extend(v.to_le_bytes());
    }
    frame(meta::PROCESS, p)
}

/// A `MODULE` frame.
pub fn module_frame(start: u64, end: u64, path: &str, build_id: &[u8]) -> Vec<u8> {
    let mut p = Vec::new();
    for v in [start, end, start] {
        p.extend(v.to_le_bytes());
    }
    p.extend((build_id.len() as u16).to_le_bytes());
    p.extend((path.len() as u16).to_le_bytes());
    p.extend([0; 4]);
    p.extend(build_id);
    p.extend(path.as_bytes());
    frame(meta::MODULE, p)
}

/// A `BLOCK` frame of plain 8-byte references, as `(kind code, slot)`, at `start_pc`.
pub fn block_frame(id: u32, words: u32, start_pc: u64, refs: &[(u8, u16)]) -> Vec<u8> {
    let instrs = refs.len() as u32 + 1;
    let mut p = Vec::new();
    p.extend(id.to_le_bytes());
    p.extend(instrs.to_le_bytes());
    p.extend(start_pc.to_le_bytes());
    p.extend((start_pc + 4 * u64::from(instrs)).to_le_bytes());
    p.extend((4 * (instrs - 1)).to_le_bytes());
    p.extend(words.to_le_bytes());
    p.extend((refs.len() as u16).to_le_bytes());
    p.extend([0; 6]);
    for (i, (kind, slot)) in refs.iter().enumerate() {
        let from = p.len();
        p.extend((i as u16).to_le_bytes());
        p.extend([*kind, 0]);
        p.extend((4 * i as u32).to_le_bytes());
        p.extend(8u32.to_le_bytes());
        p.extend(slot.to_le_bytes());
        p.extend([0xff; 6]);
        p.resize(from + REF_BYTES, 0);
        p[from + 20] = 0;
    }
    p.extend(vec![4u8; instrs as usize]);
    frame(meta::BLOCK, p)
}

/// A `TIME` record.
pub fn time(ticks: u64) -> Vec<u64> {
    let mut words = Vec::new();
    Special::Time { ticks }.write(&mut words);
    words
}

/// An `ALLOC` record.
pub fn alloc(addr: u64, size: u64) -> Vec<u64> {
    let mut words = Vec::new();
    Special::Alloc {
        addr,
        size,
        caller: 0x1234,
        kind: AllocKind::Malloc,
    }
    .write(&mut words);
    words
}
