//! A packed panel that all workers use.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::blocks::{InPlace, Packed};
use crate::Medium;

/// The panel of an iteration, as a BLAS has it: each block is packed by the worker that comes to it first, for all.
#[derive(Debug, Default)]
pub(super) struct SharedPanel {
    last: Mutex<Option<Of>>,
}

/// The blocks of a panel, and its number.
#[derive(Clone, Debug)]
struct Of {
    panel: usize,
    blocks: Arc<[OnceLock<Box<[f64]>>]>,
}

/// A worker's hold of the panel that it is at.
#[derive(Default)]
pub(super) struct Held(Option<Of>);

impl SharedPanel {
    /// Block `index` of panel `panel`, which has `blocks`; packed if nobody has. Others' blocks are given back when the last worker has
    /// gone on to another panel.
    pub(super) fn block<'h, M: Medium>(
        &self,
        held: &'h mut Held,
        (panel, index): (usize, usize),
        blocks: usize,
        (block, source): (usize, &InPlace<'_, M>),
    ) -> Packed<'h> {
        let of = match held.0.take() {
            Some(of) if of.panel == panel => of,
            _ => self.turn_to(panel, blocks),
        };
        let numbers = held.0.insert(of).blocks[index].get_or_init(|| source.packed(block));
        Packed::new(numbers, block)
    }

    fn turn_to(&self, panel: usize, blocks: usize) -> Of {
        let mut last = self.lock();
        if let Some(of) = last.as_ref().filter(|of| of.panel == panel) {
            return of.clone();
        }
        // Before the next one's memory is taken.
        *last = None;
        let blocks = (0..blocks).map(|_| OnceLock::new()).collect();
        last.insert(Of { panel, blocks }).clone()
    }

    /// A worker that panics leaves it whole.
    fn lock(&self) -> MutexGuard<'_, Option<Of>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(super) fn numbers(&self) -> usize {
        let blocks = self.lock().as_ref().map(|of| of.blocks.clone());
        let packed = blocks.iter().flat_map(|blocks| blocks.iter());
        packed.filter_map(OnceLock::get).map(|b| b.len()).sum()
    }
}
