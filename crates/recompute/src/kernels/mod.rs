//! The loops of P4, chapter 3 (table 3.3): each can be run under every scheme that it admits.

mod convolution;
mod fft;
mod gauss;
mod lu;
mod tmm;
mod values;

pub use convolution::Convolution;
pub use fft::Fft;
pub use gauss::Gauss;
pub use lu::Lu;
pub use tmm::{Granularity, Tmm};
