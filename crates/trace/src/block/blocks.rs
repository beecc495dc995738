//! The descriptions of a process's blocks, by id.

use std::sync::Arc;

use super::Block;

/// Blocks that are shared, or copied, at a time.
const PAGE: usize = 256;

type Page = [Option<Arc<Block>>; PAGE];

/// Blocks by id. A copy shares them all, and what is added to either of the two costs it the page that it is in: who encodes
/// beside the one who adds has a copy of thousands for some dozen pointers.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks {
    pages: Vec<Arc<Page>>,
}

impl Blocks {
    #[inline]
    pub(super) fn get(&self, id: u32) -> Option<&Block> {
        let (page, at) = (id as usize / PAGE, id as usize % PAGE);
        self.pages.get(page)?[at].as_deref()
    }

    /// All, by id.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Block> {
        let all = self.pages.iter().flat_map(|page| page.iter());
        all.filter_map(|b| b.as_deref())
    }

    pub(super) fn put(&mut self, block: Block) {
        let (page, at) = (block.id as usize / PAGE, block.id as usize % PAGE);
        if self.pages.len() <= page {
            let empty = || Arc::new([const { None }; PAGE]);
            self.pages.resize_with(page + 1, empty);
        }
        Arc::make_mut(&mut self.pages[page])[at] = Some(Arc::new(block));
    }

    /// Takes over those of `parent` with ids below `end` that are not here.
    pub(super) fn inherit(&mut self, parent: &Self, end: u32) {
        let end = end as usize;
        for (number, theirs) in parent.pages.iter().take(end.div_ceil(PAGE)).enumerate() {
            let below = (end - number * PAGE).min(PAGE);
            match self.pages.get_mut(number) {
                None if below == PAGE => self.pages.push(Arc::clone(theirs)),
                None => {
                    let part = std::array::from_fn(|at| theirs[at].clone().filter(|_| at < below));
                    self.pages.push(Arc::new(part));
                }
                Some(own) => {
                    let own = Arc::make_mut(own);
                    for (own, theirs) in own.iter_mut().zip(theirs.iter()).take(below) {
                        if own.is_none() {
                            own.clone_from(theirs);
                        }
                    }
                }
            }
        }
    }
}
