//! Gaussian elimination: a system of equations brought to triangular form, one pivot an iteration.

use std::ops::Range;

use super::values::value;
use crate::{Array, Arrays, Dependence, Kernel, Medium, Nest, Order};

/// `n` equations, a row each with its right side at the end; without exchange of rows, as the diagonal dominates.
///
/// It works in place. What a step reads besides its own rows is the pivot's row, which no later iteration changes; a
/// torn block of rows is computed anew from the system as it was given, which is kept.
#[derive(Clone, Copy, Debug)]
pub struct Gauss {
    n: usize,
    block: usize,
    iterations: usize,
}

const GIVEN: usize = 0;
const WORK: usize = 1;

impl Gauss {
    /// The number of the array with the result.
    pub const RESULT: usize = WORK;

    /// `n` equations, made durable by blocks of `block` rows.
    ///
    /// # Panics
    /// There are less than two, or a block is empty.
    pub fn new(n: usize, block: usize) -> Gauss {
        assert!(n > 1 && block > 0);
        Gauss {
            n,
            block,
            iterations: n - 1,
        }
    }

    /// Only so many iterations of the outermost loop, to look at a part of a long run.
    pub fn iterations(mut self, iterations: usize) -> Gauss {
        self.iterations = self.iterations.min(iterations.max(1));
        self
    }

    fn rows(&self, region: usize) -> Range<usize> {
        region * self.block..((region + 1) * self.block).min(self.n)
    }

    fn width(&self) -> usize {
        self.n + 1
    }
}

// SAFETY: a step writes rows of its region behind the pivot's; the pivot's row is not written in its iteration.
unsafe impl Kernel for Gauss {
    type Scratch = ();

    fn nest(&self) -> Nest {
        let row_bytes = 8 * self.width();
        Nest {
            name: "gauss".to_string(),
            outer: self.iterations,
            arrays: vec![
                Array::input(self.n, row_bytes),
                Array::output(self.n, row_bytes, self.block, row_bytes),
            ],
            dependence: Dependence::Carried,
            order: Order::Together,
        }
    }

    fn init<M: Medium>(&self, arrays: &Arrays<'_, M>) {
        let given = arrays.of::<f64>(GIVEN);
        for row in 0..self.n {
            for column in 0..self.width() {
                let at = row * self.width() + column;
                let dominant = if row == column { self.n as f64 } else { 0.0 };
                given.put(at, value(3, at) + dominant);
            }
        }
    }

    fn reset<M: Medium>(&self, arrays: &Arrays<'_, M>, region: usize) {
        let (given, work) = (arrays.of::<f64>(GIVEN), arrays.of::<f64>(WORK));
        let rows = self.rows(region);
        for at in rows.start * self.width()..rows.end * self.width() {
            work.put(at, given.get(at));
        }
    }

    fn step<M: Medium>(&self, arrays: &Arrays<'_, M>, _: &mut (), pivot: usize, region: usize) {
        let work = arrays.of::<f64>(WORK);
        let (width, rows) = (self.width(), self.rows(region));
        for row in rows.start.max(pivot + 1)..rows.end {
            let factor = work.get(row * width + pivot) / work.get(pivot * width + pivot);
            work.put(row * width + pivot, 0.0);
            for column in pivot + 1..width {
                let at = row * width + column;
                work.put(at, work.get(at) - factor * work.get(pivot * width + column));
            }
        }
    }

    /// Blocks all of whose rows have been pivots do not change any more.
    fn regions(&self, pivot: usize) -> Range<usize> {
        (pivot + 1) / self.block..self.n.div_ceil(self.block)
    }
}
