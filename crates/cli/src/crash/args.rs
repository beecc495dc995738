//! The arguments of `prestore crash`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use prestore_crash::Domain;

use super::images::ImageArgs;
use crate::args::{Format, StoredArgs};

/// What a power cut leaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum DomainArg {
    /// What was flushed and fenced
    #[default]
    Adr,
    /// The caches too: no flush is of use
    Eadr,
}

impl From<DomainArg> for Domain {
    fn from(arg: DomainArg) -> Self {
        match arg {
            DomainArg::Adr => Self::Adr,
            DomainArg::Eadr => Self::Eadr,
        }
    }
}

/// Arguments of `prestore crash`.
#[derive(Args, Debug)]
pub struct CrashArgs {
    /// What to read.
    #[command(flatten)]
    pub stored: StoredArgs,
    /// Memory that is persistent (repeatable): a file that the program mapped (a last part of its
    /// path is enough), a range of addresses as 0xFIRST-0xEND or 0xFIRST+SIZE, or what a function, or
    /// FILE:LINE, allocates [default: all files mapped with MAP_SHARED]
    #[arg(long = "image", value_name = "RANGE|FILE")]
    pub images: Vec<String>,
    /// What a power cut leaves
    #[arg(long, value_enum, default_value_t)]
    pub domain: DomainArg,
    /// Images that a power cut may leave.
    #[command(flatten)]
    pub check: ImageArgs,
    /// Exit with code 1 if there is any finding, or an image failed
    #[arg(long)]
    pub fail_on_findings: bool,
    /// Form of the output
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Folder with separate debug files (repeatable)
    #[arg(long, value_name = "DIR", value_parser = crate::args::folder())]
    pub debug_dir: Vec<PathBuf>,
    /// Nothing on stderr but errors
    #[arg(short, long)]
    pub quiet: bool,
}
