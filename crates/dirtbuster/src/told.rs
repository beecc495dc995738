//! Lines that other threads read, and whether the writer has executed a fence by then.
//!
//! On x86 a plain store tells another thread that data is ready, as ordinary stores come to memory in the program's order. Non-temporal
//! ones do not: where a place is advised to skip the cache, and nothing but such a store stands between its data and who reads it, the
//! advice would break the program without a fence more.

use crate::words::{count, of};

/// Lines that another thread was the first to read; and those of them, whose writer had executed neither a fence nor an atomic since.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Told {
    lines: u64,
    unfenced: u64,
}

/// From this share of the lines that are written on, others read them for more than a moment's chance.
const MIN_READ_SHARE: f64 = 0.05;

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

    /// To be added to advice to skip where `written` lines were written.
    pub(crate) fn reason(self, written: u64) -> String {
        if let Some(lines) = self.without_fence() {
            return format!(
                " Beware: other threads read {} of these lines before the thread that wrote them came to a fence or an atomic, so a plain store \
                 tells them that the data is there (a flag, an index, a store-release). That is enough behind ordinary stores on x86, but not \
                 behind non-temporal ones: they need an `sfence` before that store, or others may read old data. It waits for the data's way to \
                 memory: where few lines lie between two such stores, clean instead, which needs none.",
                count(lines),
            );
        }
        let later = self.behind_fences(written).map(|lines| {
            format!(
                " Other threads read {} of these lines, in this run behind a fence or an atomic of the thread that wrote them. Where a plain \
                 store may tell them earlier (a flag, an index, a store-release), an `sfence` must come before it.",
                count(lines),
            )
        });
        later.unwrap_or_default()
    }

    /// Lines that others read before a fence of the writer's, where that is how they are told of most; else `None`.
    fn without_fence(self) -> Option<u64> {
        let share = of(self.unfenced, self.lines);
        (self.unfenced > 0 && share >= MIN_UNFENCED_SHARE).then_some(self.unfenced)
    }

    /// Lines that others read behind a fence of the writer's, of `written` ones, where that is how they are told of most. In another run who
    /// reads may be earlier: recording slows threads down unevenly.
    fn behind_fences(self, written: u64) -> Option<u64> {
        let share = of(self.lines, written);
        let fenced = self.lines - self.unfenced;
        (self.without_fence().is_none() && share >= MIN_READ_SHARE).then_some(fenced)
    }
}
