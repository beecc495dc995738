//! Phase-change memory with row buffers (P3 table I, P4 table 3.1).

use serde::Deserialize;

use crate::quantity::{Nanos, Rate, Size};

/// One channel of PCM: reads open a row from the array, writes go back to the array when a dirty
/// row is closed.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct Pcm {
    /// Banks, over all ranks.
    pub banks: u32,
    /// Bytes of a row buffer.
    pub row: Size,
    /// Row to column delay: reading the array into the row buffer.
    pub t_rcd: Nanos,
    /// Column access of a read.
    pub t_cl: Nanos,
    /// Column access of a write.
    pub t_cwd: Nanos,
    /// Precharge of a clean row.
    pub t_rp: Nanos,
    /// Write recovery: writing the row buffer's dirty bytes to the array.
    pub t_wr: Nanos,
    /// Write to read turnaround of the bus.
    pub t_wtr: Nanos,
    /// Four-activation window (`None`: not limited).
    pub t_faw: Option<Nanos>,
    /// Peak data rate of the channel.
    pub bandwidth: Rate,
}
