//! Tiled matrix multiply, the six loops of P4's figure 2.5.

use super::values::value;
use crate::{Array, Arrays, Dependence, Kernel, Medium, Nest, Order};

/// The loop at whose end results are made durable (P4, 3.2.0.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Granularity {
    /// `ii`: a panel of the result, `block` rows.
    Ii,
    /// `jj`: a tile of `block` by `block`.
    Jj,
}

/// `c = a * b` for square matrices of 4-byte numbers, so that 16 of them are a cache line, as in P4's table 3.2.
#[derive(Clone, Copy, Debug)]
pub struct Tmm {
    n: usize,
    block: usize,
    granularity: Granularity,
    iterations: usize,
}

const A: usize = 0;
const B: usize = 1;
const C: usize = 2;

impl Tmm {
    /// The number of the array with the result.
    pub const RESULT: usize = C;

    /// Matrices of `n` by `n`; `block` divides `n`.
    ///
    /// # Panics
    /// It does not.
    pub fn new(n: usize, block: usize, granularity: Granularity) -> Tmm {
        assert!(block > 0 && n > 0 && n.is_multiple_of(block));
        Tmm {
            n,
            block,
            granularity,
            iterations: n / block,
        }
    }

    /// Only so many iterations of the outermost loop, to look at a part of a long run.
    pub fn iterations(mut self, iterations: usize) -> Tmm {
        self.iterations = self.iterations.min(iterations.max(1));
        self
    }

    /// The first row and column of a region, and how many columns it has.
    fn place(&self, region: usize) -> (usize, usize, usize) {
        let (n, block) = (self.n, self.block);
        match self.granularity {
            Granularity::Ii => (region * block, 0, n),
            Granularity::Jj => {
                let across = n / block;
                (region / across * block, region % across * block, block)
            }
        }
    }
}

// SAFETY: a step writes its tiles of `c` and reads `a` and `b`, which nobody writes.
unsafe impl Kernel for Tmm {
    type Scratch = ();

    fn nest(&self) -> Nest {
        let (n, block) = (self.n, self.block);
        let (name, tile_bytes) = match self.granularity {
            Granularity::Ii => ("tmm_ii", 4 * n),
            Granularity::Jj => ("tmm_jj", 4 * block),
        };
        Nest {
            name: name.to_string(),
            outer: self.iterations,
            arrays: vec![
                Array::input(n, 4 * n),
                Array::input(n, 4 * n),
                Array::output(n, 4 * n, block, tile_bytes),
            ],
            dependence: Dependence::Carried,
            order: Order::Apart,
        }
    }

    fn init<M: Medium>(&self, arrays: &Arrays<'_, M>) {
        for (seed, array) in [(1, A), (2, B)] {
            let numbers = arrays.of::<f32>(array);
            for at in 0..numbers.len() {
                numbers.put(at, value(seed, at) as f32);
            }
        }
    }

    fn reset<M: Medium>(&self, arrays: &Arrays<'_, M>, region: usize) {
        let c = arrays.of::<f32>(C);
        let (ii, jj, columns) = self.place(region);
        for i in ii..ii + self.block {
            for j in jj..jj + columns {
                c.put(i * self.n + j, 0.0);
            }
        }
    }

    fn step<M: Medium>(&self, arrays: &Arrays<'_, M>, _: &mut (), outer: usize, region: usize) {
        let (a, b, c) = (
            arrays.of::<f32>(A),
            arrays.of::<f32>(B),
            arrays.of::<f32>(C),
        );
        let (n, block) = (self.n, self.block);
        let (ii, first, columns) = self.place(region);
        let kk = outer * block;
        for jj in (first..first + columns).step_by(block) {
            for i in ii..ii + block {
                for j in jj..jj + block {
                    let mut sum = c.get(i * n + j);
                    for k in kk..kk + block {
                        sum += a.get(i * n + k) * b.get(k * n + j);
                    }
                    c.put(i * n + j, sum);
                }
            }
        }
    }
}
