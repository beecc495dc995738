//! GEMM in Goto's six ways (P4, chapter 4; Goto and van de Geijn 2008) and without blocks.
//!
//! The outer loops differ in which of the three matrices is cut first, the kernel within in which block stays near the
//! core. `C = A * B`, square, of 8-byte numbers.

mod blocks;
mod variant;

use std::ops::Range;

use super::values::value;
use crate::{Array, Arrays, Dependence, Kernel, Medium, Nest, Order};
use blocks::{InPlace, Panel, multiply};
pub use variant::{Packing, Persistence, Variant};

/// One way of computing the product.
#[derive(Clone, Copy, Debug)]
pub struct Gemm {
    variant: Variant,
    n: usize,
    block: usize,
    packing: Packing,
    persistence: Persistence,
}

const A: usize = 0;
const B: usize = 1;
const C: usize = 2;

/// A worker's packed blocks, and the sums of the block that it computes.
#[derive(Default)]
pub struct Buffers {
    left: Panel,
    right: Panel,
    sums: Vec<f64>,
}

impl Gemm {
    /// The number of the array with the result.
    pub const RESULT: usize = C;

    /// Matrices of `n` by `n`; `block` divides `n`.
    ///
    /// # Panics
    /// It does not.
    pub fn new(
        variant: Variant,
        n: usize,
        block: usize,
        packing: Packing,
        persistence: Persistence,
    ) -> Gemm {
        assert!(block > 0 && n > 0 && n.is_multiple_of(block));
        Gemm {
            variant,
            n,
            block,
            packing,
            persistence,
        }
    }

    /// Blocks in a row.
    fn across(&self) -> usize {
        self.n / self.block
    }

    /// Rows and columns of a region's tile of `C`.
    fn tile(&self) -> (usize, usize) {
        match (self.persistence, self.variant.goes_by_rows()) {
            (Persistence::Eager, _) => (self.block, self.block),
            (Persistence::Lazy, true) => (self.block, self.n),
            (Persistence::Lazy, false) => (self.n, self.block),
        }
    }

    /// A region's blocks of `C`, by row and column of blocks, in the order in which they are computed.
    fn blocks(&self, region: usize) -> impl Iterator<Item = (usize, usize)> {
        let (across, by_rows) = (self.across(), self.variant.goes_by_rows());
        let numbers = match self.persistence {
            Persistence::Eager => region..region + 1,
            Persistence::Lazy => region * across..(region + 1) * across,
        };
        numbers.map(move |number| {
            let (outer, inner) = (number / across, number % across);
            if by_rows {
                (outer, inner)
            } else {
                (inner, outer)
            }
        })
    }

    /// Whether a region is brought up in several iterations, each with one block of `K`.
    fn is_carried(&self) -> bool {
        match self.variant {
            Variant::Gepp1 | Variant::Gepp2 => true,
            Variant::Gepm1 | Variant::Gemp1 => self.persistence == Persistence::Eager,
            Variant::Gepm2 | Variant::Gemp2 | Variant::Naive => false,
        }
    }

    /// Whether the iterations finish panel after panel of `C`.
    fn panel_by_panel(&self) -> bool {
        self.is_carried() && matches!(self.variant, Variant::Gepm1 | Variant::Gemp1)
    }

    /// Adds the product of a block of `A` and one of `B` to the sums.
    fn add_product<M: Medium>(
        &self,
        arrays: &Arrays<'_, M>,
        buffers: &mut Buffers,
        (row, column): (usize, usize),
        depth: usize,
    ) {
        let (across, block) = (self.across(), self.block);
        let place = |array, row: usize, column: usize| InPlace {
            numbers: arrays.of::<f64>(array),
            stride: self.n,
            first: (row * self.n + column) * block,
        };
        let (left, right) = (place(A, row, depth), place(B, depth, column));
        if self.packing == Packing::Off {
            multiply(&left, &right, block, &mut buffers.sums);
            return;
        }
        // What is used again stays packed while the others pass (P4's figure 4.1); what is not takes the place of the block before.
        let (left_once, right_once) = ((row * across + depth, 0), (depth * across + column, 0));
        let (of_left, of_right) = match self.variant {
            Variant::Gepp1 => (left_once, (depth, column)),
            Variant::Gepp2 => ((depth, row), right_once),
            Variant::Gepm1 | Variant::Gemp1 => (left_once, right_once),
            Variant::Gepm2 => ((row, depth), right_once),
            Variant::Gemp2 | Variant::Naive => (left_once, (column, depth)),
        };
        let left = buffers.left.block(of_left, block, &left);
        let right = buffers.right.block(of_right, block, &right);
        multiply(&left, &right, block, &mut buffers.sums);
    }

    /// Adds the sums to a block of `C`, or stores them there.
    fn store<M: Medium>(
        &self,
        arrays: &Arrays<'_, M>,
        sums: &[f64],
        (row, column): (usize, usize),
        add: bool,
    ) {
        let c = arrays.of::<f64>(C);
        for (i, sums) in sums.chunks(self.block).enumerate() {
            let first = (row * self.block + i) * self.n + column * self.block;
            for (at, sum) in (first..).zip(sums) {
                c.put(at, if add { c.get(at) + sum } else { *sum });
            }
        }
    }

    /// A region without blocks, row by row.
    fn naive<M: Medium>(&self, arrays: &Arrays<'_, M>, region: usize) {
        let (a, b, c) = (
            arrays.of::<f64>(A),
            arrays.of::<f64>(B),
            arrays.of::<f64>(C),
        );
        let (n, block) = (self.n, self.block);
        let across = n / self.tile().1;
        let (row, column) = (region / across, region % across);
        for i in row * block..(row + 1) * block {
            for j in column * self.tile().1..(column + 1) * self.tile().1 {
                let mut sum = 0.0;
                for k in 0..n {
                    sum += a.get(i * n + k) * b.get(k * n + j);
                }
                c.put(i * n + j, sum);
            }
        }
    }
}

// SAFETY: a step writes its tile of `C` and reads `A` and `B`, which nobody writes.
unsafe impl Kernel for Gemm {
    type Scratch = Buffers;

    fn nest(&self) -> Nest {
        let (n, (rows, columns)) = (self.n, self.tile());
        let on = |yes, text| if yes { text } else { "" };
        let result = Array::output(n, 8 * n, rows, 8 * columns);
        Nest {
            name: format!(
                "{}{}{}",
                self.variant,
                on(self.persistence == Persistence::Lazy, " lazy"),
                on(self.packing == Packing::On, " packed")
            ),
            outer: match (self.is_carried(), self.panel_by_panel()) {
                (false, _) => 1,
                (true, false) => self.across(),
                (true, true) => self.across() * self.across(),
            },
            arrays: vec![
                Array::input(n, 8 * n),
                Array::input(n, 8 * n),
                if self.variant.goes_by_rows() {
                    result
                } else {
                    result.by_columns()
                },
            ],
            dependence: if self.is_carried() {
                Dependence::Carried
            } else {
                Dependence::Fresh
            },
            order: Order::Apart,
        }
    }

    fn init<M: Medium>(&self, arrays: &Arrays<'_, M>) {
        for (seed, array) in [(7, A), (8, B)] {
            let numbers = arrays.of::<f64>(array);
            for at in 0..numbers.len() {
                numbers.put(at, value(seed, at));
            }
        }
    }

    fn reset<M: Medium>(&self, arrays: &Arrays<'_, M>, region: usize) {
        let zeros = vec![0.0; self.block * self.block];
        for place in self.blocks(region) {
            self.store(arrays, &zeros, place, false);
        }
    }

    fn step<M: Medium>(
        &self,
        arrays: &Arrays<'_, M>,
        buffers: &mut Buffers,
        outer: usize,
        region: usize,
    ) {
        let across = self.across();
        buffers.sums.resize(self.block * self.block, 0.0);
        if self.variant == Variant::Naive {
            self.naive(arrays, region);
        } else if self.variant.writes_once() {
            for place in self.blocks(region) {
                buffers.sums.fill(0.0);
                for depth in 0..across {
                    self.add_product(arrays, buffers, place, depth);
                }
                self.store(arrays, &buffers.sums, place, false);
            }
        } else {
            let depths = if self.is_carried() {
                outer % across..outer % across + 1
            } else {
                0..across
            };
            for depth in depths {
                for place in self.blocks(region) {
                    buffers.sums.fill(0.0);
                    self.add_product(arrays, buffers, place, depth);
                    let add = self.is_carried() || depth > 0;
                    self.store(arrays, &buffers.sums, place, add);
                }
            }
        }
    }

    fn regions(&self, outer: usize) -> Range<usize> {
        if self.panel_by_panel() {
            let panel = outer / self.across();
            panel * self.across()..(panel + 1) * self.across()
        } else {
            0..usize::MAX
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Memory;

    /// What a worker has packed after the whole product: numbers of A and of B.
    fn packed(variant: Variant) -> (usize, usize) {
        const N: usize = 8;
        let gemm = Gemm::new(variant, N, 2, Packing::On, Persistence::Eager);
        let memory = Memory::new(3 * N * N * 8);
        let places = [0, 1, 2].map(|array| (array * N * N * 8, N * N * 8));
        let arrays = Arrays::new(&memory, &places);
        gemm.init(&arrays);
        let mut buffers = Buffers::default();
        for outer in 0..gemm.nest().outer {
            let regions = gemm.regions(outer);
            for region in regions.start..regions.end.min(gemm.across() * gemm.across()) {
                gemm.step(&arrays, &mut buffers, outer, region);
            }
        }
        (buffers.left.numbers.len(), buffers.right.numbers.len())
    }

    /// What is not used again would only drive out of the caches what is.
    #[test]
    fn a_panel_is_packed_only_where_it_is_used_again() {
        let (block, panel) = (4, 16);
        for (variant, expected) in [
            (Variant::Gepp1, (block, panel)),
            (Variant::Gepp2, (panel, block)),
            (Variant::Gepm1, (block, block)),
            (Variant::Gepm2, (panel, block)),
            (Variant::Gemp1, (block, block)),
            (Variant::Gemp2, (block, panel)),
        ] {
            assert_eq!(packed(variant), expected, "{variant}");
        }
    }
}
