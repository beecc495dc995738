//! Written lines on their way from the caches to a controller.

use crate::Time;

/// Lines remembered: more than cores have on their way at once.
const LINES: usize = 256;

/// When lines that were written last came, or will come, to their controller: a read of one is
/// ordered behind its write.
#[derive(Debug)]
pub(super) struct Arrivals(Box<[(u64, Time); LINES]>);

impl Arrivals {
    pub(super) fn new() -> Self {
        Self(Box::new([(u64::MAX, Time::ZERO); LINES]))
    }

    /// The line at `addr` comes at `at`. A line that shares its entry is forgotten.
    #[inline]
    pub(super) fn note(&mut self, addr: u64, at: Time) {
        self.0[entry(addr)] = (addr, at);
    }

    /// When the last write of the line at `addr` comes (zero: it is not known to be on its way).
    #[inline]
    pub(super) fn of(&self, addr: u64) -> Time {
        match self.0[entry(addr)] {
            (of, at) if of == addr => at,
            _ => Time::ZERO,
        }
    }
}

#[inline]
fn entry(addr: u64) -> usize {
    (addr.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize
}

#[cfg(test)]
mod tests {
    use super::Arrivals;
    use crate::Time;

    #[test]
    fn the_last_write_of_a_line_is_known_until_another_takes_its_entry() {
        let mut arrivals = Arrivals::new();
        arrivals.note(64, Time(5));
        arrivals.note(64, Time(9));
        assert_eq!(arrivals.of(64), Time(9));
        assert_eq!(arrivals.of(128), Time::ZERO);
        for line in 2..10_000 {
            arrivals.note(line * 64, Time(1));
        }
        assert_eq!(arrivals.of(64), Time::ZERO);
    }
}
