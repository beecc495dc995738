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
    nodes: Vec<Node>,
    children: FxHashMap<(NodeId, SiteId, SiteId), NodeId>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    parent: NodeId,
    call: SiteId,
    /// The first instruction of what was called, where the call itself does not say; `NONE`: it does, or there were several.
    entry: SiteId,
    depth: u16,
}

impl Default for CallTree {
    fn default() -> Self {
        Self {
            nodes: vec![Node {
                parent: NodeId::ROOT,
                call: SiteId::NONE,
                entry: SiteId::NONE,
                depth: 0,
            }],
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
        self.child_at(parent, call, SiteId::NONE)
    }

    /// The context of a call at `call`, made in context `parent`, that goes through memory or a register and led to `entry`:
    /// functions that are called from one place are told apart, so that each is known when it has left the stack (it ended with
    /// a jump to the next). `NONE`: the call says itself where it leads to.
    fn child_at(&mut self, parent: NodeId, call: SiteId, entry: SiteId) -> NodeId {
        let depth = self.nodes[parent.0 as usize].depth;
        if depth >= MAX_DEPTH {
            return parent;
        }
        if let Some(&known) = self.children.get(&(parent, call, entry)) {
            return known;
        }
        if self.nodes.len() >= MAX_NODES {
            return parent;
        }
        let node = match self.within_itself(parent, call) {
            Some(outer) => {
                let known = &mut self.nodes[outer.0 as usize].entry;
                if *known != entry {
                    *known = SiteId::NONE;
                }
                outer
            }
            None => {
                self.nodes.push(Node {
                    parent,
                    call,
                    entry,
                    depth: depth + 1,
                });
                NodeId(self.nodes.len() as u32 - 1)
            }
        };
        self.children.insert((parent, call, entry), node);
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
        let node = self.nodes.get(node.0 as usize)?;
        (node.depth > 0).then_some(node.call)
    }

    /// The first instruction of the function that `node`'s call led to, where the call goes through memory or a register.
    pub fn entry(&self, node: NodeId) -> Option<SiteId> {
        let entry = self.nodes.get(node.0 as usize)?.entry;
        (entry != SiteId::NONE).then_some(entry)
    }

    /// The context that `node`'s call was made in.
    pub fn parent(&self, node: NodeId) -> NodeId {
        self.nodes
            .get(node.0 as usize)
            .map_or(NodeId::ROOT, |n| n.parent)
    }

    /// `node`, the context that its call was made in, and so on, without the root.
    pub fn contexts(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let outwards = move |&at: &NodeId| Some(self.parent(at));
        std::iter::successors(Some(node), outwards).take_while(|&at| self.call_site(at).is_some())
    }

    /// Who may have had code executed in `node`, innermost first: the calls, and before each of those that do not say what they
    /// call the first instruction of that.
    pub fn callers(&self, node: NodeId) -> impl Iterator<Item = SiteId> + '_ {
        self.contexts(node)
            .flat_map(|at| self.entry(at).into_iter().chain(self.call_site(at)))
    }

    /// The call sites of `node`, innermost first.
    pub fn chain(&self, node: NodeId) -> impl Iterator<Item = SiteId> + '_ {
        self.contexts(node).filter_map(|at| self.call_site(at))
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
    /// Those that there were when something was left out, as long as no return to one of them has shown that it is there still.
    before: Vec<(u64, NodeId)>,
    pending: Option<BlockEnd>,
    /// The call, where it returns to, and whether it says what it calls.
    pending_call: (SiteId, u64, bool),
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

    /// Something is left out here, in which the thread may have returned from any of its calls and made others: it is in no call that is
    /// known, until it returns to one.
    pub fn leaves_out(&mut self) {
        self.pending = None;
        if !self.frames.is_empty() {
            self.before = std::mem::take(&mut self.frames);
        }
    }

    /// How many calls are on it.
    pub fn depth(&self) -> usize {
        self.frames.len()
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
                self.pending_call = (block.last_site, block.next_pc, !is_indirect(block));
                Some(BlockEnd::Call)
            }
            BlockEnd::Ret => Some(BlockEnd::Ret),
            _ => None,
        };
    }

    #[inline]
    fn settle(&mut self, end: BlockEnd, block: &Block, tree: &mut CallTree) {
        if end == BlockEnd::Call {
            let (site, return_pc, direct) = self.pending_call;
            let entry = if direct {
                SiteId::NONE
            } else {
                block.start_site
            };
            let node = tree.child_at(self.node(), site, entry);
            if self.frames.len() < MAX_FRAMES {
                self.frames.push((return_pc, node));
            }
            return;
        }
        if let Some(at) = returned_from(&self.frames, block.start_pc) {
            self.frames.truncate(at);
        } else if let Some(at) = returned_from(&self.before, block.start_pc) {
            self.frames = std::mem::take(&mut self.before);
            self.frames.truncate(at);
        }
    }
}

/// The call that a return to `pc` ends, if it is near the top.
fn returned_from(frames: &[(u64, NodeId)], pc: u64) -> Option<usize> {
    let near = frames.len().saturating_sub(SEARCH);
    let found = frames[near..].iter().rposition(|f| f.0 == pc);
    found.map(|at| near + at)
}

/// Does the call that `block` ends with go through memory or a register? Not told where code is not known.
fn is_indirect(block: &Block) -> bool {
    let length = block.lengths.last().map_or(0, |&n| usize::from(n));
    let call = block.code.len().checked_sub(length);
    let call = call.and_then(|at| block.code.get(at..)).unwrap_or_default();
    call.get(prefixes_of_call(call)) == Some(&0xff)
}

/// Bytes of the prefixes that a call at the start of `code` may have.
pub fn prefixes_of_call(code: &[u8]) -> usize {
    let is_prefix = |b: &&u8| matches!(b, 0x40..=0x4f | 0x66 | 0x2e | 0x3e | 0x64 | 0xf2);
    code.iter().take_while(is_prefix).count()
}
