//! The caches as `src/cache/rules.md` describes them, by maps and lists: slow, short, without tricks.

mod cache;
mod model;
mod movement;
mod policy;
mod prefetch;
mod random;
mod request;
mod write_back;

pub use model::Reference;
pub use request::Want;
