//! String instructions of all widths, forward and backward, counted and not.

use super::generate::{ARENA, Gen};
use super::regs::{RAX, RCX, RDI, RSI, Value};

const OPS: [&str; 5] = ["movs", "stos", "lods", "cmps", "scas"];

impl Gen<'_> {
    /// One of them; says whether it could be emitted.
    pub fn string(&mut self) -> bool {
        if self.locked > 0 {
            return false;
        }
        let op = *self.rng.pick(&OPS);
        let width = self.rng.below(4);
        let bytes = 1i64 << width;
        let suffix = ["b", "w", "l", "q"][width];
        let compares = op == "cmps" || op == "scas";
        let repeated = !self.rng.once_in(3);
        let count = match self.rng.below(4) {
            0 => 0,
            1 => 1,
            _ => self.rng.range(2, 70),
        };
        let backward = self.rng.once_in(3);
        let times = if repeated { count } else { 1 };
        let length = times * bytes;
        let (reads, writes) = (op != "stos" && op != "scas", op != "lods" && op != "cmps");
        // The address of the first element, from where it goes up or down.
        let start = |g: &mut Self| {
            let low = g.target(length.max(bytes), 1);
            if backward {
                low + length.max(bytes) - bytes
            } else {
                low
            }
        };
        let (source, mut target) = (start(self), start(self));
        if self.rng.once_in(4) {
            // Overlapping.
            target = (source + self.rng.range(-9, 10)).clamp(length, ARENA - length - bytes);
        }
        // Nothing is accessed: the addresses may be anything.
        let wild = times == 0 && repeated && self.rng.once_in(2);
        let ready = (!reads || wild || self.load(RSI, Value::Arena(source)))
            && (!writes && op != "scas" || wild || self.load(RDI, Value::Arena(target)))
            && (!repeated || self.load(RCX, Value::Int(count)));
        let rdi_used = writes || op == "cmps" || op == "scas";
        if !ready || self.regs[RAX] == Value::Kept {
            return false;
        }
        if op == "cmps" && !wild && !self.load(RDI, Value::Arena(target)) {
            return false;
        }
        // Loading one may have taken another's register.
        let holds = |g: &Self, r, v| g.regs[r] == v;
        let whole = wild
            || ((!reads || holds(self, RSI, Value::Arena(source)))
                && (!rdi_used || holds(self, RDI, Value::Arena(target))));
        if !whole || (repeated && !holds(self, RCX, Value::Int(count))) {
            return false;
        }
        if backward {
            self.emit("std");
            // The direction holds beyond the end of a block.
            if self.rng.once_in(2) {
                let next = self.label();
                self.emit(format!("jmp {next}"));
                self.place(&next);
            }
            for _ in 0..self.rng.below(3) {
                self.one_of(&[UNRELATED]);
            }
        }
        let prefix = match (repeated, compares) {
            (false, _) => "",
            (true, false) => "rep ",
            (true, true) => *self.rng.pick(&["repe ", "repne "]),
        };
        let segment = if reads && self.rng.once_in(6) {
            "ds "
        } else {
            ""
        };
        self.emit(format!("{segment}{prefix}{op}{suffix}"));
        if backward {
            if self.rng.once_in(2) {
                let next = self.label();
                self.emit(format!("jmp {next}"));
                self.place(&next);
            }
            self.emit("cld");
        }
        let moved = if backward { -length } else { length };
        let after = |at: i64| {
            if compares || wild {
                Value::Data
            } else {
                Value::Arena(at + moved)
            }
        };
        if reads {
            self.set(RSI, after(source));
        }
        if rdi_used {
            self.set(RDI, after(target));
        }
        if repeated {
            self.set(RCX, if compares { Value::Data } else { Value::Int(0) });
        }
        if op == "lods" {
            self.set(RAX, Value::Data);
        }
        true
    }
}

/// What may stand between without touching the registers of string instructions.
const UNRELATED: super::template::Table = &[(
    "",
    &[
        "movq %r8, arena+8(%rip)",
        "testq {q}, {q}",
        "addq %r9, arena+4090(%rip)",
        "cmpb {b}, arena(%rip)",
    ],
)];
