//! Two-dimensional convolution, repeated.

use super::values::value;
use crate::{Array, Arrays, Dependence, Kernel, Medium, Nest, Order};

/// A picture of `n` by `n` is convolved with a mask of 3 by 3, `rounds` times, from one array to the other and back.
/// Outside the picture is zero.
///
/// A step writes rows that this round does not read, so that a torn one is just done again.
#[derive(Clone, Copy, Debug)]
pub struct Convolution {
    n: usize,
    block: usize,
    rounds: usize,
}

/// A smoothing mask, whose sum is 1.
const MASK: [[f64; 3]; 3] = [
    [0.0625, 0.125, 0.0625],
    [0.125, 0.25, 0.125],
    [0.0625, 0.125, 0.0625],
];

impl Convolution {
    /// `n` by `n`, made durable by blocks of `block` rows.
    ///
    /// # Panics
    /// One of the numbers is 0.
    pub fn new(n: usize, block: usize, rounds: usize) -> Convolution {
        assert!(n > 0 && block > 0 && rounds > 0);
        Convolution { n, block, rounds }
    }

    /// The number of the array with the result.
    pub fn result(&self) -> usize {
        self.rounds % 2
    }
}

// SAFETY: a step writes its rows of one array and reads the other.
unsafe impl Kernel for Convolution {
    type Scratch = ();

    fn nest(&self) -> Nest {
        let picture = || Array::output(self.n, 8 * self.n, self.block, 8 * self.n);
        Nest {
            name: "convolution".to_string(),
            outer: self.rounds,
            arrays: vec![picture().in_phase(2, 1), picture().in_phase(2, 0)],
            dependence: Dependence::Fresh,
            order: Order::Together,
        }
    }

    fn init<M: Medium>(&self, arrays: &Arrays<'_, M>) {
        let picture = arrays.of::<f64>(0);
        for at in 0..picture.len() {
            picture.put(at, value(5, at));
        }
    }

    /// Only where the picture itself was overwritten and there is no copy of it.
    fn reset<M: Medium>(&self, arrays: &Arrays<'_, M>, region: usize) {
        let picture = arrays.of::<f64>(0);
        for at in region * self.block * self.n..((region + 1) * self.block).min(self.n) * self.n {
            picture.put(at, value(5, at));
        }
    }

    fn step<M: Medium>(&self, arrays: &Arrays<'_, M>, _: &mut (), outer: usize, region: usize) {
        let n = self.n;
        let (from, to) = (
            arrays.of::<f64>(outer % 2),
            arrays.of::<f64>((outer + 1) % 2),
        );
        for row in region * self.block..((region + 1) * self.block).min(n) {
            for column in 0..n {
                let mut sum = 0.0;
                for (down, weights) in MASK.iter().enumerate() {
                    for (right, weight) in weights.iter().enumerate() {
                        let (y, x) = (row + down, column + right);
                        if (1..=n).contains(&y) && (1..=n).contains(&x) {
                            sum += weight * from.get((y - 1) * n + x - 1);
                        }
                    }
                }
                to.put(row * n + column, sum);
            }
        }
    }
}
