//! Programs of random blocks that tell what their processor's registers and memory hold behind each:
//! natively and recorded they must tell the same.
// Each test binary uses a part of it.
#![allow(dead_code, unused_imports)]

mod avx512;
mod block;
mod check;
mod control;
mod faults;
mod features;
mod fixed;
mod generate;
mod memory;
mod newer;
mod program;
mod regs;
mod rng;
mod scalar;
mod shrink;
mod stack;
mod strings;
mod template;
mod tiles;
mod vector;
mod x87;

pub use check::{Case, check, check_lines};
pub use features::{Features, Level};
pub use program::Plan;
