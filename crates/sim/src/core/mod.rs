//! Cores: pipeline, store path, fences, flushes.
//!
//! A [`Core`] executes the operations of one thread. Its clock is the time at which the next
//! instruction can dispatch; what goes on beside that (stores on their way to the cache, flushes,
//! non-temporal data) is carried out lazily: before each operation, everything that was due by then
//! is done, at the time at which it was due. So the calls a core makes below come nearly in order of
//! time, however much it has pending.
//!
//! | part | what it is |
//! |---|---|
//! | `front` | dispatch at the pipeline's width, reorder window, load ports |
//! | `fills` | line fill buffers, shared by misses, flushes and write combining |
//! | `stores` | the store path: a store buffer in order (TSO), or a merging write buffer (weak) |
//! | `non_temporal` | non-temporal stores before they leave the core, and write-combining buffers |
//! | `flushes` | flushes and demotions that wait for an older store, a buffer or each other |
//! | `waiting` | loads whose address another load brings |
//! | `names` | which stores all that comes from, where somebody wants to know |
//! | `access`, `typed`, `order` | what each operation does with those |
//!
//! What is simplified: arithmetic takes no time beyond its place in the pipeline, so that of what an operation
//! depends on only loads count, as far as the operations say ([`crate::Op::after`]); nothing is executed on a wrong path; instructions are not fetched.

mod access;
mod atomics;
pub(crate) mod bytes;
mod env;
mod fills;
mod filter;
mod flushes;
mod forwarding;
mod front;
mod handing;
mod in_engine;
mod names;
mod non_temporal;
mod order;
mod params;
mod pipeline;
mod plain;
mod results;
mod stalls;
mod stores;
mod typed;
mod under;
mod waiting;

pub use pipeline::Core;
pub use results::CoreResults;
pub use stalls::{Cause, Stalls};
