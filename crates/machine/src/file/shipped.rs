//! The files inside the executable.

include!(concat!(env!("OUT_DIR"), "/shipped.rs"));
