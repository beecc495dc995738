//! Programs whose threads take turns on one processor.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// What this thread starts runs on one of its processors, until this is dropped.
pub(crate) struct OneProcessor(CpuSet);

impl OneProcessor {
    /// `None` where the system does not allow it.
    pub(crate) fn take() -> Option<Self> {
        let all = sched_getaffinity(None).ok()?;
        let first = (0..CpuSet::MAX_CPU).find(|cpu| all.is_set(*cpu))?;
        let mut one = CpuSet::new();
        one.set(first);
        sched_setaffinity(None, &one).ok()?;
        Some(Self(all))
    }
}

impl Drop for OneProcessor {
    fn drop(&mut self) {
        // Where it fails, what follows is slower, and not wrong.
        let _ = sched_setaffinity(None, &self.0);
    }
}
