//! From a virtual address to a place on a device.

mod interleave;
mod pages;

pub(crate) use interleave::Interleave;
pub(crate) use pages::Pages;
