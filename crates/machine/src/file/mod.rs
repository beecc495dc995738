//! From TOML files to one tree of values, each with its source and its place.
//!
//! [`read`] makes a tree of one file, [`load`] finds the files a machine is made of (`inherits`,
//! devices) and lays them over each other ([`merge`]), [`de`] turns the tree into the types.

mod de;
mod load;
mod merge;
mod node;
mod read;
mod search;
mod set;
mod shipped;

pub use de::{Sections, Unnamed};
pub use load::{Loaded, load};
pub use node::{Kind, Leaf, Node, Source, Value};
pub use read::join;
pub use search::{Found, Search, What};
