//! Memory operands in every addressing mode, at addresses that are known to be in bounds.

use super::generate::{ARENA, Gen, LOCAL, STACK_TOP};
use super::regs::{RSP, Value, name};

/// What an operand has to be.
#[derive(Clone, Copy)]
pub struct Access {
    pub bytes: i64,
    pub align: i64,
    /// Registers of the first eight only: the instruction may have no REX prefix.
    pub legacy: bool,
}

const PAGE: i64 = 4096;
/// Numbers that indices hold; negative ones too.
const INDICES: [i64; 10] = [0, 1, 2, 3, 8, 17, 100, -1, -5, -64];

impl Gen<'_> {
    /// An offset in the arena: anywhere, across a line's end, or across a page's.
    pub fn target(&mut self, bytes: i64, align: i64) -> i64 {
        let last = ARENA - bytes;
        let at = match self.rng.below(6) {
            0 => PAGE * self.rng.range(1, 4) - self.rng.range(1, bytes.max(2)),
            1 => 64 * self.rng.range(1, ARENA / 64) - self.rng.range(1, bytes.max(2)),
            2 => last,
            _ => self.rng.range(0, last + 1),
        };
        at.clamp(0, last) / align * align
    }

    /// An operand of `access`, with instructions before it that load its registers if need be.
    pub fn mem(&mut self, access: Access) -> String {
        let target = self.target(access.bytes, access.align);
        match self.rng.below(16) {
            0 | 1 => self.on_stack(access),
            2 => self.in_thread(access),
            // Bases that the processor ignores.
            3 => {
                let segment = *self.rng.pick(&["ds", "cs", "es"]);
                let operand = self.in_arena(access, target);
                format!("%{segment}:{operand}")
            }
            _ => self.in_arena(access, target),
        }
    }

    fn in_arena(&mut self, access: Access, target: i64) -> String {
        let among = |r: usize| r < 8 || !access.legacy;
        match self.rng.below(10) {
            0 => format!("arena+{target}(%rip)"),
            1 if !access.legacy => format!("arena+{target}"),
            2 if !access.legacy => format!("arena+{target}(%eip)"),
            3 => self.indexed(access, None, target),
            4 => self.narrow(access, target),
            way => {
                let near = Value::Arena(self.near(target));
                let Some(base) = self.holding(among, |v| matches!(v, Value::Arena(_)), near) else {
                    return format!("arena+{target}(%rip)");
                };
                if way < 8 {
                    return self.indexed(access, Some(base), target);
                }
                let Value::Arena(at) = self.regs[base] else {
                    return format!("arena+{target}(%rip)");
                };
                format!("{}({})", disp(target - at), name(base, 8))
            }
        }
    }

    /// Where a base may point: at the target, within a short displacement, or anywhere.
    fn near(&mut self, target: i64) -> i64 {
        match self.rng.below(3) {
            0 => target,
            1 => target + self.rng.range(-100, 100),
            _ => self.rng.range(0, ARENA),
        }
    }

    fn scale(&mut self) -> i64 {
        1 << self.rng.below(4)
    }

    fn index(&mut self, access: Access) -> Option<(usize, i64)> {
        let among = |r: usize| r < 8 || !access.legacy;
        let n = Value::Int(*self.rng.pick(&INDICES));
        let reg = self.holding(among, |v| matches!(v, Value::Int(_)), n)?;
        match self.regs[reg] {
            Value::Int(n) => Some((reg, n)),
            _ => None,
        }
    }

    fn indexed(&mut self, access: Access, base: Option<usize>, target: i64) -> String {
        let Some((index, n)) = self.index(access) else {
            return format!("arena+{target}(%rip)");
        };
        let scale = self.scale();
        match base.map(|b| (b, self.regs[b])) {
            Some((base, Value::Arena(at))) => {
                let (base8, index8) = (name(base, 8), name(index, 8));
                // As index, unscaled, the address itself is as good.
                if scale == 1 && self.rng.once_in(2) {
                    return format!("{}({index8},{base8})", disp(target - at - n));
                }
                format!(
                    "{}({base8},{index8},{scale})",
                    disp(target - at - n * scale)
                )
            }
            _ => format!("arena{:+}(,{},{scale})", target - n * scale, name(index, 8)),
        }
    }

    /// 32-bit addressing: the registers' upper halves do not count.
    fn narrow(&mut self, access: Access, target: i64) -> String {
        let among = |r: usize| r < 8 || !access.legacy;
        let near = Value::Dirty(self.near(target));
        let wanted = |v| matches!(v, Value::Dirty(_) | Value::Arena(_));
        let Some(base) = self.holding(among, wanted, near) else {
            return format!("arena+{target}(%rip)");
        };
        let (Value::Dirty(at) | Value::Arena(at)) = self.regs[base] else {
            return format!("arena+{target}(%rip)");
        };
        let base4 = name(base, 4);
        if self.rng.once_in(2)
            && let Some((index, n)) = self.index(access)
        {
            if let Value::Dirty(at) | Value::Arena(at) = self.regs[base] {
                let scale = self.scale();
                let shift = disp(target - at - n * scale);
                return format!("{shift}({base4},{},{scale})", name(index, 4));
            }
            return format!("arena+{target}(%rip)");
        }
        format!("{}({base4})", disp(target - at))
    }

    /// The red zone, or what lies above the block's frame.
    fn on_stack(&mut self, access: Access) -> String {
        let depth = self.depth();
        let (low, high) = if access.bytes <= 64 && self.rng.once_in(2) {
            (depth - 128, depth - access.bytes)
        } else {
            (STACK_TOP, STACK_TOP + 1024)
        };
        let mut at = self.rng.range(low, high + 1) / access.align * access.align;
        if at < low {
            at += access.align;
        }
        if self.rng.once_in(2)
            && let Some((index, n)) = self.index(access)
        {
            let scale = self.scale();
            let shift = disp(at - depth - n * scale);
            return format!("{shift}({},{},{scale})", name(RSP, 8), name(index, 8));
        }
        let base = self.find(|r, v| matches!(v, Value::Stack(_)) && (r < 8 || !access.legacy));
        match base.map(|b| (b, self.regs[b])) {
            Some((base, Value::Stack(from))) => format!("{}({})", disp(at - from), name(base, 8)),
            _ => format!("{}(%rsp)", disp(at - depth)),
        }
    }

    fn in_thread(&mut self, access: Access) -> String {
        if access.bytes > LOCAL {
            let target = self.target(access.bytes, access.align);
            return format!("arena+{target}(%rip)");
        }
        let at = self.rng.range(0, LOCAL - access.bytes + 1) / access.align * access.align;
        if self.rng.once_in(2)
            && let Some((index, n)) = self.index(access)
        {
            let scale = self.scale();
            let shift = at - n * scale;
            return format!("%fs:local@tpoff{shift:+}(,{},{scale})", name(index, 8));
        }
        format!("%fs:local@tpoff+{at}")
    }
}

fn disp(n: i64) -> String {
    if n == 0 { String::new() } else { n.to_string() }
}
