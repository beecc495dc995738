//! Phase-change memory with row buffers (P3 table I, P4 table 3.1).

use serde::Deserialize;

use crate::quantity::{Nanos, Rate, Size};

/// One channel of PCM: reads open a row from the array; when a dirty row is written back to it,
/// [`Recovery`] says.
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
    /// Precharge of a row that need not be written back.
    pub t_rp: Nanos,
    /// Write recovery: writing the row buffer's dirty bytes to the array.
    pub t_wr: Nanos,
    /// When that happens.
    #[serde(default)]
    pub recovery: Recovery,
    /// Write to read turnaround of the bus.
    pub t_wtr: Nanos,
    /// Four-activation window (`None`: not limited).
    pub t_faw: Option<Nanos>,
    /// Peak data rate of the channel.
    pub bandwidth: Rate,
}

/// When a row buffer's dirty bytes are written to the array.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// When the row is closed, in place of its precharge (Lee et al., ISCA 2009).
    #[default]
    AtClose,
    /// From the end of the last data written on; the row may be closed when that is done, in a
    /// precharge, as DDR's tWR is defined and gem5's memory controller has it.
    BehindData,
}
