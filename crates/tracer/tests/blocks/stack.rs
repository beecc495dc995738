//! The stack: pushes and pops of everything, frames, calls and returns.

use super::generate::{Gen, STACK_TOP};
use super::memory::Access;
use super::regs::{RAX, RBP, RSP, Value, name};

/// Bytes that blocks may push, and below which they do not go.
const ROOM: i64 = 1024;

impl Gen<'_> {
    fn room(&self, bytes: i64) -> bool {
        STACK_TOP - self.depth() + bytes < ROOM
    }

    /// One of them; says whether it could be emitted.
    pub fn stack(&mut self) -> bool {
        if self.locked > 0 || !self.room(64) {
            return self.pop_something();
        }
        match self.rng.below(11) {
            0 | 1 => self.push_register(),
            2 | 3 => self.push_other(),
            4 | 5 => self.pop_something(),
            6 => self.pop_to_stack(),
            7 => self.words(),
            8 => self.frame(),
            9 => self.all_flags(),
            _ => self.moved_pointer(),
        }
    }

    fn push_register(&mut self) -> bool {
        let reg = self.rng.below(16);
        self.emit(format!("push {}", name(reg, 8)));
        let value = self.regs[reg];
        self.push(value);
        true
    }

    fn push_other(&mut self) -> bool {
        if self.rng.once_in(2) {
            let n = *self.rng.pick(&[-1, 0, 3, 100, 70000, -70000]);
            self.emit(format!("pushq ${n}"));
            self.push(Value::Int(n));
        } else {
            let operand = self.mem(Access {
                bytes: 8,
                align: 1,
                legacy: false,
            });
            self.emit(format!("pushq {operand}"));
            self.push(Value::Data);
        }
        true
    }

    fn pop_something(&mut self) -> bool {
        if self.locked > 0 || self.pushed.is_empty() || self.pushed.last() == Some(&Value::Kept) {
            return false;
        }
        match self.rng.below(4) {
            0 => {
                // Above the frame or in the arena, whatever rsp is.
                let at = self.target(8, 1);
                self.emit(format!("popq arena+{at}(%rip)"));
                self.pop();
            }
            1 => {
                self.emit("add $8, %rsp");
                self.pop();
            }
            _ => {
                let Some(reg) = self.victim(|_| true) else {
                    return false;
                };
                self.emit(format!("pop {}", name(reg, 8)));
                let value = self.pop();
                self.set(reg, value);
            }
        }
        true
    }

    /// `pop` to memory by `rsp`, which it has moved before the address is made.
    fn pop_to_stack(&mut self) -> bool {
        if self.pushed.is_empty() || self.pushed.last() == Some(&Value::Kept) {
            return false;
        }
        self.pop();
        let at = STACK_TOP + 8 * self.rng.range(0, 64) - self.depth();
        if self.rng.once_in(2) {
            self.emit(format!("popq {at}(%rsp)"));
            return true;
        }
        let index = self.find(|_, v| matches!(v, Value::Int(n) if n.abs() < 1000));
        if let Some((index, Value::Int(n))) = index.map(|i| (i, self.regs[i])) {
            self.emit(format!("popq {}(%rsp,{},2)", at - 2 * n, name(index, 8)));
        } else {
            self.emit(format!("popq {at}(%rsp)"));
        }
        true
    }

    fn words(&mut self) -> bool {
        let Some(reg) = self.victim(|_| true) else {
            return false;
        };
        let from = name(self.rng.below(16), 2);
        self.emit(format!("pushw {from}"));
        self.emit(format!("popw {}", name(reg, 2)));
        self.set(reg, Value::Data);
        self.written |= 1 << RSP;
        true
    }

    fn frame(&mut self) -> bool {
        if self.regs[RBP] == Value::Kept {
            return false;
        }
        let old = self.regs[RBP];
        let before = self.depth();
        let bytes = 8 * self.rng.range(0, 6);
        if self.rng.once_in(2) {
            self.emit(format!("enter ${bytes}, $0"));
        } else {
            self.emit("push %rbp");
            self.emit("mov %rsp, %rbp");
            self.emit(format!("sub ${bytes}, %rsp"));
        }
        self.push(old);
        self.set(RBP, Value::Stack(before - 8));
        for _ in 0..bytes / 8 {
            self.push(Value::Data);
        }
        self.locked += 1;
        for _ in 0..self.rng.below(4) {
            self.one_of(&[super::scalar::QUIET, super::scalar::LOUD]);
        }
        self.locked -= 1;
        self.emit("leave");
        for _ in 0..bytes / 8 {
            self.pop();
        }
        let old = self.pop();
        self.set(RBP, old);
        true
    }

    fn all_flags(&mut self) -> bool {
        self.emit("pushfq");
        self.push(Value::Data);
        true
    }

    fn moved_pointer(&mut self) -> bool {
        let bytes = 8 * self.rng.range(1, 8);
        if self.rng.once_in(2) {
            self.emit(format!("sub ${bytes}, %rsp"));
        } else {
            self.emit(format!("lea -{bytes}(%rsp), %rsp"));
        }
        for _ in 0..bytes / 8 {
            self.push(Value::Data);
        }
        true
    }

    /// A function that the recorder watches by its name, as if it allocated.
    pub fn allocate(&mut self) -> bool {
        if self.locked > 0 || !self.room(64) || self.regs[RAX] == Value::Kept {
            return false;
        }
        let gives = ["_Znwm", "_Znam", "_ZnwmSt11align_val_t"];
        if self.rng.once_in(3) {
            self.emit("call _ZdlPv");
        } else {
            let function = self.rng.pick(&gives);
            self.emit(format!("call {function}"));
            self.set(RAX, Value::Arena(64));
        }
        true
    }

    /// A function of its own, called in one of the ways there are.
    pub fn call(&mut self) -> bool {
        if self.locked > 0 || !self.room(256) {
            return false;
        }
        let (function, over, table) = (self.label(), self.label(), self.label());
        let way = self.rng.below(4);
        let mut target = String::new();
        match way {
            0 => {
                let Some(reg) = self.victim(|_| true) else {
                    return false;
                };
                self.emit(format!("lea {function}(%rip), {}", name(reg, 8)));
                self.set(reg, Value::Data);
                target = format!("*{}", name(reg, 8));
            }
            1 => target = format!("*{table}(%rip)"),
            2 => {
                let n = Value::Int(3);
                match self.holding(|_| true, |v| v == n, n) {
                    Some(reg) => target = format!("*{table}-24(,{},8)", name(reg, 8)),
                    None => target = format!("*{table}"),
                }
            }
            _ => {}
        }
        if target.is_empty() {
            target.clone_from(&function);
        } else if way > 0 {
            self.emit(format!(
                ".pushsection .rodata; {table}: .quad {function}; .popsection"
            ));
        }
        // Arguments that the function takes off the stack.
        let words = self.rng.range(0, 4);
        for _ in 0..words {
            self.push_register();
        }
        self.emit(format!("jmp {over}"));
        self.place(&function);
        self.push(Value::Kept);
        for _ in 0..self.rng.range(1, 6) {
            self.plain();
        }
        while self.pushed.last() != Some(&Value::Kept) {
            self.emit("lea 8(%rsp), %rsp");
            self.pop();
        }
        self.pop();
        if words > 0 && self.rng.once_in(2) {
            self.emit(format!("ret ${}", words * 8));
            for _ in 0..words {
                self.pop();
            }
        } else {
            self.emit("ret");
        }
        self.place(&over);
        self.emit(format!("call {target}"));
        true
    }
}
