//! A packed panel that all workers use.

use std::sync::{Arc, Mutex, PoisonError};

use super::blocks::{InPlace, Packed};
use crate::Medium;

/// The panel of an iteration, as a BLAS has it: each block is packed by the worker that comes to it first, for all.
#[derive(Debug)]
pub(super) struct SharedPanel {
    blocks: Box<[Mutex<Of>]>,
}

/// A block, and of which panel it is.
#[derive(Clone, Debug, Default)]
struct Of {
    panel: Option<usize>,
    numbers: Arc<[f64]>,
}

/// A worker's hold of the blocks that it has come to: of these it asks nobody any more.
#[derive(Default)]
pub(super) struct Held(Vec<Of>);

impl SharedPanel {
    pub(super) fn new(blocks: usize) -> SharedPanel {
        SharedPanel {
            blocks: (0..blocks).map(|_| Mutex::default()).collect(),
        }
    }

    /// Block `index` of panel `panel`; packed if nobody has.
    pub(super) fn block<'h, M: Medium>(
        &self,
        held: &'h mut Held,
        (panel, index): (usize, usize),
        (block, source): (usize, &InPlace<'_, M>),
    ) -> Packed<'h> {
        let panel = Some(panel);
        held.0.resize_with(self.blocks.len(), Of::default);
        let of = &mut held.0[index];
        if of.panel != panel {
            // A worker that panics leaves it whole.
            let shared = self.blocks[index].lock();
            let mut shared = shared.unwrap_or_else(PoisonError::into_inner);
            if shared.panel != panel {
                let numbers = source.packed(block);
                *shared = Of { panel, numbers };
            }
            *of = shared.clone();
        }
        Packed::new(&of.numbers, block)
    }

    #[cfg(test)]
    pub(super) fn numbers(&self) -> usize {
        let lock = |of: &Mutex<Of>| of.lock().map_or(0, |of| of.numbers.len());
        self.blocks.iter().map(lock).sum()
    }
}
