//! The loops of P4, chapters 3 (table 3.3) and 4: each can be run under every scheme that it admits.

mod convolution;
mod fft;
mod gauss;
mod gemm;
mod lu;
mod tmm;
mod values;

pub use convolution::Convolution;
pub use fft::Fft;
pub use gauss::Gauss;
pub use gemm::{Buffers, Gemm, Packing, Persistence, Variant};
pub use lu::Lu;
pub use tmm::{Granularity, Tmm};
