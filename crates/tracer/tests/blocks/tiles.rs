//! Tiles (AMX): configurations, products, and loads and stores with any stride.

use super::generate::{ARENA, Gen, STACK_TOP};
use super::memory::Access;
use super::regs::{RSP, Value, name};
use super::rng::Rng;

pub const TILES: usize = 8;
/// Configurations that programs have.
pub const CONFIGS: u64 = 12;

/// Rows, and bytes a row, of each tile: 0 and 1 can be products of 2 or 3 and 4 or 5.
pub fn shapes(config: u64) -> [(i64, i64); TILES] {
    let mut rng = Rng::new(2, config);
    let [m, n, k] = [1, 1, 1].map(|least| {
        if rng.once_in(3) {
            16
        } else {
            rng.range(least, 17)
        }
    });
    let any = (rng.range(1, 17), 4 * rng.range(1, 17));
    [
        (m, 4 * n),
        (m, 4 * n),
        (m, 4 * k),
        (m, 4 * k),
        (k, 4 * n),
        (k, 4 * n),
        (16, 64),
        any,
    ]
}

impl Gen<'_> {
    /// An instruction about tiles; says whether it could be emitted.
    pub fn tiles(&mut self) -> bool {
        let Some(config) = self.tiles else {
            return self.configure_tiles();
        };
        let tile = self.rng.below(TILES);
        match self.rng.below(24) {
            0 => return self.configure_tiles(),
            1 => {
                let operand = self.mem(Access {
                    bytes: 64,
                    align: 1,
                    legacy: false,
                });
                self.emit(format!("sttilecfg {operand}"));
            }
            2 if self.locked == 0 => {
                self.emit("tilerelease");
                self.tiles = None;
                if self.rng.once_in(2) {
                    self.skip(&format!("tilezero %tmm{tile}"));
                }
            }
            2 | 3 => self.emit(format!("tilezero %tmm{tile}")),
            4..10 => {
                let sum = self.rng.below(2);
                let (left, right) = (2 + self.rng.below(2), 4 + self.rng.below(2));
                let all = ["tdpbssd", "tdpbsud", "tdpbusd", "tdpbuud", "tdpbf16ps"];
                let op = *self.rng.pick(&all);
                let feature = if op == "tdpbf16ps" {
                    "amx_bf16"
                } else {
                    "amx_int8"
                };
                if !self.features.has(feature) {
                    return false;
                }
                self.emit(format!("{op} %tmm{right}, %tmm{left}, %tmm{sum}"));
            }
            10..18 => {
                let op = *self.rng.pick(&["tileloadd", "tileloadd", "tileloaddt1"]);
                let Some(operand) = self.rows(shapes(config)[tile]) else {
                    return false;
                };
                self.emit(format!("{op} {operand}, %tmm{tile}"));
            }
            _ => {
                let Some(operand) = self.rows(shapes(config)[tile]) else {
                    return false;
                };
                self.emit(format!("tilestored %tmm{tile}, {operand}"));
            }
        }
        true
    }

    fn configure_tiles(&mut self) -> bool {
        if self.locked > 0 || !self.features.has_tiles() {
            return false;
        }
        let config = self.rng.below(CONFIGS as usize) as u64;
        self.emit(format!("ldtilecfg tile_configs+{}(%rip)", 64 * config));
        self.tiles = Some(config);
        // They are zero now.
        for tile in 0..TILES {
            if self.rng.once_in(2)
                && let Some(operand) = self.rows(shapes(config)[tile])
            {
                self.emit(format!("tileloadd {operand}, %tmm{tile}"));
            }
        }
        true
    }

    /// An operand of so many rows of so many bytes, all of them in bounds.
    fn rows(&mut self, (rows, bytes): (i64, i64)) -> Option<String> {
        // All rows are the same memory.
        if self.rng.once_in(10) {
            let at = self.target(bytes, 1);
            let among = |r: usize| r != RSP;
            let base = self.holding(among, |v| matches!(v, Value::Arena(_)), Value::Arena(at))?;
            let Value::Arena(from) = self.regs[base] else {
                return None;
            };
            return Some(format!("{}({})", at - from, name(base, 8)));
        }
        let (index, n) = self.stride()?;
        let scale = 1 << self.rng.below(4);
        let span = (rows - 1) * n * scale;
        let (low, high) = (span.min(0), span.max(0) + bytes);
        if self.rng.once_in(8) && high - low <= 1024 {
            let at = STACK_TOP + self.rng.range(-low, 1025 - high);
            let shift = at - self.depth();
            return Some(format!("{shift}(%rsp,{},{scale})", name(index, 8)));
        }
        if high - low > ARENA {
            return None;
        }
        let at = -low + self.target(high - low, 1);
        let narrow = self.rng.once_in(8);
        let wanted = |v| matches!(v, Value::Arena(_)) || (narrow && matches!(v, Value::Dirty(_)));
        let base = self.holding(|r| r != index, wanted, Value::Arena(at))?;
        let (Value::Arena(from) | Value::Dirty(from)) = self.regs[base] else {
            return None;
        };
        if self.regs[index] != Value::Int(n) {
            return None;
        }
        let width = if narrow { 4 } else { 8 };
        let segment = *self.rng.pick(&["", "", "", "%es:", "%gs:"]);
        Some(format!(
            "{segment}{}({},{},{scale})",
            at - from,
            name(base, width),
            name(index, width)
        ))
    }

    /// A register with rows' distance, or a part of it.
    fn stride(&mut self) -> Option<(usize, i64)> {
        let n = Value::Int(*self.rng.pick(&[64, 64, 32, 17, 100, 8, 128, -64, -9]));
        let any = self.rng.once_in(3);
        let wanted = |v| v == n || (any && matches!(v, Value::Int(_)));
        let reg = self.holding(|r| r != RSP, wanted, n)?;
        match self.regs[reg] {
            Value::Int(n) => Some((reg, n)),
            _ => None,
        }
    }
}
