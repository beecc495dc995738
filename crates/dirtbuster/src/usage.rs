//! How written lines were used: the sums behind re-read and re-write distances.

use crate::Thresholds;
use crate::findings::Distance;

/// Sums over the writings of lines.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    /// Writings of a line; a streak is one.
    pub(crate) lines: u64,
    /// Of them, those that were read before they were written again.
    pub(crate) reread: u64,
    /// Sum of the distances to the first read.
    pub(crate) reread_sum: u64,
    /// Read within the reuse window.
    pub(crate) reread_soon: u64,
    /// Those that were written again.
    pub(crate) rewritten: u64,
    /// Sum of the distances to the next writing.
    pub(crate) rewrite_sum: u64,
    /// Written again within the reuse window.
    pub(crate) rewritten_soon: u64,
    /// Written again within the rewrite window.
    pub(crate) rewritten_near: u64,
}

impl Usage {
    #[inline]
    pub(crate) fn read_after(&mut self, distance: u64, t: &Thresholds) {
        self.reread += 1;
        self.reread_sum += distance;
        self.reread_soon += u64::from(distance <= t.reuse_window);
    }

    #[inline]
    pub(crate) fn written_after(&mut self, distance: u64, t: &Thresholds) {
        self.rewritten += 1;
        self.rewrite_sum += distance;
        self.rewritten_soon += u64::from(distance <= t.reuse_window);
        self.rewritten_near += u64::from(distance <= t.rewrite_window);
    }

    pub(crate) fn merge(&mut self, o: &Self) {
        self.lines += o.lines;
        self.reread += o.reread;
        self.reread_sum += o.reread_sum;
        self.reread_soon += o.reread_soon;
        self.rewritten += o.rewritten;
        self.rewrite_sum += o.rewrite_sum;
        self.rewritten_soon += o.rewritten_soon;
        self.rewritten_near += o.rewritten_near;
    }

    pub(crate) fn reread_distance(&self) -> Distance {
        distance(self.reread, self.reread_sum, self.lines)
    }

    pub(crate) fn rewrite_distance(&self) -> Distance {
        distance(self.rewritten, self.rewrite_sum, self.lines)
    }
}

fn distance(n: u64, sum: u64, of: u64) -> Distance {
    Distance {
        mean: (n > 0).then(|| sum as f64 / n as f64),
        share: if of == 0 { 0.0 } else { n as f64 / of as f64 },
    }
}
