//! A thread of the trace on its core.

use super::handoffs::Published;
use super::pipeline::Pipeline;
use super::source::{Next, Source};
use crate::mechanism::Mechanism;
use crate::{Op, Time};

/// A thread, its core, and the operations that wait to be executed.
#[derive(Debug)]
pub struct Thread<P> {
    /// Its number.
    pub number: u32,
    /// The core it is pinned to.
    pub core: P,
    /// What the source gave last; where the mechanism rewrites, its input.
    input: Vec<Op>,
    /// What the mechanism made of it.
    rewritten: Vec<Op>,
    /// Next in the buffer that the core is fed from.
    next: usize,
    /// The source is exhausted: instructions executed in all.
    ended: Option<u64>,
    /// Begins of the source regions that are open.
    pub regions: Vec<Time>,
    /// When the last operation began.
    pub last_began: Time,
    /// Messages that came and of which nothing was read yet.
    pub unread: Vec<Published>,
}

impl<P: Pipeline> Thread<P> {
    /// Thread `number` on `core`, at its start.
    pub fn new(number: u32, core: P) -> Self {
        Self {
            number,
            core,
            input: Vec::new(),
            rewritten: Vec::new(),
            next: 0,
            ended: None,
            regions: Vec::new(),
            last_began: Time::ZERO,
            unread: Vec::new(),
        }
    }

    /// The next operation; `None`: get more with [`Self::refill`].
    #[inline]
    pub fn peek<M: Mechanism>(&self) -> Option<Op> {
        let ops = if M::REWRITES {
            &self.rewritten
        } else {
            &self.input
        };
        ops.get(self.next).copied()
    }

    /// The operation that was peeked at is done.
    #[inline]
    pub fn advance(&mut self) {
        self.next += 1;
    }

    /// Gets more operations; answers the thread's instructions where there are none.
    pub fn refill<S: Source, M: Mechanism>(
        &mut self,
        source: &mut S,
        mechanism: &mut M,
    ) -> Result<Option<u64>, S::Error> {
        self.next = 0;
        self.rewritten.clear();
        loop {
            self.input.clear();
            if self.ended.is_some() {
                return Ok(self.ended);
            }
            if let Next::End { instrs } = source.fill(self.number, &mut self.input)? {
                self.ended = Some(instrs);
            }
            if M::REWRITES {
                mechanism.ops(self.number, &self.input, &mut self.rewritten);
                if self.ended.is_some() {
                    mechanism.end(self.number, &mut self.rewritten);
                }
            }
            if self.peek::<M>().is_some() {
                return Ok(None);
            }
        }
    }
}
