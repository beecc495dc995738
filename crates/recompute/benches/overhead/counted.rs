//! How much a scheme flushes.

use std::sync::atomic::{AtomicU64, Ordering};

use prestore_recompute::{Error, Kernel, Medium, Memory, Options, Session};

struct Counted {
    memory: Memory,
    lines: AtomicU64,
}

// SAFETY: the memory's.
unsafe impl Medium for Counted {
    fn base(&self) -> *mut u8 {
        self.memory.base()
    }

    fn len(&self) -> usize {
        self.memory.len()
    }

    fn flush(&self, at: usize, len: usize) {
        let lines = (at + len).div_ceil(64) - at / 64;
        self.lines.fetch_add(lines as u64, Ordering::Relaxed);
    }

    fn fence(&self) -> Result<(), Error> {
        Ok(())
    }
}

/// Bytes of the lines that a run flushes.
pub fn flushed<K: Kernel>(kernel: &K, options: Options) -> Result<u64, Error> {
    let memory = Counted {
        memory: Memory::new(Session::<K, Memory>::needs(kernel, options)?),
        lines: AtomicU64::new(0),
    };
    let mut session = Session::open(kernel, memory, options, "memory")?;
    let before = session.medium().lines.load(Ordering::Relaxed);
    session.run()?;
    Ok(64 * (session.medium().lines.load(Ordering::Relaxed) - before))
}
