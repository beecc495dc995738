//! The caches as `src/cache/rules.md` describes them, and nothing else: written from those rules alone, with
//! lists that are searched from end to end, and without a thought of speed. What is said there in a section stands
//! here in the file of that name.

mod cache;
mod counting;
mod directory;
mod fills;
mod flush;
mod levels;
mod model;
mod policy;
mod prefetch;
mod request;
mod sources;
mod typed;
mod victims;
mod waiting;
mod write;

pub use model::Reference;
pub use request::Want;
