//! Places that are held for a time: misses under way, victims that wait for the controller.

use prestore_sim::Time;

/// So many places, each with the time until which it is held.
#[derive(Clone)]
pub struct Slots(Vec<Time>);

impl Slots {
    pub fn new(count: u32) -> Self {
        Self(vec![Time::ZERO; count as usize])
    }

    /// The place that is free first, and when.
    pub fn first_free(&self) -> (usize, Time) {
        let held = self.0.iter().copied().enumerate();
        held.min_by_key(|&(_, until)| until).unwrap()
    }

    pub fn hold(&mut self, place: usize, until: Time) {
        self.0[place] = until;
    }
}
