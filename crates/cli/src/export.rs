//! `prestore export DIR --to parquet`.

use std::process::ExitCode;

use prestore_trace::container::TABLES;
use prestore_trace::export::{ExportError, SiteName, to_parquet, unfinished};

use crate::args::{ExportArgs, ExportFormat};
use crate::error::CliError;
use crate::interrupt;
use crate::naming::Namer;
use crate::notice;
use crate::progress::Reading;
use crate::run;

/// Writes the recording's tables.
pub fn run(args: &ExportArgs) -> Result<ExitCode, CliError> {
    let trace = args.stored.open()?;
    let ExportFormat::Parquet = args.to;
    let out = args
        .output
        .clone()
        .unwrap_or_else(|| args.stored.recording.join(TABLES));
    // A half of a large table helps nobody.
    interrupt::end_at_once()?;
    unfinished(&out).for_each(|file| interrupt::takes_along(&file));
    let times = if trace.manifest().info.scope.values {
        2
    } else {
        1
    };
    let reading = Reading::new(false, &trace, times);
    let mut namer = Namer::new(trace.sites().clone(), &[]);
    let exported = to_parquet(&trace, &out, |site, module| {
        match namer.frames(site, module).into_iter().next() {
            Some(frame) => SiteName {
                function: frame.function,
                file: frame.file,
                line: frame.line,
            },
            None => SiteName::default(),
        }
    })
    .map_err(|error| match error {
        ExportError::Read(error) => error.into(),
        ExportError::Replay { .. } | ExportError::Exists { .. } | ExportError::Folder { .. } => {
            CliError::Usage(error.to_string())
        }
        error => CliError::Failed(error.to_string()),
    })?;
    drop(reading);
    for note in &exported.left_out {
        notice::say(&note.to_string());
    }
    notice::say(&format!(
        "{}, {}, {} written to {}",
        run::number(exported.events, "event"),
        run::number(exported.sites, "site"),
        run::number(exported.threads, "thread"),
        out.display()
    ));
    Ok(ExitCode::SUCCESS)
}
