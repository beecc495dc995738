//! A tree of bits that point away from what was used last.

use super::Policy;
use crate::host::prefetch;

/// A word a set: bit `n` is node `n` of the tree, the root is node 1; set: the victim is right.
#[derive(Clone, Debug)]
pub(in crate::cache) struct TreePlru {
    trees: Vec<u64>,
    depth: u32,
    /// Of each way, the nodes on its path, and those of them that it is to the left of: they point away.
    paths: Vec<(u64, u64)>,
}

impl TreePlru {
    /// Of `sets` sets of `ways` ways, a power of two.
    pub(super) fn new(ways: usize, sets: usize) -> Self {
        let depth = ways.trailing_zeros();
        Self {
            trees: vec![0; sets],
            depth,
            paths: (0..ways).map(|way| path(way, depth)).collect(),
        }
    }
}

impl Policy for TreePlru {
    #[inline(always)]
    fn soon(&self, set: usize) {
        prefetch(&self.trees, set);
    }

    #[inline(always)]
    fn hit(&mut self, set: usize, way: usize, _: usize) {
        let (nodes, right) = self.paths[way];
        self.trees[set] = (self.trees[set] & !nodes) | right;
    }

    #[inline(always)]
    fn likely_victim(&self, set: usize, _: usize) -> Option<usize> {
        Some(follow(self.trees[set], self.depth))
    }

    #[inline(always)]
    fn victim(&mut self, _: u32, set: usize, _: usize) -> usize {
        follow(self.trees[set], self.depth)
    }
}

/// The nodes from the root of a tree to `way`, and those of them that `way` is to the left of.
fn path(way: usize, depth: u32) -> (u64, u64) {
    let (mut nodes, mut left) = (0, 0);
    let mut node = 1;
    for level in (0..depth).rev() {
        let right = (way >> level) & 1;
        nodes |= 1 << node;
        left |= ((right ^ 1) as u64) << node;
        node = node * 2 + right;
    }
    (nodes, left)
}

#[inline]
fn follow(tree: u64, depth: u32) -> usize {
    let mut node = 1;
    for _ in 0..depth {
        node = node * 2 + ((tree >> node) & 1) as usize;
    }
    node - (1 << depth)
}
