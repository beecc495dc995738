//! The arguments of `prestore crash --check`.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::error::CliError;
use crate::output;

/// How crash images are checked.
#[derive(Args, Debug)]
pub struct ImageArgs {
    /// Run CMD on images that a power cut may leave: {image} is the image's file; exit code 0 means that it
    /// can be recovered from. Needs a recording with --values
    #[arg(long, value_name = "CMD")]
    pub check: Option<String>,
    /// How many images at most
    #[arg(long = "images", value_name = "N", default_value_t = 10_000, requires = "check",
          value_parser = clap::value_parser!(u64).range(1..))]
    pub most: u64,
    /// Which images are taken by chance
    #[arg(long, value_name = "N", default_value_t = 1, requires = "check")]
    pub seed: u64,
    /// Checks at once [default: the processors]
    #[arg(long, value_name = "N", requires = "check", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Seconds that a check may take; a longer one has failed
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, requires = "check",
          value_parser = seconds)]
    pub timeout: f64,
    /// Stop when so many checks in a row have had no answer in time; 0: never
    #[arg(long, value_name = "N", default_value_t = 20, requires = "check")]
    pub hangs: u32,
    /// The power stays until this function, or FILE:LINE, first stores, flushes or fences: what comes before makes
    /// the memory ready
    #[arg(long, value_name = "NAME", requires = "check")]
    pub from: Option<String>,
    /// Where the failing image goes, a new file [default: DIR.failed-image]
    #[arg(long, value_name = "FILE", requires = "check")]
    pub keep: Option<PathBuf>,
    /// Folder for the images that are checked [default: /dev/shm, else that for temporary files]
    #[arg(long, value_name = "DIR", requires = "check")]
    pub scratch: Option<PathBuf>,
    /// Write here how far it has come, and go on where it was left
    #[arg(long, value_name = "FILE", requires = "check")]
    pub resume: Option<PathBuf>,
}

impl ImageArgs {
    /// Looks whether what is to be written can be, before hours of work.
    pub fn expect_files(&self) -> Result<(), CliError> {
        if let Some(keep) = &self.keep {
            // It may well be the pool itself; or what this run has kept before it was interrupted.
            let goes_on = self.resume.as_ref().is_some_and(|state| state.exists());
            if keep.symlink_metadata().is_ok() && !goes_on {
                return Err(kept_already(keep));
            }
            output::expect(keep, "--keep")?;
        }
        match &self.resume {
            Some(resume) => output::expect(resume, "--resume"),
            None => Ok(()),
        }
    }
}

/// A file that is there is never overwritten.
pub fn kept_already(keep: &Path) -> CliError {
    CliError::Usage(format!(
        "--keep {}: it is there already and is not overwritten: remove it, or name another file",
        keep.display()
    ))
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= 86_400.0 => Ok(seconds),
        _ => Err("give seconds above 0, a day at most".to_owned()),
    }
}
