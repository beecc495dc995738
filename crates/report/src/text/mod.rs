//! Text for people.

mod advice;
mod finding;
pub(crate) mod header;
mod left_alone;
mod list;
mod options;
mod page;
mod pitfalls;
mod report;
mod simulation;
mod source;
mod stores;

pub use list::{list_text, message_text};
pub use options::TextOptions;
pub(crate) use page::Page;
pub use report::report_text;
pub use simulation::simulation_text;
pub use stores::stores_text;
