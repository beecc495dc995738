//! Branches forward and loops, with what depends on flags or counters across them.

use super::generate::Gen;
use super::regs::{RCX, Value, name};
use super::scalar::{FLAGS_READ, LOUD, QUIET};

const CONDITIONS: [&str; 16] = [
    "o", "no", "b", "ae", "z", "nz", "be", "a", "s", "ns", "p", "np", "l", "ge", "le", "g",
];

impl Gen<'_> {
    /// Ends the processor's basic block here.
    pub fn cut(&mut self) {
        let next = self.label();
        match self.rng.below(3) {
            0 => {
                let condition = *self.rng.pick(&CONDITIONS);
                self.emit(format!("j{condition} {next}"));
            }
            _ => self.emit(format!("jmp {next}")),
        }
        self.place(&next);
    }

    /// Code that may run, or run again: what is known of registers stays true.
    fn locked_steps(&mut self, steps: i64) {
        self.locked += 1;
        for _ in 0..steps {
            self.plain();
        }
        self.locked -= 1;
    }

    /// One of them; says whether it could be emitted.
    pub fn control(&mut self) -> bool {
        match self.rng.below(10) {
            0 => self.cut(),
            1 | 2 => self.skipped(),
            3 => return self.counted(),
            4 => return self.indirect(),
            5 => return self.call(),
            6 => return self.allocate(),
            _ => self.flags_that_live(),
        }
        true
    }

    fn skipped(&mut self) {
        let over = self.label();
        let jump = match self.rng.below(4) {
            0 => "jrcxz".into(),
            1 => "jecxz".into(),
            _ => format!("j{}", self.rng.pick(&CONDITIONS)),
        };
        // These reach 127 bytes only.
        let near = jump.ends_with("cxz");
        let steps = self.rng.range(1, if near { 3 } else { 5 });
        self.emit(format!("{jump} {over}"));
        if near {
            self.locked += 1;
            for _ in 0..steps {
                self.one_of(&[QUIET, LOUD]);
            }
            self.locked -= 1;
        } else {
            self.locked_steps(steps);
        }
        self.place(&over);
    }

    fn counted(&mut self) -> bool {
        if self.locked > 0 {
            return false;
        }
        let again = self.label();
        let times = self.rng.range(1, 7);
        let by_loop = self.rng.once_in(2);
        let counter = if by_loop {
            Some(RCX)
        } else {
            self.victim(|_| true)
        };
        let Some(counter) = counter.filter(|&c| self.load(c, Value::Int(times))) else {
            return false;
        };
        self.set(counter, Value::Kept);
        self.place(&again);
        if by_loop {
            self.locked += 1;
            for _ in 0..self.rng.range(1, 4) {
                self.one_of(&[QUIET, LOUD, FLAGS_READ]);
            }
            self.locked -= 1;
            let op = *self.rng.pick(&["loop", "loop", "loope", "loopne"]);
            self.emit(format!("{op} {again}"));
            let left = if op == "loop" {
                Value::Int(0)
            } else {
                Value::Data
            };
            self.set(counter, left);
        } else {
            let steps = self.rng.range(1, 5);
            self.locked_steps(steps);
            self.emit(format!("dec {}", name(counter, 8)));
            self.emit(format!("jnz {again}"));
            self.set(counter, Value::Int(0));
        }
        true
    }

    fn indirect(&mut self) -> bool {
        if self.locked > 0 {
            return false;
        }
        let (next, table) = (self.label(), self.label());
        let Some(reg) = self.victim(|_| true) else {
            return false;
        };
        let name = name(reg, 8);
        match self.rng.below(3) {
            0 => {
                self.emit(format!("lea {next}(%rip), {name}"));
                self.set(reg, Value::Data);
                self.emit(format!("jmp *{name}"));
            }
            1 => {
                self.emit(format!(
                    ".pushsection .rodata; {table}: .quad {next}; .popsection"
                ));
                self.emit(format!("jmp *{table}(%rip)"));
            }
            _ => {
                let n = self.rng.range(-5, 6);
                if !self.load(reg, Value::Int(n)) {
                    return false;
                }
                self.emit(format!(
                    ".pushsection .rodata; {table}: .quad {next}; .popsection"
                ));
                self.emit(format!("jmp *{table}{:+}(,{name},8)", -8 * n));
            }
        }
        self.place(&next);
        true
    }

    /// Flags that are set in one block and asked for in a later one, with memory accesses between
    /// that leave them alone.
    fn flags_that_live(&mut self) {
        self.one_of(&[LOUD]);
        for _ in 0..self.rng.range(1, 4) {
            self.cut();
            for _ in 0..self.rng.range(1, 5) {
                self.one_of(&[QUIET]);
            }
        }
        if self.rng.once_in(2) {
            self.one_of(&[FLAGS_READ]);
        } else {
            self.skipped();
        }
    }
}
