//! The four-activation window.

use crate::Time;

/// At most four rows are opened within the window's duration: also where calls do not come in order
/// of time.
#[derive(Clone, Debug)]
pub(super) struct ActivationWindow {
    length: Option<Time>,
    /// The latest activations, in order of time.
    latest: [Time; REMEMBERED],
    known: usize,
}

const REMEMBERED: usize = 16;
const ALLOWED: usize = 4;

impl ActivationWindow {
    /// `None`: no limit.
    pub(super) fn new(length: Option<Time>) -> Self {
        Self {
            length,
            latest: [Time::ZERO; REMEMBERED],
            known: 0,
        }
    }

    /// Opens a row as soon as the window lets it, from `at` on; answers when.
    pub(super) fn activate(&mut self, mut at: Time) -> Time {
        let Some(length) = self.length else {
            return at;
        };
        let known = &self.latest[..self.known];
        let before = |at: Time| known.iter().rposition(|t| *t <= at).map_or(0, |i| i + 1);
        while let Some(later) = crowded(known, before(at), at, length) {
            at = later;
        }
        self.remember(before(at), at);
        at
    }

    fn remember(&mut self, mut place: usize, at: Time) {
        if self.known == REMEMBERED {
            if place == 0 {
                return;
            }
            self.latest.copy_within(1.., 0);
            self.known -= 1;
            place -= 1;
        }
        self.latest.copy_within(place..self.known, place + 1);
        self.latest[place] = at;
        self.known += 1;
    }
}

/// Would one more at `at`, after `place` of the `known`, be the fifth within `length`? Then the
/// next time to try.
fn crowded(known: &[Time], place: usize, at: Time, length: Time) -> Option<Time> {
    // Of the five, `earlier` come before the new one.
    (0..=ALLOWED.min(place)).rev().find_map(|earlier| {
        let first = place - earlier;
        let last = place + ALLOWED - earlier;
        let from = if earlier == 0 { at } else { known[first] };
        let until = if last == place {
            at
        } else {
            *known.get(last - 1)?
        };
        (until.since(from) < length).then(|| {
            if earlier == 0 {
                known[place]
            } else {
                from + length
            }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_fifth_waits_for_the_first_to_leave_the_window() {
        let mut window = ActivationWindow::new(Some(Time(50)));
        let opened: Vec<_> = [0, 0, 10, 20, 30, 31, 200]
            .map(|at| window.activate(Time(at)).0)
            .into();
        assert_eq!(opened, [0, 0, 10, 20, 50, 50, 200]);
    }

    proptest! {
        #[test]
        fn five_never_lie_within_the_window(asks in prop::collection::vec(0u64..400, 1..15)) {
            let mut window = ActivationWindow::new(Some(Time(50)));
            let mut opened: Vec<u64> = Vec::new();
            for at in asks {
                let when = window.activate(Time(at)).0;
                prop_assert!(when >= at);
                opened.push(when);
            }
            opened.sort_unstable();
            for five in opened.windows(5) {
                prop_assert!(five[4] - five[0] >= 50);
            }
        }
    }
}
