//! What there are only so many of: `mshrs`, places of an eviction buffer.

use prestore_sim::Time;

/// When each is free again.
#[derive(Clone, Debug)]
pub struct Slots(Vec<Time>);

impl Slots {
    pub fn new(number: u32) -> Self {
        Self(vec![Time::ZERO; number as usize])
    }

    /// The one that is free first, and from when on.
    pub fn first(&self) -> (usize, Time) {
        let free = self.0.iter().copied().enumerate();
        free.min_by_key(|&(_, free)| free).unwrap()
    }

    pub fn hold(&mut self, slot: usize, until: Time) {
        self.0[slot] = until;
    }
}
