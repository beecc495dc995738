//! Fast Fourier transform in six steps (Bailey 1990), as Splash-2 has it: a square matrix, transforms of rows, and
//! transpositions between.

use std::f64::consts::PI;

use super::values::value;
use crate::{Array, Arrays, Dependence, Elements, Kernel, Medium, Nest, Order};

/// `side * side` complex points, a row of `side` points each, real and imaginary part in turn.
///
/// Each of the three iterations reads one array by columns and writes the other by rows, so that torn rows are just
/// done again; transforming within one array could not be repeated.
#[derive(Clone, Debug)]
pub struct Fft {
    side: usize,
    block: usize,
    /// `exp(-2 pi i k / side²)` for every k, real and imaginary part in turn.
    roots: Vec<f64>,
}

impl Fft {
    /// The number of the array with the result.
    pub const RESULT: usize = 1;

    /// `side` (a power of 2) squared points, made durable by blocks of `block` rows.
    ///
    /// # Panics
    /// `side` is not a power of 2, or the block is empty.
    pub fn new(side: usize, block: usize) -> Fft {
        assert!(side.is_power_of_two() && block > 0);
        let points = side * side;
        let roots = (0..points).flat_map(|k| {
            let (sin, cos) = (-2.0 * PI * k as f64 / points as f64).sin_cos();
            [cos, sin]
        });
        Fft {
            side,
            block,
            roots: roots.collect(),
        }
    }

    fn root(&self, k: usize) -> (f64, f64) {
        (self.roots[2 * k], self.roots[2 * k + 1])
    }

    fn start<M: Medium>(&self, arrays: &Arrays<'_, M>, rows: std::ops::Range<usize>) {
        let given = arrays.of::<f64>(0);
        for at in 2 * rows.start * self.side..2 * rows.end.min(self.side) * self.side {
            given.put(at, value(6, at));
        }
    }

    /// Radix 2, in place.
    fn transform<M: Medium>(&self, row: &Row<'_, M>) {
        let side = self.side;
        let shift = usize::BITS - side.trailing_zeros();
        for i in 1..side {
            let j = i.reverse_bits().checked_shr(shift).unwrap_or(0);
            if i < j {
                let (a, b) = (row.get(i), row.get(j));
                row.put(i, b);
                row.put(j, a);
            }
        }
        let mut half = 1;
        while half < side {
            for low in (0..side).filter(|low| low & half == 0) {
                let factor = self.root((low % half) * (side / (2 * half)) * side);
                let (a, b) = (row.get(low), times(row.get(low + half), factor));
                row.put(low, (a.0 + b.0, a.1 + b.1));
                row.put(low + half, (a.0 - b.0, a.1 - b.1));
            }
            half *= 2;
        }
    }
}

struct Row<'a, M> {
    numbers: Elements<'a, f64, M>,
    first: usize,
}

impl<M: Medium> Row<'_, M> {
    fn get(&self, at: usize) -> (f64, f64) {
        let at = 2 * (self.first + at);
        (self.numbers.get(at), self.numbers.get(at + 1))
    }

    fn put(&self, at: usize, (re, im): (f64, f64)) {
        let at = 2 * (self.first + at);
        self.numbers.put(at, re);
        self.numbers.put(at + 1, im);
    }
}

fn times(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

// SAFETY: a step writes its rows of one array and reads the other.
unsafe impl Kernel for Fft {
    type Scratch = ();

    fn nest(&self) -> Nest {
        let row_bytes = 16 * self.side;
        let points = || Array::output(self.side, row_bytes, self.block, row_bytes);
        Nest {
            name: "fft".to_string(),
            outer: 3,
            arrays: vec![points().in_phase(2, 1), points().in_phase(2, 0)],
            dependence: Dependence::Fresh,
            order: Order::Together,
        }
    }

    fn init<M: Medium>(&self, arrays: &Arrays<'_, M>) {
        self.start(arrays, 0..self.side);
    }

    fn reset<M: Medium>(&self, arrays: &Arrays<'_, M>, region: usize) {
        self.start(arrays, region * self.block..(region + 1) * self.block);
    }

    fn step<M: Medium>(&self, arrays: &Arrays<'_, M>, _: &mut (), outer: usize, region: usize) {
        let side = self.side;
        let (from, to) = (
            arrays.of::<f64>(outer % 2),
            arrays.of::<f64>((outer + 1) % 2),
        );
        let from = Row {
            numbers: from,
            first: 0,
        };
        for y in region * self.block..((region + 1) * self.block).min(side) {
            let row = Row {
                numbers: to,
                first: y * side,
            };
            for x in 0..side {
                row.put(x, from.get(x * side + y));
            }
            if outer == 2 {
                continue;
            }
            self.transform(&row);
            if outer == 0 {
                for x in 1..side {
                    row.put(x, times(row.get(x), self.root(x * y)));
                }
            }
        }
    }
}
