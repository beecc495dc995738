//! A memory controller: what waits before a device.

mod any;
mod batched;
mod in_order;
mod pending;
mod queue;
mod slots;
#[cfg(test)]
mod tests;

pub(crate) use any::AnyQueue;
pub(crate) use batched::BatchedWrites;
pub(crate) use in_order::InOrderWrites;
pub(crate) use queue::{Path, Taken, WriteQueue};
pub(crate) use slots::Slots;
