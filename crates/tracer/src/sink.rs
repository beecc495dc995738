//! Who takes what was recorded.

use prestore_trace::block::BlockTable;
use prestore_trace::{ProcessId, SiteTable, ThreadId};
use thiserror::Error;

/// A traced process.
#[derive(Clone, Copy, Debug)]
pub struct ProcessInfo {
    /// Its number in the recording.
    pub id: ProcessId,
    /// Kernel's process id.
    pub pid: u32,
    /// Its parent's.
    pub parent: u32,
    /// The process whose memory and code it began with, for a forked one.
    pub origin: Option<ProcessId>,
}

/// A traced thread.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    /// Its number in the recording.
    pub thread: ThreadId,
    /// Its process.
    pub process: ProcessId,
    /// Kernel's thread id.
    pub tid: u32,
}

/// How often each block of a thread ran (scope `count`).
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Block id and executions, those that ran.
    pub blocks: Vec<(u32, u64)>,
    /// Blocks whose counts are lost: their ids lie beyond the thread's counters.
    pub lost: u64,
}

/// A taker's failure: the recording ends, the program runs on.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct SinkError(#[source] pub Box<dyn std::error::Error + Send + Sync>);

/// Takes what was recorded, in the order of its happening as far as buffers tell. What a taker
/// does not care for, it need not have.
pub trait Sink {
    /// A process appeared.
    ///
    /// # Errors
    /// Any error ends the recording; so do those of the other methods.
    fn process(&mut self, _info: ProcessInfo) -> Result<(), SinkError> {
        Ok(())
    }

    /// Whole frames of a process's meta log, already taken into `table`.
    ///
    /// # Errors
    /// See [`Sink::process`].
    fn meta(
        &mut self,
        _process: ProcessId,
        _frames: &[u8],
        _table: &BlockTable,
    ) -> Result<(), SinkError> {
        Ok(())
    }

    /// A thread appeared.
    ///
    /// # Errors
    /// See [`Sink::process`].
    fn thread(&mut self, _stream: Stream) -> Result<(), SinkError> {
        Ok(())
    }

    /// One buffer of a thread's words; whole records. Nothing comes in scope `count`.
    ///
    /// # Errors
    /// See [`Sink::process`].
    fn words(
        &mut self,
        _stream: Stream,
        _words: &[u64],
        _table: &BlockTable,
        _sites: &mut SiteTable,
    ) -> Result<(), SinkError> {
        Ok(())
    }

    /// The block counts of a thread that has ended. Only in scope `count`.
    ///
    /// # Errors
    /// See [`Sink::process`].
    fn counts(
        &mut self,
        _stream: Stream,
        _counts: &Counts,
        _table: &BlockTable,
        _sites: &mut SiteTable,
    ) -> Result<(), SinkError> {
        Ok(())
    }

    /// Instructions that the thread has executed up to the end of its last buffer, those between windows included, if the
    /// taker counts them; otherwise 0. A recording in bursts needs it.
    fn executed(&self, _stream: Stream) -> u64 {
        0
    }

    /// Has the taker all that it wants? Recording ends then, and the program runs on; what was recorded up to then
    /// is still delivered.
    fn has_enough(&self) -> bool {
        false
    }

    /// A thread has ended: all that it did was delivered.
    ///
    /// # Errors
    /// See [`Sink::process`].
    fn thread_ended(&mut self, _stream: Stream) -> Result<(), SinkError> {
        Ok(())
    }

    /// A process has ended, after all its threads, and after every process that it forked has
    /// appeared: nothing will refer to it any more.
    ///
    /// # Errors
    /// See [`Sink::process`].
    fn process_ended(&mut self, _process: ProcessId) -> Result<(), SinkError> {
        Ok(())
    }

    /// Called about once a second: a chance to bring buffered data to safety.
    ///
    /// # Errors
    /// See [`Sink::process`].
    fn tick(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
}
