//! One random block: what has been emitted, and what is known of the program's state behind it.

use super::features::Features;
use super::regs::{RSP, Value, name};
use super::rng::Rng;

/// Bytes of the arena: four pages, of which the last two may be protected.
pub const ARENA: i64 = 16384;
/// Where `rsp` points at entry, and the bytes of the stack.
pub const STACK_TOP: i64 = 2048;
pub const STACK: i64 = 4096;
/// Bytes of thread-local storage that blocks use.
pub const LOCAL: i64 = 256;

/// A step's lines: what a minimiser drops at once, or line by line where they are no control flow.
pub type Unit = Vec<String>;

pub struct Gen<'a> {
    pub rng: Rng,
    pub features: &'a Features,
    /// Makes labels unique in the program.
    pub name: String,
    pub regs: [Value; 16],
    /// Registers and vector registers that the block writes.
    pub written: u16,
    pub written_vectors: u32,
    pub units: Vec<Unit>,
    /// Number of the configuration that tiles have.
    pub tiles: Option<u64>,
    /// Depth of code that may run any number of times: what is known may not change there.
    pub locked: u32,
    /// What has been pushed.
    pub pushed: Vec<Value>,
    labels: u32,
}

impl<'a> Gen<'a> {
    pub fn new(rng: Rng, features: &'a Features, name: String) -> Self {
        let mut regs = [Value::Data; 16];
        regs[RSP] = Value::Stack(STACK_TOP);
        let units = vec![];
        Self {
            rng,
            features,
            name,
            regs,
            written: 0,
            written_vectors: 0,
            units,
            tiles: None,
            locked: 0,
            pushed: vec![],
            labels: 0,
        }
    }

    pub fn emit(&mut self, line: impl Into<String>) {
        if let Some(unit) = self.units.last_mut() {
            unit.push(line.into());
        }
    }

    pub fn label(&mut self) -> String {
        self.labels += 1;
        format!(".L{}_{}", self.name, self.labels)
    }

    pub fn place(&mut self, label: &str) {
        self.emit(format!("{label}:"));
    }

    /// Says that `reg` now holds `value`.
    pub fn set(&mut self, reg: usize, value: Value) {
        self.regs[reg] = value;
        self.written |= 1 << reg;
    }

    /// A register, any but `rsp`, for which `wanted` holds.
    pub fn find(&mut self, wanted: impl Fn(usize, Value) -> bool) -> Option<usize> {
        let found: Vec<usize> = (0..16)
            .filter(|&r| r != RSP && wanted(r, self.regs[r]))
            .collect();
        (!found.is_empty()).then(|| *self.rng.pick(&found))
    }

    /// A register whose value may be lost; `legacy`: one of the first eight.
    pub fn victim(&mut self, among: impl Fn(usize) -> bool) -> Option<usize> {
        let any = self.locked == 0 && self.rng.once_in(4);
        self.find(|r, v| among(r) && v == Value::Data)
            .filter(|_| !any)
            .or_else(|| {
                let free = self.locked == 0;
                self.find(|r, v| among(r) && (v == Value::Data || (free && v != Value::Kept)))
            })
    }

    /// Makes `reg` hold `value`, in one of the ways there are. Says whether it may.
    pub fn load(&mut self, reg: usize, value: Value) -> bool {
        if self.regs[reg] == value {
            return true;
        }
        if self.regs[reg] == Value::Kept || self.locked > 0 || reg == RSP {
            return false;
        }
        let (r8, r4) = (name(reg, 8), name(reg, 4));
        let from = self.find(|r, v| r != reg && v == value);
        match (value, from) {
            (_, Some(from)) if self.rng.once_in(3) => {
                self.emit(format!("mov {}, {r8}", name(from, 8)));
            }
            (Value::Arena(at), _) => match self.rng.below(3) {
                0 => self.emit(format!("mov $arena+{at}, {r4}")),
                1 => self.emit(format!("movabs $arena+{at}, {r8}")),
                _ => self.emit(format!("lea arena+{at}(%rip), {r8}")),
            },
            (Value::Dirty(at), _) => {
                let high = (self.rng.next() | 1) << 32;
                self.emit(format!("movabs $arena+{:#x}, {r8}", high | at as u64));
            }
            (Value::Stack(at), _) => self.emit(format!("lea stack+{at}(%rip), {r8}")),
            (Value::Int(n), _) => {
                if n >= 0 && self.rng.once_in(2) {
                    self.emit(format!("mov ${n}, {r4}"));
                } else {
                    self.emit(format!("mov ${n}, {r8}"));
                }
            }
            (Value::Data | Value::Kept, _) => {}
        }
        self.set(reg, value);
        true
    }

    /// A register that holds what `wanted` asks for: found, or made from `value`.
    pub fn holding(
        &mut self,
        among: impl Fn(usize) -> bool,
        wanted: impl Fn(Value) -> bool,
        value: Value,
    ) -> Option<usize> {
        if let Some(reg) = self.find(|r, v| among(r) && wanted(v)) {
            return Some(reg);
        }
        if self.locked > 0 {
            return None;
        }
        let reg = self.victim(among)?;
        self.load(reg, value).then_some(reg)
    }

    /// Offset of `rsp` in the stack.
    pub fn depth(&self) -> i64 {
        match self.regs[RSP] {
            Value::Stack(at) => at,
            _ => STACK_TOP,
        }
    }

    /// `rsp` moves down by eight bytes that hold `value`.
    pub fn push(&mut self, value: Value) {
        self.pushed.push(value);
        self.regs[RSP] = Value::Stack(self.depth() - 8);
        self.written |= 1 << RSP;
    }

    /// `rsp` moves up by eight bytes; what they held.
    pub fn pop(&mut self) -> Value {
        self.regs[RSP] = Value::Stack(self.depth() + 8);
        self.written |= 1 << RSP;
        self.pushed.pop().unwrap_or(Value::Data)
    }
}
