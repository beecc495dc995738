//! A memory controller: what waits before a device.

mod batched;
mod contended;
mod pending;
mod slots;
#[cfg(test)]
mod tests;

pub(crate) use batched::BatchedWrites;
pub(crate) use contended::ContendedWrites;
pub(crate) use slots::Slots;
