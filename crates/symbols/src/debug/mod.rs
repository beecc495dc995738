//! Debug information: where it is, and what it says.

mod dwarf;
mod files;

pub use dwarf::Dwarf;
pub use files::Finder;
