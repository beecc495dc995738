//! `prestore import FILE -o DIR`.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::ExitCode;

use prestore_report::quoted;
use prestore_trace::container::{Existing, RecordingInfo};
use prestore_trace::import::{parse_perf_script, write_samples};

use crate::args::ImportArgs;
use crate::error::CliError;
use crate::notice;
use crate::record::cannot_create;
use crate::run;

/// Makes a recording of samples.
pub fn run(args: &ImportArgs) -> Result<ExitCode, CliError> {
    let input: Box<dyn BufRead> = if args.input == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        let file = File::open(&args.input).map_err(|e| {
            CliError::Usage(format!("{}: cannot be read: {e}", args.input.display()))
        })?;
        Box::new(BufReader::new(file))
    };
    let samples = parse_perf_script(input).map_err(|e| CliError::Usage(e.to_string()))?;
    let info = RecordingInfo {
        command: vec![format!("perf script: {}", args.input.display())],
        ..RecordingInfo::default()
    };
    let existing = if args.force {
        Existing::Replace
    } else {
        Existing::Keep
    };
    write_samples(&args.output, &samples, info, existing).map_err(cannot_create)?;
    notice::say(&format!(
        "{} in {}; not understood: {}",
        run::number(samples.samples.len() as u64, "sample"),
        args.output.display(),
        run::number(samples.skipped_lines, "line")
    ));
    for skipped in &samples.skipped {
        notice::say(&skipped.to_string());
    }
    notice::say(&format!("next: prestore advise {}", quoted(&args.output)));
    Ok(ExitCode::SUCCESS)
}
