//! Instructions as text with places for operands.
//!
//! `{b}` `{w}` `{l}` `{q}` are general registers that are read, `{q!}` one that is written (and may
//! be read); `{h}` is one of ah to dh, or written with `!`; `{m8}` is memory of 8 bytes and `{m16a}`
//! aligned memory; `{i}` is an 8-bit immediate, `{I}` a signed 32-bit one, `{s}` a shift's count;
//! `{x}` `{y}` `{z}` are vector registers, capitals any of 32, `!` where they are written; `{k}` is
//! a mask register, `{zero}` clears what it leaves out or not,
//! `{vex}` stays as it is and chooses an encoding, `{mm}` an MMX register, `{L}` a lock prefix or none.

use super::features::Level;
use super::generate::Gen;
use super::memory::Access;
use super::regs::name;

/// A feature by its name in `/proc/cpuinfo`, and instructions that it brings.
pub type Table = &'static [(&'static str, &'static [&'static str])];

/// The places of `template` without their braces.
fn places(template: &str) -> impl Iterator<Item = &str> {
    template
        .split('{')
        .skip(1)
        .filter_map(|rest| rest.split_once('}').map(|(place, _)| place))
        // Broadcasts and roundings look alike: `{1to16}`, `{rn-sae}`.
        .filter(|place| place.starts_with(char::is_alphabetic) && !place.contains('-'))
}

impl Gen<'_> {
    /// A random instruction of `tables`; says whether there was one to emit.
    pub fn one_of(&mut self, tables: &[Table]) -> bool {
        let rows: Vec<_> = tables
            .iter()
            .flat_map(|t| t.iter())
            .filter(|(feature, _)| feature.split(' ').all(|f| self.features.has(f)))
            .collect();
        if rows.is_empty() {
            return false;
        }
        // Rows by their length, so that each instruction is as likely as the next.
        let all: usize = rows.iter().map(|r| r.1.len()).sum();
        let mut at = self.rng.below(all);
        for (_, templates) in rows {
            if let Some(template) = templates.get(at) {
                return self.instruction(template);
            }
            at -= templates.len();
        }
        false
    }

    /// Emits `template` with operands; says whether there were registers for it.
    pub fn instruction(&mut self, template: &str) -> bool {
        // Across lines these take the kernel ten milliseconds each, and are not otherwise special.
        let atomic = template.starts_with("{L}") || template.starts_with("xchg");
        let legacy = places(template).any(|p| p.starts_with('h'));
        let mut line = template.to_owned();
        // Memory first, as registers it needs are loaded before; what is written last.
        for pass in 0..3 {
            let found: Vec<String> = places(&line.clone()).map(str::to_owned).collect();
            for place in found {
                let when = match place.as_bytes() {
                    [b'm', b'm', ..] => 1,
                    [b'm', ..] => 0,
                    [.., b'!'] => 2,
                    _ => 1,
                };
                if when != pass {
                    continue;
                }
                let Some(operand) = self.operand(&place, legacy, atomic) else {
                    return false;
                };
                line = line.replacen(&format!("{{{place}}}"), &operand, 1);
            }
        }
        // These the engine does not know; found_blocks says what is wrong with them.
        let unknown = ["vpcompressb", "vpcompressw", "vpexpandw"];
        if line.contains("%fs") && unknown.iter().any(|u| line.starts_with(u)) {
            return false;
        }
        // Of every one, the upper half.
        if line == "vzeroupper" {
            self.written_vectors = u32::MAX;
        }
        self.emit(line);
        true
    }

    fn operand(&mut self, place: &str, legacy: bool, atomic: bool) -> Option<String> {
        let written = place.ends_with('!');
        let kind = place.trim_end_matches('!');
        Some(match kind {
            "b" | "w" | "l" | "q" => {
                let bytes = 1 << "bwlq".find(kind)?;
                // Byte registers of the first four only: others need a prefix.
                let among = |r: usize| !legacy || r < if bytes == 1 { 4 } else { 8 };
                let reg = if written {
                    let reg = self.victim(among)?;
                    self.set(reg, super::regs::Value::Data);
                    reg
                } else {
                    self.find(|r, _| among(r))?
                };
                name(reg, bytes)
            }
            "h" => {
                let reg = if written {
                    let reg = self.victim(|r| r < 4)?;
                    self.set(reg, super::regs::Value::Data);
                    reg
                } else {
                    self.rng.below(4)
                };
                ["%ah", "%ch", "%dh", "%bh"][reg].into()
            }
            "x" | "y" | "z" | "X" | "Y" | "Z" => {
                let upper = kind == kind.to_uppercase() && self.features.level == Level::Avx512;
                let reg = self.rng.below(if upper { 32 } else { 16 });
                if written {
                    self.written_vectors |= 1 << reg;
                }
                format!("%{}mm{reg}", kind.to_lowercase())
            }
            "k" => format!("%k{}", self.rng.range(1, 8)),
            "mm" => format!("%mm{}", self.rng.below(8)),
            "st" => format!("%st({})", self.rng.below(8)),
            "i" => format!("${}", self.rng.below(256)),
            "s" => format!("${}", self.rng.below(32)),
            "I" => format!("${}", self.rng.next() as u32 as i32),
            "vex" => "{vex}".into(),
            "zero" => (*self.rng.pick(&["", "{z}"])).into(),
            "L" => (*self.rng.pick(&["", "lock "])).into(),
            _ => {
                let aligned = atomic || kind.ends_with('a');
                let bytes = kind[1..].trim_end_matches('a').parse().ok()?;
                let align = if aligned { bytes } else { 1 };
                self.mem(Access {
                    bytes,
                    align,
                    legacy,
                })
            }
        })
    }
}
