//! What a core does, at exact cycles, between neighbours that do nothing but note what they are
//! asked and answer after a fixed time. The clock is 1 GHz: a cycle is a nanosecond.

mod atomics;
mod combining;
mod fences;
mod flushes;
mod front;
mod granted;
mod leaving;
mod loads;
mod machine;
mod mock;
mod names;
mod ordered;
mod properties;
mod refused;
mod thread;
mod typed;
mod waiting;
mod weak;
