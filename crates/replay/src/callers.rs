//! Stores of generic code, told apart by who called it.

use prestore_sim::Op;
use prestore_trace::SiteId;
use prestore_trace::block::Block;
use prestore_trace::replay::{CallStack, CallTree};
use rustc_hash::{FxHashMap, FxHashSet};

/// Sites from here on stand for a site reached through a certain call; no trace has as many of its
/// own, since a site is an instruction that was executed.
const FIRST_ALIAS: u32 = 0xc000_0000;

/// Calls looked at, innermost first: generic code may call itself on, through stubs and variants, and templates that are
/// not inlined through a dozen of their own.
const NEAR: usize = 16;

/// The sites to be told apart.
#[derive(Debug, Default)]
pub(crate) struct Callers {
    sites: FxHashSet<SiteId>,
    aliases: FxHashMap<(SiteId, SiteId), SiteId>,
}

impl Callers {
    /// Tells each `(site, call)` apart from the same site reached through other calls.
    pub(crate) fn new(pairs: &[(SiteId, SiteId)]) -> Self {
        let mut callers = Self::default();
        for (&pair, alias) in pairs.iter().zip(FIRST_ALIAS..SiteId::NONE.0) {
            callers.sites.insert(pair.0);
            callers.aliases.entry(pair).or_insert(SiteId(alias));
        }
        callers
    }

    /// Is there anything to tell apart?
    pub(crate) fn is_empty(&self) -> bool {
        self.sites.is_empty()
    }

    /// What operations of `site` reached through `call` are called.
    pub(crate) fn alias(&self, site: SiteId, call: SiteId) -> Option<SiteId> {
        self.aliases.get(&(site, call)).copied()
    }
}

/// Where a thread is.
#[derive(Debug, Default)]
pub(crate) struct Path {
    stack: CallStack,
    tree: CallTree,
}

impl Path {
    /// To be called with every block before its operations are renamed.
    pub(crate) fn enter(&mut self, block: &Block) {
        self.stack.enter(block, &mut self.tree);
    }

    /// Renames those of `ops` that are to be told apart.
    pub(crate) fn rename(&self, callers: &Callers, ops: &mut [Op]) {
        for op in ops.iter_mut().filter(|op| callers.sites.contains(&op.site)) {
            let mut near = self.tree.callers(self.stack.node()).take(NEAR);
            if let Some(alias) = near.find_map(|call| callers.alias(op.site, call)) {
                op.site = alias;
            }
        }
    }
}
