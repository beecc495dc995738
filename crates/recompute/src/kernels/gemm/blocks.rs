//! Blocks of a matrix, where they are or packed, and their product.

use crate::{Elements, Medium};

/// Something to read a block's numbers from.
pub(super) trait Block {
    fn at(&self, row: usize, column: usize) -> f64;
}

/// A block within its matrix.
pub(super) struct InPlace<'a, M> {
    pub numbers: Elements<'a, f64, M>,
    /// Numbers a row of the matrix.
    pub stride: usize,
    /// The block's first number.
    pub first: usize,
}

impl<M: Medium> Block for InPlace<'_, M> {
    #[inline(always)]
    fn at(&self, row: usize, column: usize) -> f64 {
        self.numbers.get(self.first + row * self.stride + column)
    }
}

/// A packed block.
pub(super) struct Packed<'a> {
    numbers: &'a [f64],
    block: usize,
}

impl Block for Packed<'_> {
    #[inline(always)]
    fn at(&self, row: usize, column: usize) -> f64 {
        self.numbers[row * self.block + column]
    }
}

/// Packed blocks of one operand: those of one panel at a time.
#[derive(Default)]
pub(super) struct Panel {
    panel: Option<usize>,
    packed: Vec<bool>,
    pub(super) numbers: Vec<f64>,
}

impl Panel {
    /// Block `index` of panel `panel`; packed if it is not yet.
    pub(super) fn block<M: Medium>(
        &mut self,
        (panel, index): (usize, usize),
        block: usize,
        source: &InPlace<'_, M>,
    ) -> Packed<'_> {
        if self.panel != Some(panel) {
            self.panel = Some(panel);
            self.packed.fill(false);
        }
        if self.packed.len() <= index {
            self.packed.resize(index + 1, false);
            self.numbers.resize((index + 1) * block * block, 0.0);
        }
        let numbers = &mut self.numbers[index * block * block..][..block * block];
        if !self.packed[index] {
            for (row, numbers) in numbers.chunks_mut(block).enumerate() {
                for (column, number) in numbers.iter_mut().enumerate() {
                    *number = source.at(row, column);
                }
            }
            self.packed[index] = true;
        }
        Packed { numbers, block }
    }
}

/// `sums += left * right`. The order of additions is the same wherever the blocks are.
pub(super) fn multiply(left: &impl Block, right: &impl Block, block: usize, sums: &mut [f64]) {
    for (row, sums) in sums.chunks_mut(block).enumerate() {
        for k in 0..block {
            let factor = left.at(row, k);
            for (column, sum) in sums.iter_mut().enumerate() {
                *sum += factor * right.at(k, column);
            }
        }
    }
}
