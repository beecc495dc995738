//! Which memory a line lives in, and who decides.

mod placer;
mod ranges;
mod room;
mod site;
mod table;
#[cfg(test)]
mod tests;

pub use placer::Placer;
pub use room::Fullness;
pub(crate) use room::Room;
pub use site::CallSite;
pub(crate) use table::PlaceTable;
