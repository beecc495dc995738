//! A memory of fixed latencies that keeps a log.

use prestore_sim::{ByteMask, MemoryPort, Sent, Time};
use prestore_trace::LineAddr;

/// A call, as the memory saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    Read(u32, Time, u64),
    Write(u32, Time, u64, ByteMask),
    Upgrade(u32, Time, u64),
    Ask(u32, Time, u64),
}

/// Reads take 100 cycles of the test machine, writes 20, upgrades 80, questions 30.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log(pub Vec<Call>);

impl MemoryPort for Log {
    fn read(&mut self, core: u32, at: Time, line: LineAddr) -> (Time, u8) {
        self.0.push(Call::Read(core, at, line.0));
        (at + Time(100_000), (line.0 % 2) as u8)
    }

    fn write(&mut self, core: u32, at: Time, line: LineAddr, bytes: ByteMask, _: Sent) -> Time {
        self.0.push(Call::Write(core, at, line.0, bytes));
        at + Time(20_000)
    }

    fn upgrade(&mut self, core: u32, at: Time, line: LineAddr) -> Time {
        self.0.push(Call::Upgrade(core, at, line.0));
        at + Time(80_000)
    }

    fn ask(&mut self, core: u32, at: Time, line: LineAddr) -> Time {
        self.0.push(Call::Ask(core, at, line.0));
        at + Time(30_000)
    }
}
