//! What becomes of registers in one block.

use prestore_trace::EventKind;
use prestore_trace::block::Block;

use super::uses::{COUNT, Decode, Registers, Uses};

/// Where a value came from: the youngest load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum From {
    /// No load that is known.
    #[default]
    Nothing,
    /// The load of this reference of the block.
    Here(u16),
    /// What these registers held where the block began.
    Before(Registers),
}

impl From {
    /// The younger of both.
    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Here(a), Self::Here(b)) => Self::Here(a.max(b)),
            (Self::Here(a), _) | (_, Self::Here(a)) => Self::Here(a),
            (Self::Before(a), Self::Before(b)) => Self::Before(a | b),
            (Self::Nothing, other) => other,
            (known, Self::Nothing) => known,
        }
    }
}

/// How loaded values pass through a block.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flow {
    /// Of each reference: what a load's address came from, or what a store writes.
    pub after: Box<[From]>,
    /// Registers that do not hold behind the block what they held before it, and where that came from.
    pub behind: Box<[(u8, From)]>,
}

impl Flow {
    /// Nothing is known.
    pub(crate) fn none() -> &'static Self {
        static NONE: std::sync::LazyLock<Flow> = std::sync::LazyLock::new(Flow::default);
        &NONE
    }

    /// That of `block`; nothing where its code is not known.
    pub(crate) fn of(block: &Block, decode: &mut Decoder) -> Self {
        if block.code.is_empty() {
            return Self::default();
        }
        let mut registers = Values::new();
        let mut after = vec![From::Nothing; block.refs.len()];
        let mut next = 0;
        for (i, code) in block.instructions().enumerate() {
            let first = next;
            while block
                .refs
                .get(next)
                .is_some_and(|r| usize::from(r.instr) == i)
            {
                next += 1;
            }
            let uses = decode.0.uses(code);
            let refs = block.refs[first..next].iter().zip(first..);
            let load = refs.clone().filter(|(r, _)| r.kind == EventKind::Load);
            let loaded = load.last().map_or(From::Nothing, |(_, at)| here(at));
            for (r, at) in refs {
                after[at] = match r.kind {
                    EventKind::Load => registers.youngest(uses.addresses),
                    EventKind::Store => loaded.or(registers.youngest(uses.reads)),
                    _ => From::Nothing,
                };
            }
            let is_atomic = block.refs[first..next]
                .iter()
                .any(|r| r.kind == EventKind::AtomicRmw);
            registers.execute(uses, loaded, is_atomic);
        }
        Self {
            after: after.into(),
            behind: registers.changed(),
        }
    }
}

fn here(at: usize) -> From {
    u16::try_from(at).map_or(From::Nothing, From::Here)
}

/// Decodes blocks' instructions, one block after the other.
#[derive(Default)]
pub(crate) struct Decoder(Decode);

/// What each register holds.
struct Values([From; COUNT]);

impl Values {
    fn new() -> Self {
        Self(std::array::from_fn(|r| From::Before(1 << r)))
    }

    fn youngest(&self, of: Registers) -> From {
        let each = (0..COUNT).filter(|r| of >> r & 1 == 1);
        each.fold(From::Nothing, |youngest, r| youngest.or(self.0[r]))
    }

    /// An instruction that loaded `loaded`.
    fn execute(&mut self, uses: Uses, loaded: From, is_atomic: bool) {
        let made = match loaded {
            // What an atomic brings is there when those behind it begin.
            From::Nothing if is_atomic => From::Nothing,
            From::Nothing => self.youngest(uses.reads),
            loaded => loaded,
        };
        for r in 0..COUNT {
            if uses.writes >> r & 1 == 1 {
                self.0[r] = made;
            } else if uses.merges >> r & 1 == 1 {
                self.0[r] = self.0[r].or(made);
            }
        }
    }

    fn changed(self) -> Box<[(u8, From)]> {
        let each = (0u8..).zip(self.0);
        each.filter(|&(r, from)| from != From::Before(1 << r))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use prestore_trace::block::{Block, BlockEnd, NO_SLOT, Ref, RefMode};
    use prestore_trace::{EventKind, SiteId};

    use super::{Decoder, Flow, From};
    use crate::dataflow::Carried;

    const RAX: u8 = 0;
    const RCX: u8 = 1;
    const RDX: u8 = 2;

    fn reference(kind: EventKind, instr: u16) -> Ref {
        Ref {
            kind,
            mode: RefMode::Plain,
            instr,
            slot: NO_SLOT,
            value_slot: NO_SLOT,
            size: 8,
            disp: 0,
            site: SiteId::NONE,
            frame: false,
            compare: NO_SLOT,
        }
    }

    fn block(code: &[&[u8]], refs: &[(EventKind, u16)]) -> Block {
        Block {
            id: 64,
            instrs: code.len() as u32,
            words: 0,
            end: BlockEnd::Jump,
            start_pc: 0,
            next_pc: 0,
            last_site: SiteId::NONE,
            start_site: SiteId::NONE,
            refs: refs.iter().map(|(kind, i)| reference(*kind, *i)).collect(),
            lengths: code.iter().map(|c| c.len() as u8).collect(),
            code: code.concat().into(),
        }
    }

    /// mov (%rax),%rax; lea 8(%rax),%rcx; mov (%rcx),%edx; mov %rdx,(%rcx); xor %ecx,%ecx
    fn chase() -> Block {
        block(
            &[
                &[0x48, 0x8b, 0x00],
                &[0x48, 0x8d, 0x48, 0x08],
                &[0x8b, 0x11],
                &[0x48, 0x89, 0x11],
                &[0x31, 0xc9],
            ],
            &[
                (EventKind::Load, 0),
                (EventKind::Load, 2),
                (EventKind::Store, 3),
            ],
        )
    }

    #[test]
    fn addresses_come_from_loads_through_arithmetic() {
        let flow = Flow::of(&chase(), &mut Decoder::default());
        let after = [From::Before(1 << RAX), From::Here(0), From::Here(1)];
        assert_eq!(*flow.after, after);
        let behind = [
            (RAX, From::Here(0)),
            (RCX, From::Nothing),
            (RDX, From::Here(1)),
        ];
        assert_eq!(*flow.behind, behind);
    }

    #[test]
    fn without_code_nothing_is_known() {
        let mut block = chase();
        block.code = Box::default();
        let flow = Flow::of(&block, &mut Decoder::default());
        assert!(flow.after.is_empty() && flow.behind.is_empty());
    }

    /// The next execution's first load waits for this one's, two loads back.
    #[test]
    fn registers_carry_loads_from_block_to_block() {
        let flow = Flow::of(&chase(), &mut Decoder::default());
        let mut whole = Carried::default();
        let mut pieces = Carried::default();
        for back in [0, 2, 2] {
            assert_eq!(whole.back_to(1 << RAX, 0), back);
            whole.pass(&flow.behind, 2, |at| u64::from(at.min(2)));
            pieces.begin(3);
            assert_eq!(pieces.back(flow.after[0]), back);
            pieces.loaded(0);
            assert_eq!(pieces.back(flow.after[1]), 1);
            pieces.loaded(1);
            assert_eq!(pieces.back(flow.after[2]), 1);
            pieces.end(&flow.behind);
        }
        assert_eq!(whole.loads, pieces.loads);
    }
}
