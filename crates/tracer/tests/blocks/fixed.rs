//! Instructions whose registers or memory are given: what they need is put there first.

use super::generate::{ARENA, Gen};
use super::memory::Access;
use super::regs::{RAX, RBX, RCX, RDX, Value, name};

impl Gen<'_> {
    /// Says that `regs` are lost; `false` where one must stay.
    fn clobber(&mut self, regs: &[usize]) -> bool {
        let kept = |r: &usize| match self.regs[*r] {
            Value::Kept => true,
            Value::Data => false,
            _ => self.locked > 0,
        };
        if regs.iter().any(kept) {
            return false;
        }
        for &reg in regs {
            self.set(reg, Value::Data);
        }
        true
    }

    fn operand_of(&mut self, bytes: i64, align: i64) -> String {
        self.mem(Access {
            bytes,
            align,
            legacy: false,
        })
    }

    /// One of them; says whether it could be emitted.
    pub fn fixed(&mut self) -> bool {
        match self.rng.below(15) {
            0 | 1 => self.multiply(),
            2 => self.divide(),
            3 => self.compare_exchange(),
            4 => self.compare_exchange_wide(),
            5 | 6 => self.bit_string(),
            7 => self.translate(),
            8 => self.flag_moves(),
            9 => self.extend(),
            10 => self.fixed_address(),
            11 | 12 => self.dead_write(),
            13 => self.carries(),
            _ => self.direct(),
        }
    }

    fn multiply(&mut self) -> bool {
        let bytes = 1 << self.rng.below(4);
        let suffix = ["b", "w", "l", "q"][(bytes as u64).trailing_zeros() as usize];
        let op = *self.rng.pick(&["mul", "imul"]);
        let operand = if self.rng.once_in(2) {
            self.operand_of(bytes, 1)
        } else {
            name(self.rng.below(16), bytes)
        };
        if self.features.has("bmi2") && bytes >= 4 && self.rng.once_in(3) {
            let Some(high) = self.victim(|_| true) else {
                return false;
            };
            self.set(high, Value::Data);
            let Some(low) = self.victim(|r| r != high) else {
                return false;
            };
            self.set(low, Value::Data);
            let (high, low) = (name(high, bytes), name(low, bytes));
            self.emit(format!("mulx{suffix} {operand}, {low}, {high}"));
            return true;
        }
        if !self.clobber(&[RAX, RDX]) {
            return false;
        }
        self.emit(format!("{op}{suffix} {operand}"));
        true
    }

    /// With operands that never overflow the quotient.
    fn divide(&mut self) -> bool {
        let operand = self.operand_of(8, 1);
        if operand.contains("%rax") || operand.contains("%rdx") || operand.contains("%eax") {
            return false;
        }
        if operand.contains("%edx") || !self.clobber(&[RAX, RDX]) {
            return false;
        }
        self.emit(format!("orq $1, {operand}"));
        self.emit("xor %edx, %edx");
        if self.rng.once_in(2) {
            self.emit(format!("divq {operand}"));
        } else {
            self.emit("shr %rax");
            self.emit(format!("idivq {operand}"));
        }
        true
    }

    fn compare_exchange(&mut self) -> bool {
        let bytes = 1 << self.rng.below(4);
        let operand = self.operand_of(bytes, bytes);
        let lock = *self.rng.pick(&["", "lock "]);
        let Some(source) = self.find(|_, _| true) else {
            return false;
        };
        let source = name(source, bytes);
        // Half the time the comparison succeeds.
        if self.rng.once_in(2) && self.clobber(&[RAX]) && !operand.contains("ax") {
            self.emit(format!("mov {operand}, {}", name(RAX, bytes)));
        } else if !self.clobber(&[RAX]) {
            return false;
        }
        if operand.contains("ax") {
            return false;
        }
        self.emit(format!("{lock}cmpxchg {source}, {operand}"));
        true
    }

    fn compare_exchange_wide(&mut self) -> bool {
        let (bytes, op) = *self.rng.pick(&[(8, "cmpxchg8b"), (16, "cmpxchg16b")]);
        let among = |r: usize| ![RAX, RBX, RCX, RDX].contains(&r);
        let at = self.target(bytes, bytes);
        let operand = match self.holding(among, |v| v == Value::Arena(at), Value::Arena(at)) {
            Some(base) if self.rng.once_in(2) => format!("({})", name(base, 8)),
            _ => format!("arena+{at}(%rip)"),
        };
        if !self.clobber(&[RAX, RDX]) {
            return false;
        }
        if self.rng.once_in(2) {
            let (low, high) = if bytes == 8 {
                ("%eax", "%edx")
            } else {
                ("%rax", "%rdx")
            };
            self.emit(format!("mov arena+{at}(%rip), {low}"));
            self.emit(format!("mov arena+{}(%rip), {high}", at + bytes / 2));
        }
        let lock = *self.rng.pick(&["", "lock "]);
        self.emit(format!("{lock}{op} {operand}"));
        true
    }

    /// Bits beyond the operand: the register says in which unit before or behind it.
    fn bit_string(&mut self) -> bool {
        let bytes = *self.rng.pick(&[2, 4, 8]);
        let bit = self.rng.range(-3000, 3000);
        let Some(reg) = self.victim(|_| true) else {
            return false;
        };
        if !self.load(reg, Value::Int(bit)) {
            return false;
        }
        let unit = bit.div_euclid(bytes * 8) * bytes;
        let at = self.target(bytes, bytes) - unit;
        let among = |r: usize| r != reg;
        let base = self.holding(among, |v| matches!(v, Value::Arena(_)), Value::Arena(at));
        let operand = match base.map(|b| (b, self.regs[b])) {
            Some((base, Value::Arena(from))) => format!("{}({})", at - from, name(base, 8)),
            _ => format!("arena+{at}(%rip)"),
        };
        let op = *self
            .rng
            .pick(&["bt", "bts", "btr", "btc", "lock bts", "lock btr"]);
        if self.regs[reg] == Value::Int(bit) {
            self.emit(format!("{op} {}, {operand}", name(reg, bytes)));
        }
        true
    }

    fn translate(&mut self) -> bool {
        let at = self.rng.range(0, ARENA - 256);
        if !self.load(RBX, Value::Arena(at)) || !self.clobber(&[RAX]) {
            return false;
        }
        self.emit("xlat");
        true
    }

    fn flag_moves(&mut self) -> bool {
        match self.rng.below(4) {
            0 if self.clobber(&[RAX]) => self.emit("lahf"),
            1 => self.emit("sahf"),
            2 => {
                // DF stays clear, TF and what the kernel owns too.
                let flags = self.rng.next() & 0x0020_08d5;
                self.push(Value::Data);
                self.emit(format!("pushq ${flags:#x}"));
                self.emit("popfq");
                self.pop();
            }
            _ => {
                let Some(reg) = self.victim(|_| true) else {
                    return false;
                };
                self.push(Value::Data);
                self.emit("pushfq");
                self.emit(format!("popq {}", name(reg, 8)));
                self.pop();
                self.set(reg, Value::Data);
            }
        }
        true
    }

    fn extend(&mut self) -> bool {
        let (op, regs): (&str, &[usize]) = *self.rng.pick(&[
            ("cbtw", &[RAX][..]),
            ("cwtl", &[RAX]),
            ("cltq", &[RAX]),
            ("cwtd", &[RDX]),
            ("cltd", &[RDX]),
            ("cqto", &[RDX]),
        ]);
        let done = self.clobber(regs);
        if done {
            self.emit(op);
        }
        done
    }

    /// The forms that move between rax and an address that is in the instruction.
    fn fixed_address(&mut self) -> bool {
        let bytes = 1 << self.rng.below(4);
        let (at, rax) = (self.target(bytes, 1), name(RAX, bytes));
        if self.rng.once_in(2) {
            self.emit(format!("movabs {rax}, arena+{at}"));
        } else if self.clobber(&[RAX]) {
            self.emit(format!("movabs arena+{at}, {rax}"));
        } else {
            return false;
        }
        true
    }

    /// A register's last use, then a write of all of it that does not read it.
    fn dead_write(&mut self) -> bool {
        let Some(reg) = self.victim(|_| true) else {
            return false;
        };
        let (r8, r4) = (name(reg, 8), name(reg, 4));
        let operand = self.operand_of(8, 1);
        if !self.clobber(&[reg]) {
            return false;
        }
        let used = self.rng.below(3);
        match used {
            0 => self.emit(format!("mov {r8}, {operand}")),
            1 => self.emit(format!("add {operand}, {r8}")),
            _ => self.emit(format!("mov {}, {r8}", name(RAX, 8))),
        }
        for _ in 0..self.rng.below(3) {
            self.one_of(&[super::scalar::QUIET]);
        }
        match self.rng.below(4) {
            0 => self.emit(format!("mov $4, {r8}")),
            1 => self.emit(format!("xor {r4}, {r4}")),
            2 => {
                let operand = self.operand_of(8, 1);
                self.emit(format!("mov {operand}, {r8}"));
            }
            _ => self.emit(format!("lea 7(,{r8},2), {r4}")),
        }
        // What came between may have put an address there.
        self.set(reg, Value::Data);
        true
    }

    /// Two chains of carries side by side, as long multiplication has them.
    fn carries(&mut self) -> bool {
        let at = self.rng.range(0, ARENA - 64);
        let among = |r: usize| ![RAX, RDX].contains(&r);
        let Some(base) = self.holding(among, |v| v == Value::Arena(at), Value::Arena(at)) else {
            return false;
        };
        if !self.clobber(&[RAX, RDX]) {
            return false;
        }
        let base = name(base, 8);
        let Some(sum) = self.find(|r, v| v == Value::Data && ![RAX, RDX].contains(&r)) else {
            return false;
        };
        self.set(sum, Value::Data);
        let sum = name(sum, 8);
        self.emit("test %eax, %eax");
        for i in 0..self.rng.range(2, 6) {
            let (from, to) = (i * 8, i * 8 + 8);
            if self.features.has("adx") {
                self.emit(format!("mov {from}({base}), %rdx"));
                self.emit(format!("mulx {to}({base}), %rax, %rdx"));
                self.emit(format!("adcx %rax, {sum}"));
                self.emit(format!("adox {sum}, %rdx"));
                self.emit(format!("mov %rdx, {to}({base})"));
            } else {
                self.emit(format!("mov {from}({base}), %rax"));
                self.emit(format!("adc %rax, {to}({base})"));
                self.emit(format!("sbb {to}({base}), {sum}"));
            }
        }
        true
    }

    fn direct(&mut self) -> bool {
        if !self.features.has("movdir64b") {
            return false;
        }
        let to = self.target(64, 64);
        let from = self.target(64, 1);
        let source = format!("arena+{from}(%rip)");
        let holds = self.holding(|_| true, |v| v == Value::Arena(to), Value::Arena(to));
        let Some(to) = holds else {
            return false;
        };
        self.emit(format!("movdir64b {source}, {}", name(to, 8)));
        true
    }
}
