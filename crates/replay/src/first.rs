//! The first part of a recording: a look that takes seconds where the whole takes hours.

use prestore_sim::{Next, Op, Source};

/// Ends the threads of another source when it has given so many operations, all threads together.
///
/// The same operations whatever the machine, for one thread; with several it depends on the machine
/// how far each has come by then. Threads may be left waiting for a hand-off that does not come
/// any more: simulate leniently.
#[derive(Debug)]
pub(crate) struct First<S> {
    inner: S,
    left: u64,
    limit: u64,
    instrs: Vec<u64>,
    cut: bool,
}

impl<S: Source> First<S> {
    /// The first `limit` operations of `inner`; `None`: all of them.
    pub(crate) fn new(inner: S, limit: Option<u64>) -> Self {
        Self {
            instrs: vec![0; inner.threads() as usize],
            inner,
            left: limit.unwrap_or(u64::MAX),
            limit: limit.unwrap_or(u64::MAX),
            cut: false,
        }
    }

    /// The source.
    pub(crate) fn inner(&self) -> &S {
        &self.inner
    }

    /// What the user should know: that something was left out.
    pub(crate) fn note(&self) -> Option<String> {
        self.cut.then(|| {
            let first = match self.limit {
                1 => "operation was".to_owned(),
                n => format!("{n} operations were"),
            };
            format!(
                "only the first {first} simulated; what the program does later may be different"
            )
        })
    }
}

impl<S: Source> Source for First<S> {
    type Error = S::Error;

    fn threads(&self) -> u32 {
        self.inner.threads()
    }

    fn fill(&mut self, thread: u32, ops: &mut Vec<Op>) -> Result<Next, S::Error> {
        let executed = &mut self.instrs[thread as usize];
        if self.left == 0 {
            self.cut = true;
            return Ok(Next::End { instrs: *executed });
        }
        let before = ops.len();
        let next = self.inner.fill(thread, ops)?;
        let given = (ops.len() - before) as u64;
        let next = match given <= self.left {
            true => next,
            // What would be waited for stands behind those that are left out.
            false => {
                ops.truncate(before + self.left as usize);
                self.cut = true;
                Next::More
            }
        };
        self.left = self.left.saturating_sub(given);
        if let Some(last) = ops[before..].last() {
            *executed = last.instr + 1;
        }
        Ok(next)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::convert::Infallible;

    use prestore_sim::{Next, Op, OpKind, Source};
    use prestore_trace::SiteId;

    use super::First;

    /// Two threads of ten loads each, two at a time.
    struct Loads([u64; 2]);

    impl Source for Loads {
        type Error = Infallible;

        fn threads(&self) -> u32 {
            2
        }

        fn fill(&mut self, thread: u32, ops: &mut Vec<Op>) -> Result<Next, Infallible> {
            let done = &mut self.0[thread as usize];
            if *done == 10 {
                return Ok(Next::End { instrs: 30 });
            }
            for _ in 0..2 {
                ops.push(Op {
                    instr: 3 * *done,
                    addr: 64,
                    size: 8,
                    site: SiteId(0),
                    kind: OpKind::Load,
                    after: 0,
                });
                *done += 1;
            }
            Ok(Next::More)
        }
    }

    /// Operations given, and how each thread ended.
    fn drain(limit: Option<u64>) -> (usize, [Next; 2], Option<String>) {
        let mut source = First::new(Loads([0; 2]), limit);
        let (mut ops, mut ends) = (Vec::new(), [Next::More; 2]);
        while ends.contains(&Next::More) {
            for thread in 0..2 {
                let Ok(next) = source.fill(thread, &mut ops);
                ends[thread as usize] = next;
            }
        }
        (ops.len(), ends, source.note())
    }

    #[test]
    fn ends_where_it_was_told() {
        let ends = [Next::End { instrs: 10 }, Next::End { instrs: 4 }];
        let (ops, ended, note) = drain(Some(6));
        assert_eq!((ops, ended), (6, ends));
        assert!(note.unwrap().contains("first 6 operations"));
        // Not more than was asked for, where a piece has more.
        let ends = [Next::End { instrs: 7 }, Next::End { instrs: 4 }];
        let (ops, ended, note) = drain(Some(5));
        assert_eq!((ops, ended), (5, ends));
        assert!(note.unwrap().contains("first 5 operations"));
    }

    #[test]
    fn without_a_limit_all_comes() {
        let end = Next::End { instrs: 30 };
        assert_eq!(drain(None), (20, [end, end], None));
    }
}
