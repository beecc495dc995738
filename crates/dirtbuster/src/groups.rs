//! On whose behalf code writes: its own function's, or its caller's where it is generic.

use prestore_trace::replay::{CallTree, NodeId};
use prestore_trace::{SiteId, SiteTable};
use rustc_hash::FxHashMap;

use crate::oracle::{SiteClass, SiteOracle};

/// Stores of one group may make up one finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Group {
    /// The function with this key.
    Function(u64),
    /// Generic code called at this call site, which is not in generic code; or gone on to by the function that begins there.
    Caller(SiteId),
    /// Generic code, of this function, whose caller is not known.
    Orphan(u64),
}

/// The groups met so far, and what the oracle said.
#[derive(Debug)]
pub(crate) struct Groups<O> {
    pub(crate) oracle: O,
    /// Which keys of functions are in it; `None`: all.
    scope: Option<fn(u64) -> bool>,
    classes: FxHashMap<SiteId, SiteClass>,
    all: Vec<(Group, bool)>,
    ids: FxHashMap<Group, u32>,
    callers: FxHashMap<(NodeId, u64), u32>,
}

impl<O: SiteOracle> Groups<O> {
    pub(crate) fn new(oracle: O, scope: Option<fn(u64) -> bool>) -> Self {
        Self {
            oracle,
            scope,
            classes: FxHashMap::default(),
            all: Vec::new(),
            ids: FxHashMap::default(),
            callers: FxHashMap::default(),
        }
    }

    /// What the oracle says of `site`; it is asked once.
    pub(crate) fn classify(&mut self, site: SiteId, sites: &SiteTable) -> SiteClass {
        if let Some(&class) = self.classes.get(&site) {
            return class;
        }
        let class = self.oracle.classify(site, sites);
        self.classes.insert(site, class);
        class
    }

    /// The group of a store at `site`, which is not generic.
    pub(crate) fn of_function(&mut self, site: SiteId, sites: &SiteTable) -> u32 {
        let function = self.classify(site, sites).function;
        self.intern(Group::Function(function), &[function])
    }

    /// The group of generic code of function `generic` in context `node`.
    pub(crate) fn of_caller(
        &mut self,
        node: NodeId,
        generic: u64,
        tree: &CallTree,
        sites: &SiteTable,
    ) -> u32 {
        if let Some(&known) = self.callers.get(&(node, generic)) {
            return known;
        }
        let mut callers = tree.callers(node);
        let caller = callers.find(|&s| !self.classify(s, sites).generic);
        let id = match caller {
            Some(call) => {
                let function = self.classify(call, sites).function;
                self.intern(Group::Caller(call), &[function, generic])
            }
            None => self.intern(Group::Orphan(generic), &[generic]),
        };
        self.callers.insert((node, generic), id);
        id
    }

    /// The group of generic code that was called, in the end, by the program's call that `node` is in; `None`: it has written
    /// nothing.
    pub(crate) fn of_known_caller(
        &mut self,
        node: NodeId,
        tree: &CallTree,
        sites: &SiteTable,
    ) -> Option<u32> {
        let mut callers = tree.callers(node);
        let call = callers.find(|&s| !self.classify(s, sites).generic)?;
        self.ids.get(&Group::Caller(call)).copied()
    }

    fn intern(&mut self, group: Group, functions: &[u64]) -> u32 {
        let next = self.all.len() as u32;
        let id = *self.ids.entry(group).or_insert(next);
        if id == next {
            let tracked = (self.scope).is_none_or(|chosen| functions.iter().any(|f| chosen(*f)));
            self.all.push((group, tracked));
        }
        id
    }
}

impl<O> Groups<O> {
    /// Is `site`, which was classified before, in generic code?
    pub(crate) fn is_generic(&self, site: SiteId) -> bool {
        self.classes.get(&site).is_some_and(|c| c.generic)
    }

    /// The group of this number.
    pub(crate) fn get(&self, id: u32) -> Group {
        self.all[id as usize].0
    }

    /// Are the writes of all functions tracked?
    pub(crate) fn has_everything(&self) -> bool {
        self.scope.is_none()
    }

    /// Is everything tracked? Else code is left out between what is recorded, and its callers are still there.
    pub(crate) fn are_all(&self) -> bool {
        self.scope.is_none()
    }

    /// Are its writes tracked?
    pub(crate) fn tracked(&self, id: u32) -> bool {
        self.all[id as usize].1
    }
}
