//! The caches as `src/cache/rules.md` describes them, written from that text alone, by maps and lists: slow,
//! short, without tricks.

mod cache;
mod device;
mod fill;
mod filter;
mod flush;
mod look;
mod model;
mod policy;
mod prefetch;
mod request;
mod search;
mod slots;
mod typed;
mod victims;
mod write;

pub use model::Reference;
pub use request::Want;
