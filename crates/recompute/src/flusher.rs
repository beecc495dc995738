//! The instruction that makes lines durable.

use prestore::{Instruction, Op};

/// Writes lines back, whatever pre-stores are allowed to do: for durability a line may be dropped, too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flusher {
    instruction: Instruction,
}

impl Flusher {
    /// The library's choice for cleaning (so its switches hold), otherwise the best that this CPU has; none if it has none.
    pub fn choose() -> Option<Flusher> {
        let clean = prestore::query(Op::Clean);
        let instruction = if clean.active {
            Some(clean.instruction)
        } else {
            [
                Instruction::Clwb,
                Instruction::ClflushOpt,
                Instruction::Clflush,
                Instruction::DcCvac,
            ]
            .into_iter()
            .find(|instruction| prestore::usable(*instruction))
        };
        instruction.map(|instruction| Flusher { instruction })
    }

    pub fn name(self) -> &'static str {
        self.instruction.name()
    }

    /// # Safety
    /// The range is readable.
    #[inline]
    pub unsafe fn flush(self, start: *const u8, len: usize) {
        // SAFETY: passed on; the instruction is usable, as `choose` has asked.
        unsafe { prestore::execute(self.instruction, start, len) }
    }
}
