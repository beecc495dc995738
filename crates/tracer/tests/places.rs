//! Where things of the program's and the recorder's own lie in memory.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{cc, same};

/// GCL's images begin at the lowest page there may be. One time in seven the client lay right behind them, so that they had no
/// break, or ended with a fault.
#[test]
fn programs_at_the_lowest_addresses_have_a_break() {
    let flags = ["-no-pie", "-Wl,-Ttext-segment=0x18000"];
    same(&[], &[cc("low_program", &flags)]);
}
