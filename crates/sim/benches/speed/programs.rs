//! The operations that are simulated.

use std::convert::Infallible;

use prestore_sim::{Next, Op, OpKind, Source};
use prestore_trace::{FlushKind, SiteId};

use crate::ACCESSES;

/// A made-up program.
pub struct Program {
    pub name: &'static str,
    threads: u32,
    /// Kind, address and size of a thread's operation of this number.
    op: fn(u32, u64) -> (OpKind, u64, u32),
    /// Accesses among a hundred operations.
    accesses: u64,
}

/// All of them.
pub const ALL: &[Program] = &[
    Program {
        name: "L1-friendly, 1 thread",
        threads: 1,
        op: friendly,
        accesses: 100,
    },
    Program {
        name: "listing 1, 1 thread",
        threads: 1,
        op: listing1,
        accesses: 100,
    },
    Program {
        name: "listing 1, 2 threads",
        threads: 2,
        op: listing1,
        accesses: 100,
    },
    Program {
        name: "listing 1 cleaned, 2 threads",
        threads: 2,
        op: cleaned,
        accesses: 50,
    },
];

/// Two loads and a store in 16 KiB.
fn friendly(thread: u32, i: u64) -> (OpKind, u64, u32) {
    let base = u64::from(thread) << 40;
    match i % 3 {
        2 => (OpKind::Store, base + i * 8 % 16384, 8),
        _ => (OpKind::Load, base + i * 24 % 16384, 8),
    }
}

/// A line at a time of elements of 1 KiB at random places among 1 GiB: as `memcpy` writes them.
fn listing1(thread: u32, i: u64) -> (OpKind, u64, u32) {
    let element = i / 16 + (u64::from(thread) << 40);
    let place = element.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 44;
    (OpKind::Store, place * 1024 + i % 16 * 64, 64)
}

/// The same, each line cleaned at once.
fn cleaned(thread: u32, i: u64) -> (OpKind, u64, u32) {
    let (kind, addr, size) = listing1(thread, i / 2);
    match i % 2 {
        0 => (kind, addr, size),
        _ => (OpKind::Flush(FlushKind::Clwb), addr, 0),
    }
}

impl Program {
    /// Its operations, [`ACCESSES`] accesses in all.
    pub fn source(&self) -> Made<'_> {
        let each = ACCESSES * 100 / self.accesses / u64::from(self.threads);
        Made {
            program: self,
            each,
            next: vec![0; self.threads as usize],
        }
    }
}

/// A program under way.
pub struct Made<'p> {
    program: &'p Program,
    each: u64,
    next: Vec<u64>,
}

impl Source for Made<'_> {
    type Error = Infallible;

    fn threads(&self) -> u32 {
        self.program.threads
    }

    fn fill(&mut self, thread: u32, ops: &mut Vec<Op>) -> Result<Next, Infallible> {
        let from = self.next[thread as usize];
        let to = self.each.min(from + 4096);
        ops.extend((from..to).map(|i| {
            let (kind, addr, size) = (self.program.op)(thread, i);
            Op {
                instr: i * 4,
                addr,
                size,
                site: SiteId::NONE,
                kind,
                after: 0,
            }
        }));
        self.next[thread as usize] = to;
        Ok(if to == self.each {
            Next::End { instrs: to * 4 }
        } else {
            Next::More
        })
    }
}
