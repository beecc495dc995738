//! Which memory a line lives in, of which type that is, and who decides.

mod placer;
mod ranges;
mod room;
mod site;
mod table;
#[cfg(test)]
mod tests;

pub use placer::{Placer, Places};
pub use room::Fullness;
pub(crate) use room::Room;
pub use site::CallSite;
pub(crate) use table::LineTable;
