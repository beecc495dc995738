//! The descriptions of a process's blocks, by id.

use std::sync::Arc;

use super::Block;

/// Blocks that are shared, or copied, at a time.
const PAGE: usize = 256;

#[derive(Clone, Debug)]
struct Page {
    blocks: [Option<Arc<Block>>; PAGE],
    /// Of each block: where the next record begins is known before the block is there.
    words: [u32; PAGE],
}

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
        self.pages.get(page)?.blocks[at].as_deref()
    }

    /// [`Block::words`] of a block; 0 where there is none.
    #[inline]
    pub(super) fn words(&self, id: u32) -> u32 {
        let (page, at) = (id as usize / PAGE, id as usize % PAGE);
        self.pages.get(page).map_or(0, |page| page.words[at])
    }

    /// All, by id.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Block> {
        let all = self.pages.iter().flat_map(|page| page.blocks.iter());
        all.filter_map(|b| b.as_deref())
    }

    pub(super) fn put(&mut self, block: Block) {
        let (page, at) = (block.id as usize / PAGE, block.id as usize % PAGE);
        if self.pages.len() <= page {
            self.pages.resize_with(page + 1, Arc::default);
        }
        Arc::make_mut(&mut self.pages[page]).put(at, Arc::new(block));
    }

    /// Takes over those of `parent` with ids below `end` that are not here.
    pub(super) fn inherit(&mut self, parent: &Self, end: u32) {
        let end = end as usize;
        for (number, theirs) in parent.pages.iter().take(end.div_ceil(PAGE)).enumerate() {
            let below = (end - number * PAGE).min(PAGE);
            match self.pages.get_mut(number) {
                None if below == PAGE => self.pages.push(Arc::clone(theirs)),
                None => {
                    let mut part = Page::default();
                    part.inherit(theirs, below);
                    self.pages.push(Arc::new(part));
                }
                Some(own) => {
                    Arc::make_mut(own).inherit(theirs, below);
                }
            }
        }
    }
}

impl Default for Page {
    fn default() -> Self {
        Self {
            blocks: [const { None }; PAGE],
            words: [0; PAGE],
        }
    }
}

impl Page {
    fn put(&mut self, at: usize, block: Arc<Block>) {
        self.words[at] = block.words;
        self.blocks[at] = Some(block);
    }

    /// Takes over what `parent` has below `end` and this has not.
    fn inherit(&mut self, parent: &Self, end: usize) {
        for (at, theirs) in parent.blocks.iter().enumerate().take(end) {
            if let (None, Some(theirs)) = (&self.blocks[at], theirs) {
                self.put(at, Arc::clone(theirs));
            }
        }
    }
}
