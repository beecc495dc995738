//! Calling contexts: a tree of call sites and a shadow stack a thread.

use rustc_hash::FxHashMap;

use crate::SiteId;
use crate::block::{Block, BlockEnd};

/// A calling context: a node of the [`CallTree`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The context of a thread's first function: no caller is known.
    pub const ROOT: Self = Self(0);
}

/// All calling contexts seen: each node is a call instruction under its caller's context. A call that is made again
/// within itself is where it was first: a recursive function has as many contexts as calls lead to it in some order, and not
/// as many as the run has ways through it.
#[derive(Clone, Debug)]
pub struct CallTree {
    nodes: Vec<(NodeId, SiteId, u16)>,
    children: FxHashMap<(NodeId, SiteId), NodeId>,
}

impl Default for CallTree {
    fn default() -> Self {
        Self {
            nodes: vec![(NodeId::ROOT, SiteId::NONE, 0)],
            children: FxHashMap::default(),
        }
    }
}

/// Deeper contexts are not told apart.
const MAX_DEPTH: u16 = 128;

/// Contexts beyond so many are not told apart from their callers': some 200 MB.
const MAX_NODES: usize = 1 << 22;

impl CallTree {
    /// The context of a call at `call` made in context `parent`.
    pub fn child(&mut self, parent: NodeId, call: SiteId) -> NodeId {
        let depth = self.nodes[parent.0 as usize].2;
        if depth >= MAX_DEPTH {
            return parent;
        }
        if let Some(&known) = self.children.get(&(parent, call)) {
            return known;
        }
        if self.nodes.len() >= MAX_NODES {
            return parent;
        }
        let node = self.within_itself(parent, call).unwrap_or_else(|| {
            self.nodes.push((parent, call, depth + 1));
            NodeId(self.nodes.len() as u32 - 1)
        });
        self.children.insert((parent, call), node);
        node
    }

    /// The context of `call` that `node` is in.
    fn within_itself(&self, node: NodeId, call: SiteId) -> Option<NodeId> {
        let mut at = node;
        while let Some(site) = self.call_site(at) {
            if site == call {
                return Some(at);
            }
            at = self.parent(at);
        }
        None
    }

    /// The call instruction of `node`, `None` for the root and unknown nodes.
    pub fn call_site(&self, node: NodeId) -> Option<SiteId> {
        let (_, site, depth) = self.nodes.get(node.0 as usize)?;
        (*depth > 0).then_some(*site)
    }

    /// The context that `node`'s call was made in.
    pub fn parent(&self, node: NodeId) -> NodeId {
        self.nodes
            .get(node.0 as usize)
            .map_or(NodeId::ROOT, |n| n.0)
    }

    /// The call sites of `node`, innermost first.
    pub fn chain(&self, node: NodeId) -> impl Iterator<Item = SiteId> + '_ {
        let mut at = node;
        std::iter::from_fn(move || {
            let site = self.call_site(at)?;
            at = self.parent(at);
            Some(site)
        })
    }

    /// How many contexts there are, the root included.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Is there nothing but the root?
    pub fn is_empty(&self) -> bool {
        self.nodes.len() == 1
    }
}

/// The shadow stack of one thread.
///
/// Returns are matched by address: a return to an address that is not on top drops what lies
/// above the match (`longjmp`, exceptions); one that matches nothing near is ignored.
#[derive(Clone, Debug, Default)]
pub struct CallStack {
    frames: Vec<(u64, NodeId)>,
    pending: Option<BlockEnd>,
    pending_call: (SiteId, u64),
}

/// How far down the stack a return is looked for.
const SEARCH: usize = 64;

/// Frames beyond this are forgotten, oldest first in effect: a runaway recursion stays bounded.
const MAX_FRAMES: usize = 1 << 16;

impl CallStack {
    /// The current context, as of the last [`CallStack::enter`].
    #[inline]
    pub fn node(&self) -> NodeId {
        self.frames.last().map_or(NodeId::ROOT, |f| f.1)
    }

    /// To be called with every block before its accesses are looked at.
    #[inline]
    pub fn enter(&mut self, block: &Block, tree: &mut CallTree) {
        match self.pending {
            None => {}
            Some(end) => self.settle(end, block, tree),
        }
        self.pending = match block.end {
            BlockEnd::Call => {
                self.pending_call = (block.last_site, block.next_pc);
                Some(BlockEnd::Call)
            }
            BlockEnd::Ret => Some(BlockEnd::Ret),
            _ => None,
        };
    }

    #[inline]
    fn settle(&mut self, end: BlockEnd, block: &Block, tree: &mut CallTree) {
        if end == BlockEnd::Call {
            let (site, return_pc) = self.pending_call;
            let node = tree.child(self.node(), site);
            if self.frames.len() < MAX_FRAMES {
                self.frames.push((return_pc, node));
            }
            return;
        }
        let near = self.frames.len().saturating_sub(SEARCH);
        let found = self.frames[near..]
            .iter()
            .rposition(|f| f.0 == block.start_pc);
        if let Some(i) = found {
            self.frames.truncate(near + i);
        }
    }
}
