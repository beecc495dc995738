//! One address space for all processes.

use prestore_trace::ProcessId;

/// Addresses of user programs have 47 bits (unless they ask the kernel for more by name).
const USER_BITS: u32 = 48;

/// What is added to a process's addresses: its number, above the bits that programs use.
///
/// Two processes never meet in a line: what they share (shared memory, pages not yet copied after
/// a fork) is simulated as if each had its own. The first process's addresses stay as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space(u64);

impl Space {
    /// The space of `process`.
    pub fn of(process: ProcessId) -> Self {
        Self(u64::from(process.0) << USER_BITS)
    }

    /// The simulated address of the process's address `addr`.
    #[inline]
    pub fn place(self, addr: u64) -> u64 {
        addr.wrapping_add(self.0)
    }
}
