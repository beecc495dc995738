//! Arguments of `prestore machine calibrate`.

use std::path::PathBuf;

use clap::Args;

use crate::args::PlainFormat;

/// Arguments of `prestore machine calibrate`.
#[derive(Args, Debug)]
pub struct CalibrateArgs {
    /// Where the machine file goes [default: ~/.config/prestore/machines/host.toml, so that the machine is `host`]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Measure for some seconds only: for a look, not to rely on
    #[arg(long)]
    pub quick: bool,
    /// Measure once and write the file even where other work on the host disturbs the figures
    #[arg(long)]
    pub force: bool,
    /// Form of what is printed
    #[arg(long, value_enum, default_value_t)]
    pub format: PlainFormat,
    /// Nothing on stderr but errors: neither progress nor notes
    #[arg(short, long)]
    pub quiet: bool,
}
