//! A program's memory, rebuilt from a recording with values: at its end, or where each thread had come
//! so far.
//!
//! What is stored, what the kernel writes, and what was there before comes in the order of the
//! stamps (`ordered`): around every atomic and behind every system call there is one. So what locks order,
//! and what a thread finds that another one has handed over by an atomic or through the kernel, is in order.
//! Where two threads store the same byte, each between two of its stamps and both at the same time,
//! the recording does not know who was last: the byte is *unordered*, its value is that of the stretch
//! that began later, and [`Memory::others`] has what else it may be.
//!
//! What else is not known is counted ([`Counts`]): memory that other processes write, that the kernel
//! writes at its own time, or of which what was stored could not be read any more.

mod counts;
mod files;
mod memory;
mod order;
mod page;
mod pass;
mod ranges;

pub use counts::Counts;
pub use memory::Memory;
pub use page::PAGE;
pub use pass::Rebuild;
