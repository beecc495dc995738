//! (work in progress)
fn main() {}
