//! Whose streaks an origin has gone on with, and how often.

/// Counts by origin. What is counted over and over is the one of the last time: it lies in place, the others in a list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Met {
    /// The one counted last, if `times` > 0; it may be in the list, too.
    last: u32,
    times: u64,
    others: Vec<(u32, u64)>,
}

impl Met {
    #[inline]
    pub(crate) fn count(&mut self, origin: u32) {
        if self.last != origin {
            self.change(origin);
        }
        self.times += 1;
    }

    fn change(&mut self, origin: u32) {
        if self.times > 0 {
            match self.others.iter_mut().find(|o| o.0 == self.last) {
                Some(known) => known.1 += self.times,
                None => self.others.push((self.last, self.times)),
            }
        }
        (self.last, self.times) = (origin, 0);
    }

    /// Origins and counts; one may come twice.
    pub(crate) fn all(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        let last = (self.times > 0).then_some((self.last, self.times));
        self.others.iter().copied().chain(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_time_is_counted_once() {
        let mut met = Met::default();
        assert_eq!(met.all().count(), 0);
        for origin in [3, 3, 0, 3, 5, 0] {
            met.count(origin);
        }
        let times = |of| met.all().filter(|m| m.0 == of).map(|m| m.1).sum::<u64>();
        assert_eq!([0, 3, 5].map(times), [2, 3, 1]);
    }
}
