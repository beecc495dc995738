//! A thread of the trace on its core.

use std::collections::VecDeque;

use super::ahead::{AHEAD, Ahead};
use super::erased::AnyMechanism;
use super::handoffs::{Pledge, Published};
use super::pipeline::{Pipeline, Uncore};
use super::source::{Next, Source};
use crate::{Op, Time};

/// A thread, its core, and the operations that wait to be executed.
#[derive(Debug)]
pub struct Thread<P> {
    /// Its number.
    pub number: u32,
    /// The core it is pinned to.
    pub core: P,
    ahead: Ahead,
    /// What the core executes.
    ops: Vec<Op>,
    /// Next of those.
    next: usize,
    /// What the source gave last, where the mechanism rewrites it.
    input: Vec<Op>,
    /// The source is exhausted: instructions executed in all.
    ended: Option<u64>,
    /// Begins of the source regions that are open.
    pub regions: Vec<Time>,
    /// When the last operation began.
    pub last_began: Time,
    /// When the operation began that the core has begun and not done.
    pub under_way: Option<Time>,
    /// Hand-offs of which is not known yet when they are visible, in order.
    pub pledged: VecDeque<Pledge>,
    /// It waits for a hand-off; only what it left pending goes on.
    pub parked: bool,
    /// Messages that came and of which nothing was read yet.
    pub unread: Vec<Published>,
}

impl<P: Pipeline> Thread<P> {
    /// Thread `number` on `core`, at its start.
    pub fn new(number: u32, core: P) -> Self {
        Self {
            number,
            core,
            ahead: Ahead::default(),
            ops: Vec::new(),
            next: 0,
            input: Vec::new(),
            ended: None,
            regions: Vec::new(),
            last_began: Time::ZERO,
            under_way: None,
            pledged: VecDeque::new(),
            parked: false,
            unread: Vec::new(),
        }
    }

    /// The next operation; `None`: get more with [`Self::refill`].
    #[inline(always)]
    pub fn peek(&self) -> Option<Op> {
        self.ops.get(self.next).copied()
    }

    /// The address that is accessed [`AHEAD`] operations after the next one, if it is known yet and
    /// was not answered before.
    #[inline(always)]
    pub fn address_ahead(&mut self) -> Option<u64> {
        self.ahead.address(self.ops.get(self.next + AHEAD)?)
    }

    /// The core executes loads and stores that come next, at most so many, as long as they begin by `limit`. Answers
    /// how many, and whether another one is begun and not done.
    #[inline(always)]
    pub fn run<U: Uncore>(&mut self, most: u64, limit: Time, uncore: &mut U) -> (u64, bool) {
        let ops = self.ops.get(self.next..).unwrap_or_default();
        let most = most.min(ops.len() as u64) as usize;
        let (ahead, number) = (&mut self.ahead, self.number);
        let ran = self.core.run(&ops[..most], limit, uncore, |n, uncore| {
            if let Some(addr) = ops.get(n + AHEAD).and_then(|op| ahead.address(op)) {
                uncore.soon(number, addr);
            }
        });
        self.next += ran.done;
        if ran.done > 0 {
            self.last_began = ran.began;
        }
        self.under_way = ran.left;
        (ran.done as u64, ran.left.is_some())
    }

    /// The operation that was peeked at is done.
    #[inline(always)]
    pub fn advance(&mut self) {
        self.next += 1;
    }

    /// All operations that wait, which are done.
    pub fn take_all(&mut self) -> &[Op] {
        let from = std::mem::replace(&mut self.next, self.ops.len());
        &self.ops[from..]
    }

    /// Gets more operations; answers the thread's instructions where there are none.
    pub fn refill<S: Source>(
        &mut self,
        source: &mut S,
        mechanism: &mut dyn AnyMechanism,
    ) -> Result<Option<u64>, S::Error> {
        self.next = 0;
        let rewrites = mechanism.rewrites();
        loop {
            self.ops.clear();
            if self.ended.is_some() {
                return Ok(self.ended);
            }
            let input = if rewrites {
                self.input.clear();
                &mut self.input
            } else {
                &mut self.ops
            };
            if let Next::End { instrs } = source.fill(self.number, input)? {
                self.ended = Some(instrs);
            }
            if rewrites {
                mechanism.ops(self.number, &self.input, &mut self.ops);
                if self.ended.is_some() {
                    mechanism.end(self.number, &mut self.ops);
                }
            }
            if !self.ops.is_empty() {
                return Ok(None);
            }
        }
    }
}
