//! DRAM.

use serde::Deserialize;

use crate::quantity::{Nanos, Rate, Size};

/// One channel of DRAM.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct Dram {
    /// Banks, over all ranks and bank groups.
    pub banks: u32,
    /// Bytes of a row (over the devices of a rank).
    pub row: Size,
    /// Row to column delay.
    pub t_rcd: Nanos,
    /// Column access of a read.
    pub t_cl: Nanos,
    /// Precharge.
    pub t_rp: Nanos,
    /// Write recovery.
    pub t_wr: Nanos,
    /// Write to read turnaround of the bus.
    pub t_wtr: Nanos,
    /// Read to write turnaround of the bus.
    pub t_rtw: Nanos,
    /// Peak data rate of the channel.
    pub bandwidth: Rate,
    /// Share of the peak that scheduling and refresh leave over.
    pub efficiency: crate::quantity::Share,
    /// What happens to a row after its access.
    pub policy: PagePolicy,
}

/// Row-buffer policy.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum PagePolicy {
    /// Rows stay open.
    Open,
    /// Rows are closed after each access.
    Closed,
}
