//! A `memcpy` with the store order of vectorised C libraries: pairs of overlapping vectors for
//! small sizes; for large ones a loop of four aligned vectors, then the last four, then the first.

use super::{GENERIC, Program};

const V: u64 = 32;

/// Its blocks. Sources are not read: what is tested is the order of the stores.
pub struct Copy {
    upto_64: u32,
    upto_128: u32,
    upto_256: u32,
    iteration: u32,
    tail: u32,
    down: u32,
    head: u32,
}

impl Copy {
    pub fn new(p: &mut Program) -> Self {
        let v = V as u32;
        let ends = |n: i64| (0..n).map(|i| i * V as i64);
        let mut small = p.block(GENERIC, 0).compute(4);
        small = small.store(0, 0, v).store(1, -(V as i64), v);
        let upto_64 = small.ret().done();
        let mut four = p.block(GENERIC, 10).compute(6);
        for at in ends(2) {
            four = four.store(0, at, v);
        }
        for at in ends(2) {
            four = four.store(1, -(V as i64) - at, v);
        }
        let upto_128 = four.ret().done();
        let mut eight = p.block(GENERIC, 20).compute(12);
        for at in ends(4) {
            eight = eight.store(0, at, v);
        }
        for at in ends(4) {
            eight = eight.store(1, -(V as i64) - at, v);
        }
        let upto_256 = eight.ret().done();
        let mut body = p.block(GENERIC, 30).compute(5);
        for at in ends(4) {
            body = body.store(0, at, v);
        }
        let iteration = body.compute(3).done();
        let mut last = p.block(GENERIC, 40);
        for at in ends(4) {
            last = last.store(1, -(V as i64) - at, v);
        }
        let tail = last.store(0, 0, v).ret().done();
        let mut body = p.block(GENERIC, 50).compute(5);
        for at in ends(4) {
            body = body.store(0, 3 * V as i64 - at, v);
        }
        let down = body.compute(3).done();
        let mut first = p.block(GENERIC, 60);
        for at in ends(4) {
            first = first.store(0, at, v);
        }
        let head = first.store(1, -(V as i64), v).ret().done();
        Self {
            upto_64,
            upto_128,
            upto_256,
            iteration,
            tail,
            down,
            head,
        }
    }

    /// Copies more than 256 bytes from the end on, as glibc does where source and destination lie alike in their pages.
    pub fn run_down(&self, p: &mut Program, thread: u32, to: u64, n: u64) {
        let mut at = (to + n - 4 * V - 1) & !(V - 1);
        while at > to {
            p.run(thread, self.down, &[at]);
            at -= 4 * V;
        }
        p.run(thread, self.head, &[to, to + n]);
    }

    /// Copies `n` bytes, at least a vector's, to `to`.
    pub fn run(&self, p: &mut Program, thread: u32, to: u64, n: u64) {
        assert!(n >= V);
        let end = to + n;
        if n > 8 * V {
            let mut at = (to | (V - 1)) + 1;
            while at < end - 4 * V {
                p.run(thread, self.iteration, &[at]);
                at += 4 * V;
            }
            return p.run(thread, self.tail, &[to, end]);
        }
        let block = match n {
            ..=64 => self.upto_64,
            65..=128 => self.upto_128,
            _ => self.upto_256,
        };
        p.run(thread, block, &[to, end]);
    }
}
