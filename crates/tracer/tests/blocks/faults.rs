//! Instructions that fault in the middle of a block; the program's handler repairs or skips them.

use super::generate::Gen;
use super::memory::Access;
use super::regs::{RAX, RCX, RDX, Value, name};

impl Gen<'_> {
    /// One of them; says whether it could be emitted.
    pub fn fault(&mut self) -> bool {
        if self.locked > 0 {
            return false;
        }
        match self.rng.below(6) {
            0 => {
                if [RAX, RCX, RDX].iter().any(|&r| self.regs[r] == Value::Kept) {
                    return false;
                }
                self.emit("xor %ecx, %ecx");
                self.set(RCX, Value::Int(0));
                let op = *self
                    .rng
                    .pick(&["divl %ecx", "idivq %rcx", "divb %cl", "divw %cx"]);
                self.skip(op);
            }
            1 => self.skip("ud2"),
            2 => self.skip("hlt"),
            3 => {
                let at = self.target(17, 16) + 1;
                self.skip(&format!("movaps %xmm1, arena+{at}(%rip)"));
            }
            4 => {
                let Some(reg) = self.victim(|_| true) else {
                    return false;
                };
                // No address that any processor takes.
                self.emit(format!("movabs $0x8000123456789abc, {}", name(reg, 8)));
                self.set(reg, Value::Data);
                let source = name(self.rng.below(16), 4);
                self.skip(&format!("add {source}, 8({})", name(reg, 8)));
            }
            _ => {
                let operand = self.mem(Access {
                    bytes: 8,
                    align: 1,
                    legacy: false,
                });
                // A page nobody has.
                let source = name(self.rng.below(16), 8);
                self.emit(format!("mov {source}, {operand}"));
                let reg = name(self.rng.below(16), 8);
                self.skip(&format!("mov {reg}, beyond+64(%rip)"));
            }
        }
        true
    }

    /// Emits `op`, of which the handler is told where to go on.
    pub fn skip(&mut self, op: &str) {
        let (at, next) = (self.label(), self.label());
        self.emit(format!(
            ".pushsection skips, \"a\"; .quad {at}, {next}; .popsection"
        ));
        self.place(&at);
        self.emit(op);
        self.place(&next);
    }
}
