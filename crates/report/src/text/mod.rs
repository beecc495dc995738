//! Text for people.

mod advice;
mod finding;
mod header;
mod options;
mod page;
mod report;
mod source;
mod stores;

pub use options::TextOptions;
pub use report::report_text;
pub use stores::stores_text;
