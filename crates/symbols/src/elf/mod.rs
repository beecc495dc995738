//! Reading ELF files: identity, symbol table, procedure linkage table.

mod image;
mod machine;
mod plt;
mod table;

pub use image::{FileError, Image, build_id, hex, map};
pub use machine::{Class, Machine};
pub use plt::{plt_symbols, slot_names};
pub use table::{SymbolTable, dynamic_symbols, static_symbols};
