//! How many stores, and how many instructions, a core holds at once: x86-64 Linux only.
//!
//! The usual method for such capacities: a chain of slow instructions, then a number of fillers, then the same again,
//! independent of the first. As long as the fillers fit, the second chain begins while the first is under way; once
//! they do not, it begins when the first is done, as it does where a fence is between. The code is made at run time,
//! as a loop around the fillers would fill the window, too.

use crate::Effort;
use crate::figure::Figure;

/// What fills the window.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Filler {
    /// Stores to one word: the store buffer.
    Stores,
    /// Instructions that do nothing: the reorder buffer.
    Nops,
}

impl Filler {
    /// Most fillers tried, and the distance of the numbers tried.
    const fn range(self) -> (usize, usize) {
        match self {
            Filler::Stores => (192, 2),
            Filler::Nops => (720, 8),
        }
    }

    const fn how(self) -> &'static str {
        match self {
            Filler::Stores => {
                "most stores between two chains of square roots that still overlap; to within 2"
            }
            Filler::Nops => {
                "most nops between two chains of square roots that still overlap; to within 16"
            }
        }
    }
}

/// Overlapping chains take at most this share of the time of those with a fence between.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
const OVERLAP: f64 = 0.8;

/// How many fillers fit; none where it cannot be measured.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(crate) fn capacity(filler: Filler, effort: Effort) -> Option<Figure> {
    let scans = effort.runs().div_ceil(8);
    let runs: Option<Vec<f64>> = (0..scans).map(|_| scan(filler)).collect();
    Figure::of(&runs?, "", filler.how())
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub(crate) fn capacity(filler: Filler, _: Effort) -> Option<Figure> {
    let _ = (filler.range(), filler.how());
    None
}

/// The largest number of fillers with which chains overlap; none if they always or never do.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn scan(filler: Filler) -> Option<f64> {
    let (most, step) = filler.range();
    let mut overlapping = None;
    for count in (0..=most).step_by(step) {
        let together = code::time(filler, count, false)?;
        let apart = code::time(filler, count, true)?;
        if together < apart * OVERLAP {
            overlapping = Some(count);
        }
    }
    overlapping
        .filter(|count| *count + step <= most)
        .map(|count| count as f64)
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod code {
    use std::ptr;

    use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

    use super::Filler;
    use crate::figure::ns;

    /// Square roots of a chain: longer than the fillers take to go through.
    const CHAIN: usize = 16;
    /// Chains of a run.
    const ROUNDS: u64 = 200;
    /// Runs; the shortest counts, as nothing makes code faster than it is.
    const RUNS: usize = 7;
    const ROOM: usize = 8192;

    /// Nanoseconds of `ROUNDS` chains with fillers between, and a fence if wished.
    pub fn time(filler: Filler, count: usize, fenced: bool) -> Option<f64> {
        let bytes = assemble(filler, count, fenced);
        let code = Code::new(&bytes)?;
        let times = (0..RUNS).map(|_| ns(|| code.run()));
        times.reduce(f64::min)
    }

    /// A C function of (rounds, a word to store to, a number whose root is taken).
    fn assemble(filler: Filler, count: usize, fenced: bool) -> Vec<u8> {
        let mut bytes = vec![0xf2, 0x0f, 0x10, 0x0a]; // movsd xmm1, [rdx]
        let top = bytes.len() as i32;
        bytes.extend([0x0f, 0x28, 0xc1]); // movaps xmm0, xmm1
        for _ in 0..CHAIN {
            bytes.extend([0xf2, 0x0f, 0x51, 0xc0]); // sqrtsd xmm0, xmm0
        }
        for _ in 0..count {
            match filler {
                Filler::Stores => bytes.extend([0x89, 0x06]), // mov [rsi], eax
                Filler::Nops => bytes.push(0x90),
            }
        }
        if fenced {
            bytes.extend([0x0f, 0xae, 0xe8]); // lfence
        }
        bytes.extend([0x48, 0xff, 0xcf, 0x0f, 0x85]); // dec rdi; jnz
        let after = bytes.len() as i32 + 4;
        bytes.extend((top - after).to_le_bytes());
        bytes.push(0xc3); // ret
        bytes
    }

    /// Executable memory.
    struct Code(*mut u8);

    impl Code {
        fn new(bytes: &[u8]) -> Option<Code> {
            if bytes.len() > ROOM {
                return None;
            }
            let writable = ProtFlags::READ | ProtFlags::WRITE;
            // SAFETY: a fresh mapping touches nothing that exists.
            let start =
                unsafe { mmap_anonymous(ptr::null_mut(), ROOM, writable, MapFlags::PRIVATE) };
            let code = Code(start.ok()?.cast());
            // SAFETY: `ROOM` bytes of its own, and the code is shorter. A system that forbids it says so.
            unsafe {
                code.0.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
                let executable = MprotectFlags::READ | MprotectFlags::EXEC;
                mprotect(code.0.cast(), ROOM, executable).ok()?;
            }
            Some(code)
        }

        fn run(&self) {
            let mut word = 0u64;
            let number = 1.5f64;
            // SAFETY: the memory holds a whole function of this signature, which stores to `word` only.
            unsafe {
                let function: extern "C" fn(u64, *mut u64, *const f64) =
                    std::mem::transmute(self.0);
                function(ROUNDS, &mut word, &number);
            }
            std::hint::black_box(word);
        }
    }

    impl Drop for Code {
        fn drop(&mut self) {
            // SAFETY: mapped by `new`; nothing runs in it any more.
            let _ = unsafe { munmap(self.0.cast(), ROOM) };
        }
    }
}
