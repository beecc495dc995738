//! x87 and MMX, and state that is saved and restored.

use super::generate::Gen;
use super::regs::{RAX, RDX, Value};
use super::template::Table;

pub const X87: Table = &[(
    "",
    &[
        "flds {m4}",
        "fldl {m8}",
        "fldt {m10}",
        "fildll {m8}",
        "filds {m2}",
        "fildl {m4}",
        "fld1",
        "fldpi",
        "fsts {m4}",
        "fstpl {m8}",
        "fstpt {m10}",
        "fistpll {m8}",
        "fistl {m4}",
        "fisttpll {m8}",
        "fstp %st(0)",
        "fadds {m4}",
        "fmull {m8}",
        "faddp",
        "fsubrp",
        "fdivl {m8}",
        "fmul %st(1), %st",
        "fxch",
        "fchs",
        "fabs",
        "fsqrt",
        "frndint",
        "fcomi %st(1), %st",
        "fucomi %st(2), %st",
        "fcmovb %st(1), %st",
        "fcmovne %st(2), %st",
        "fbld {m10}",
        "fnstcw {m2}",
        "fincstp",
        "fdecstp",
        "ffree {st}",
        "fninit",
        "fiaddl {m4}",
        "ftst",
        "fxam",
    ],
)];

pub const MMX: Table = &[(
    "",
    &[
        "movq {m8}, {mm}",
        "movq {mm}, {m8}",
        "movd {m4}, {mm}",
        "movd {mm}, {m4}",
        "movq {mm}, {q!}",
        "movq {q}, {mm}",
        "paddb {m8}, {mm}",
        "pxor {mm}, {mm}",
        "pmaddwd {m8}, {mm}",
        "punpcklbw {m4}, {mm}",
        "psllq $3, {mm}",
        "movntq {mm}, {m8}",
        "pshufw {i}, {m8}, {mm}",
        "pmovmskb {mm}, {l!}",
        "pinsrw $2, {m2}, {mm}",
        "emms",
        "movq2dq {mm}, {x!}",
        "cvtpi2ps {m8}, {x!}",
        "pshufb {m8}, {mm}",
    ],
)];

impl Gen<'_> {
    /// Saves processor state, changes some, and restores it.
    pub fn saved_state(&mut self) -> bool {
        if self.locked > 0 {
            return false;
        }
        let mut mask = *self.rng.pick(&[3, 7, 0xe7, 2, 4, 0xe0]);
        if self.tiles.is_some() {
            mask |= 0x60000;
        }
        let (save, restore) = match self.rng.below(3) {
            0 => ("fxsave64", "fxrstor64"),
            1 => ("xsavec64", "xrstor64"),
            _ => ("xsave64", "xrstor64"),
        };
        let feature = save.trim_end_matches("64");
        if feature != "fxsave" && !self.features.has(feature) {
            return false;
        }
        if !self.load(RAX, Value::Int(mask)) || !self.load(RDX, Value::Int(0)) {
            return false;
        }
        if self.regs[RAX] != Value::Int(mask) {
            return false;
        }
        // The header says how the area is laid out, and xsave leaves half of it alone.
        self.emit("movq $0, saved+512(%rip)");
        self.emit("movq $0, saved+520(%rip)");
        self.emit(format!("{save} saved(%rip)"));
        self.locked += 1;
        for _ in 0..self.rng.range(1, 4) {
            if self.tiles.is_none() || self.rng.once_in(2) {
                self.vector();
            } else {
                self.tiles();
            }
        }
        self.locked -= 1;
        self.emit(format!("{restore} saved(%rip)"));
        if save == "fxsave64" {
            self.emit("fninit");
        }
        self.written_vectors = u32::MAX;
        true
    }

    /// What a save without an instruction's address says: the control and status words.
    pub fn control_words(&mut self) -> bool {
        let template = *self
            .rng
            .pick(&["stmxcsr {m4}", "fnstcw {m2}", "fnstsw {m2}"]);
        self.instruction(template)
    }
}
