//! Which performance-monitoring units the kernel offers, and which of their events samples stores.

mod choose;
mod format;
mod inventory;

pub use choose::{EventPlan, Source, choose_store_event, clock_event};
pub use format::{FormatError, apply_terms};
pub use inventory::{CpuList, Inventory, Pmu};
