//! The program as it was recorded.

use super::Mechanism;
use crate::Op;

/// No mechanism: operations pass untouched, at no cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoMechanism;

impl Mechanism for NoMechanism {
    const REWRITES: bool = false;

    fn name(&self) -> &str {
        "none"
    }

    fn ops(&mut self, _thread: u32, input: &[Op], out: &mut Vec<Op>) {
        out.extend_from_slice(input);
    }
}
