//! Blocks made ready for the hot path, for one thread.

use prestore_trace::block::Block;
use prestore_trace::replay::{CallTree, NodeId};
use prestore_trace::{EventKind, SiteTable};
use rustc_hash::FxHashMap;

use crate::access::{Access, AccessFacts, Op, access, op_of};
use crate::batch::NewRun;
use crate::frequent::Frequent;
use crate::groups::Groups;
use crate::lock::Lock;
use crate::oracle::SiteOracle;
use crate::origins::Interner;
use crate::steps;

/// A block as executed by one thread on behalf of one group. What each execution looks at comes first, in one line of the cache:
/// large programs have more blocks than the cache has room for.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Run {
    /// Whole executions.
    pub(crate) executions: u64,
    /// Its accesses.
    pub(crate) first: u32,
    pub(crate) end: u32,
    /// The back of the analysis has something to do for it.
    pub(crate) acts: bool,
    /// It writes data, or flushes it.
    pub(crate) stores: bool,
    /// It may be part of a loop that waits.
    pub(crate) polls: bool,
    /// Its lock is any.
    pub(crate) locks: bool,
    /// Of a block that may wait: a sum of its values when it was executed last, and when.
    pub(crate) last_values: u64,
    pub(crate) last: u64,
    /// The last window of the run that it was executed in.
    pub(crate) window: u64,
    pub(crate) contexts: Frequent,
    pub(crate) lock: Lock,
    /// Windows that it was executed in.
    pub(crate) windows: u64,
    /// Rounds that found nothing new, and their instructions.
    pub(crate) rounds: u64,
    pub(crate) waited: u64,
}

#[derive(Clone, Debug)]
struct GenericBlock {
    function: u64,
    node: NodeId,
    run: u32,
    by_group: FxHashMap<u32, u32>,
}

/// A thread's blocks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Runs {
    /// By block id: 0 not met yet, else run + 1, or generic block with the top bit.
    index: Vec<u32>,
    pub(crate) all: Vec<Run>,
    pub(crate) facts: Vec<AccessFacts>,
    streaks: u32,
    odd: u32,
    judged: u32,
    generic: Vec<GenericBlock>,
}

const GENERIC: u32 = 1 << 31;

/// What making a block ready takes.
pub(crate) struct Workshop<'a, O> {
    pub(crate) groups: &'a mut Groups<O>,
    pub(crate) origins: &'a mut Interner,
    pub(crate) tree: &'a CallTree,
    pub(crate) sites: &'a SiteTable,
    pub(crate) thread: u32,
    /// Receives the runs that are new.
    pub(crate) fresh: &'a mut Vec<NewRun>,
}

impl Runs {
    /// The run of a block that was met before and is not generic.
    #[inline(always)]
    pub(crate) fn known(&self, block: u32) -> Option<usize> {
        let at = *self.index.get(block as usize)?;
        (at.wrapping_sub(1) < GENERIC - 1).then(|| at as usize - 1)
    }

    /// The run of any block in context `node`.
    #[inline(never)]
    pub(crate) fn find<O: SiteOracle>(
        &mut self,
        block: &Block,
        node: NodeId,
        shop: Workshop<'_, O>,
    ) -> usize {
        let id = block.id as usize;
        if self.index.len() <= id {
            self.index.resize(id + 1, 0);
        }
        if self.index[id] == 0 {
            let mut generic = block
                .refs
                .iter()
                .filter(|r| r.kind.writes() || matches!(r.kind, EventKind::Flush(_)))
                .map(|r| shop.groups.classify(r.site, shop.sites))
                .filter(|c| c.generic);
            if let Some(class) = generic.next() {
                self.generic.push(GenericBlock {
                    function: class.function,
                    node: NodeId(u32::MAX),
                    run: 0,
                    by_group: FxHashMap::default(),
                });
                self.index[id] = GENERIC | (self.generic.len() as u32 - 1);
            } else {
                drop(generic);
                let run = self.prepare(block, None, shop);
                self.index[id] = run + 1;
                return run as usize;
            }
        }
        let at = self.index[id];
        if at & GENERIC == 0 {
            return at as usize - 1;
        }
        self.generic_run((at & !GENERIC) as usize, block, node, shop)
    }

    fn generic_run<O: SiteOracle>(
        &mut self,
        at: usize,
        block: &Block,
        node: NodeId,
        shop: Workshop<'_, O>,
    ) -> usize {
        let generic = &self.generic[at];
        if generic.node == node {
            return generic.run as usize;
        }
        let group = shop
            .groups
            .of_caller(node, generic.function, shop.tree, shop.sites);
        let run = match generic.by_group.get(&group) {
            Some(&known) => known,
            None => self.prepare(block, Some(group), shop),
        };
        let generic = &mut self.generic[at];
        generic.by_group.insert(group, run);
        (generic.node, generic.run) = (node, run);
        run as usize
    }

    fn prepare<O: SiteOracle>(
        &mut self,
        block: &Block,
        group: Option<u32>,
        mut shop: Workshop<'_, O>,
    ) -> u32 {
        let mut all = Vec::new();
        let mut odd = Vec::new();
        let mut frame = Vec::new();
        for r in &block.refs {
            let Some(op) = op_of(r) else { continue };
            let mut made = access(r, op, group, &mut shop);
            if op == Op::Frame {
                frame.push(made);
                continue;
            }
            if op == Op::Odd {
                made.0.which = self.odd;
                odd.push(*r);
                self.odd += 1;
            } else if op.is_judged() {
                made.0.which = self.judged;
                made.1.judged = Some(self.judged);
                self.judged += 1;
            }
            all.push(made);
        }
        let all = steps::order(&all);
        let (mut accesses, mut facts): (Vec<_>, Vec<_>) = all.into_iter().unzip();
        let first = self.facts.len() as u32;
        let streaks = self.give_streaks(&mut accesses, &facts, &mut shop);
        let steps = steps::of(&accesses, first);
        let any = |f: fn(&Access) -> bool| accesses.iter().any(f);
        let stores = any(|a| a.kind.writes() && a.op != Op::Fence || a.op == Op::Flush);
        // An atomic that fails to take a lock is a poll too.
        let writes_once_more = any(|a| a.op.is_store() || a.op == Op::Odd || a.op == Op::Flush);
        let polls = !writes_once_more && any(|a| a.kind.reads());
        let plain = accesses.len();
        let (more, of_frame): (Vec<_>, Vec<_>) = frame.into_iter().unzip();
        accesses.extend(more);
        facts.extend(of_frame);
        self.facts.extend(facts);
        let lock = Lock::of(&accesses[..plain]);
        self.all.push(Run {
            first,
            end: self.facts.len() as u32,
            acts: !steps.is_empty(),
            stores,
            polls,
            locks: lock.is_any(),
            lock,
            ..Run::default()
        });
        shop.fresh.push(NewRun {
            steps,
            accesses,
            streaks,
            odd,
        });
        self.all.len() as u32 - 1
    }

    /// Gives each write its streak, if it is tracked; returns their origins.
    fn give_streaks<O: SiteOracle>(
        &mut self,
        accesses: &mut [Access],
        facts: &[AccessFacts],
        shop: &mut Workshop<'_, O>,
    ) -> Vec<u32> {
        let mut streaks = Vec::new();
        let mut at = 0;
        while at < accesses.len() {
            let (group, write) = (accesses[at].group, steps::one_write(&accesses[at..]));
            let n = match accesses[at].op {
                op if op.is_store() => write.map_or(1, |w| w.0),
                _ => 1,
            };
            let writes = accesses[at].kind.writes() && accesses[at].op != Op::Fence;
            if writes && shop.groups.tracked(group) {
                let atomic = accesses[at].op == Op::Atomic;
                let origin = shop
                    .origins
                    .intern(shop.thread, group, facts[at].site, atomic);
                streaks.push(origin);
                for i in at..at + n {
                    accesses[i].streak = self.streaks;
                    let other = shop
                        .origins
                        .intern(shop.thread, group, facts[i].site, atomic);
                    shop.origins.join(origin, other);
                }
                self.streaks += 1;
            }
            at += n;
        }
        streaks
    }
}
