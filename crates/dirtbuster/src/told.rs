//! Lines that other threads read, and whether the writer has executed a fence by then.
//!
//! On x86 a plain store tells another thread that data is ready, as ordinary stores come to memory in the program's order. Non-temporal
//! ones do not: where a place is advised to skip the cache, and nothing but such a store stands between its data and who reads it, the
//! advice would break the program without a fence more.

/// Lines that another thread was the first to read; and those of them, whose writer had executed neither a fence nor an atomic since.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Told {
    lines: u64,
    unfenced: u64,
}

/// From this share of the lines on that others read, of which it is known when, the advice says that a fence is missing. Of each buffer's last
/// lines the fence may stand in the writer's next buffer, which is looked at when the readers' has been.
const MIN_UNFENCED_SHARE: f64 = 0.5;

impl Told {
    /// Another thread reads a line that was written before its writer's last fence (`fenced`), or behind it.
    pub(crate) fn read(&mut self, fenced: bool) {
        self.lines += 1;
        self.unfenced += u64::from(!fenced);
    }

    pub(crate) fn merge(&mut self, o: &Self) {
        self.lines += o.lines;
        self.unfenced += o.unfenced;
    }

    /// Counts for `weight` times as much.
    pub(crate) fn scale(&mut self, weight: u64) {
        self.lines *= weight;
        self.unfenced *= weight;
    }

    /// Lines that others read before a fence of the writer's, where that is how they are told of most; else `None`.
    pub(crate) fn without_fence(self) -> Option<u64> {
        let share = crate::words::of(self.unfenced, self.lines);
        (self.unfenced > 0 && share >= MIN_UNFENCED_SHARE).then_some(self.unfenced)
    }
}
