//! String instructions: x86 only.

use serde::Serialize;

use crate::Effort;
use crate::buffer::Buffer;
use crate::figure::Figure;

/// `rep stosb` beside single stores.
#[derive(Clone, Debug, Serialize)]
pub struct StringStores {
    /// A piece of 4 KiB in memory, by `rep stosb`.
    pub piece: Figure,
    /// The same by single stores.
    pub piece_by_stores: Figure,
    /// A piece of 256 B by `rep stosb`, then cleaned; none where nothing cleans.
    pub cleaned: Option<Figure>,
    /// The same by single stores.
    pub cleaned_by_stores: Option<Figure>,
}

/// Measures them; none where there are no such instructions.
#[cfg(target_arch = "x86_64")]
pub(crate) fn stores(effort: Effort, memory: &Buffer) -> Option<StringStores> {
    use prestore::Instruction;

    let by = |size, string, clean| fill::pieces(effort, memory, size, string, clean);
    let cleans = prestore::usable(Instruction::Clwb).then_some(Instruction::Clwb);
    Some(StringStores {
        piece: by(4096, true, None)?,
        piece_by_stores: by(4096, false, None)?,
        cleaned: cleans.and_then(|clean| by(256, true, Some(clean))),
        cleaned_by_stores: cleans.and_then(|clean| by(256, false, Some(clean))),
    })
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn stores(_: Effort, _: &Buffer) -> Option<StringStores> {
    None
}

impl StringStores {
    /// Lines are not read first: at least a seventh of the time is saved.
    pub fn unread(&self) -> bool {
        self.piece.value() < self.piece_by_stores.value() * (6.0 / 7.0)
    }

    /// They wait for the flushes before them: as long as half of a write-back of `ns` more than stores.
    pub fn after_flushes(&self, ns: f64) -> bool {
        let both = self.cleaned.as_ref().zip(self.cleaned_by_stores.as_ref());
        both.is_some_and(|(string, stores)| string.value() > stores.value() + ns / 2.0)
    }
}

#[cfg(target_arch = "x86_64")]
mod fill {
    use std::arch::asm;

    use prestore::Instruction;

    use crate::Effort;
    use crate::arch::compiler_barrier;
    use crate::buffer::{Buffer, LINE};
    use crate::chase::random_line;
    use crate::figure::{Figure, each};

    /// Time of pieces in random order.
    pub fn pieces(
        effort: Effort,
        memory: &Buffer,
        size: usize,
        string: bool,
        clean: Option<Instruction>,
    ) -> Option<Figure> {
        let (mut next, pieces) = (1u64, (memory.size() / size) as u64);
        let runs = each(effort, |times| {
            for _ in 0..times {
                let piece = random_line(&mut next, pieces) as usize;
                // SAFETY: the piece lies in the buffer.
                unsafe {
                    let piece = memory.start().add(piece * size);
                    fill(piece, size, string);
                    if let Some(clean) = clean {
                        prestore::execute(clean, piece, size);
                    }
                }
            }
        });
        let by = if string { "rep stosb" } else { "stores" };
        let then = clean.map_or(String::new(), |clean| format!(", then {clean}"));
        let how = format!("pieces of {size} B in random order, filled by {by}{then}");
        Figure::of(&runs, "ns", how)
    }

    /// # Safety
    /// `size` bytes, a multiple of lines, are writable.
    #[inline(always)]
    unsafe fn fill(piece: *mut u8, size: usize, string: bool) {
        // SAFETY: the caller's bytes; the direction flag is clear in Rust.
        unsafe {
            if string {
                asm!("rep stosb", inout("rdi") piece => _, inout("rcx") size => _, in("al") 1u8,
                    options(nostack, preserves_flags));
                return;
            }
            for line in (0..size).step_by(LINE) {
                piece.add(line).cast::<[u64; 8]>().write([1; 8]);
                compiler_barrier();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_strings_do_follows_from_times() {
        let ns = |value: f64| Figure::of(&[value], "ns", "").unwrap();
        let stores = |piece: f64, cleaned: f64| StringStores {
            piece: ns(piece),
            piece_by_stores: ns(200.0),
            cleaned: Some(ns(cleaned)),
            cleaned_by_stores: Some(ns(30.0)),
        };
        assert!(stores(160.0, 30.0).unread() && !stores(190.0, 30.0).unread());
        assert!(stores(160.0, 170.0).after_flushes(150.0));
        assert!(!stores(160.0, 90.0).after_flushes(150.0));
    }
}
