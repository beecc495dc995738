//! LU decomposition by blocks, right-looking, without exchange of rows.

use std::ops::Range;

use super::values::value;
use crate::{Array, Arrays, Dependence, Elements, Kernel, Medium, Nest, Order};

/// A matrix of `n` by `n` becomes its factors in place: below the diagonal L, whose diagonal is 1, and above it U.
///
/// Each block of the diagonal is three iterations of the outermost loop: the block itself, those beside and below it,
/// those behind both. A block of each kind reads only blocks that were final an iteration before, so that a torn one can
/// be computed anew from the matrix as it was given, which is kept.
#[derive(Clone, Copy, Debug)]
pub struct Lu {
    n: usize,
    block: usize,
    iterations: usize,
}

const GIVEN: usize = 0;
const WORK: usize = 1;

/// The part of a diagonal block's work that an iteration does.
#[derive(PartialEq)]
enum Part {
    Diagonal,
    Perimeter,
    Interior,
}

impl Lu {
    /// The number of the array with the result.
    pub const RESULT: usize = WORK;

    /// A matrix of `n` by `n`; `block` divides `n`.
    ///
    /// # Panics
    /// It does not.
    pub fn new(n: usize, block: usize) -> Lu {
        assert!(block > 0 && n > 0 && n.is_multiple_of(block));
        Lu {
            n,
            block,
            iterations: 3 * (n / block),
        }
    }

    /// Only so many diagonal blocks, to look at a part of a long run.
    pub fn iterations(mut self, diagonal_blocks: usize) -> Lu {
        self.iterations = self.iterations.min(3 * diagonal_blocks.max(1));
        self
    }

    fn part(outer: usize) -> (usize, Part) {
        let part = match outer % 3 {
            0 => Part::Diagonal,
            1 => Part::Perimeter,
            _ => Part::Interior,
        };
        (outer / 3, part)
    }

    fn across(&self) -> usize {
        self.n / self.block
    }

    /// Where the elements of a block's row are.
    fn row(&self, row: usize, block: usize) -> Range<usize> {
        let first = row * self.n + block * self.block;
        first..first + self.block
    }
}

/// `target -= factor * source`, element by element.
fn subtract<M: Medium>(
    work: Elements<'_, f64, M>,
    target: Range<usize>,
    factor: f64,
    source: Range<usize>,
) {
    for (to, from) in target.zip(source) {
        work.put(to, work.get(to) - factor * work.get(from));
    }
}

// SAFETY: a step writes its block and reads blocks that are written in earlier iterations only.
unsafe impl Kernel for Lu {
    type Scratch = ();

    fn nest(&self) -> Nest {
        Nest {
            name: "lu".to_string(),
            outer: self.iterations,
            arrays: vec![
                Array::input(self.n, 8 * self.n),
                Array::output(self.n, 8 * self.n, self.block, 8 * self.block),
            ],
            dependence: Dependence::Carried,
            order: Order::Together,
        }
    }

    fn init<M: Medium>(&self, arrays: &Arrays<'_, M>) {
        let given = arrays.of::<f64>(GIVEN);
        for at in 0..self.n * self.n {
            let dominant = if at / self.n == at % self.n {
                self.n as f64
            } else {
                0.0
            };
            given.put(at, value(4, at) + dominant);
        }
    }

    fn reset<M: Medium>(&self, arrays: &Arrays<'_, M>, region: usize) {
        let (given, work) = (arrays.of::<f64>(GIVEN), arrays.of::<f64>(WORK));
        let (down, right) = (region / self.across(), region % self.across());
        for row in down * self.block..(down + 1) * self.block {
            for at in self.row(row, right) {
                work.put(at, given.get(at));
            }
        }
    }

    fn step<M: Medium>(&self, arrays: &Arrays<'_, M>, _: &mut (), outer: usize, region: usize) {
        let work = arrays.of::<f64>(WORK);
        let (n, block) = (self.n, self.block);
        let (diagonal, part) = Lu::part(outer);
        let (down, right) = (region / self.across(), region % self.across());
        let (first, pivots) = (down * block, diagonal * block..(diagonal + 1) * block);
        for pivot in pivots {
            // L of this block's rows and this pivot: computed here left of the block's diagonal, else final.
            let rows = if down == diagonal { pivot + 1 } else { first }..first + block;
            for row in rows {
                let at = row * n + pivot;
                let factor = if right == diagonal {
                    let factor = work.get(at) / work.get(pivot * n + pivot);
                    work.put(at, factor);
                    factor
                } else {
                    work.get(at)
                };
                let behind = |row| {
                    let all = self.row(row, right);
                    if right == diagonal {
                        row * n + pivot + 1..all.end
                    } else {
                        all
                    }
                };
                subtract(work, behind(row), factor, behind(pivot));
            }
        }
        debug_assert!(part != Part::Diagonal || down == right);
    }

    /// Rows of blocks from the diagonal's on.
    fn regions(&self, outer: usize) -> Range<usize> {
        let across = self.across();
        let (diagonal, part) = Lu::part(outer);
        match part {
            Part::Diagonal => diagonal * (across + 1)..diagonal * (across + 1) + 1,
            Part::Perimeter => diagonal * across..across * across,
            Part::Interior => (diagonal + 1) * across..across * across,
        }
    }

    fn writes(&self, outer: usize, region: usize) -> bool {
        let (diagonal, part) = Lu::part(outer);
        let (down, right) = (region / self.across(), region % self.across());
        match part {
            Part::Diagonal => true,
            Part::Perimeter => (down == diagonal) != (right == diagonal) && right >= diagonal,
            Part::Interior => right > diagonal,
        }
    }
}
