//! `prestore doctor`.

use std::path::Path;
use std::process::ExitCode;

use prestore_doctor::{Engine, Facts, examine, render};
use prestore_tracer::EngineError;

use crate::args::{DoctorArgs, PlainFormat};
use crate::error::{CliError, FAILED};
use crate::output;

/// Prints what this host offers; exit code 3 where recording is impossible.
pub fn run(args: &DoctorArgs) -> Result<ExitCode, CliError> {
    let diagnosis = examine(&Facts::gather(engine(), Path::new(".")));
    match args.format {
        PlainFormat::Json => output::print_json(&diagnosis)?,
        PlainFormat::Text => output::print(&render(&diagnosis, output::columns()))?,
    }
    Ok(if diagnosis.can_record() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(FAILED)
    })
}

fn engine() -> Engine {
    match prestore_tracer::Engine::find() {
        Ok(engine) => Engine::Found {
            version: prestore_tracer::Engine::version()
                .unwrap_or("unknown")
                .into(),
            path: engine.dir().to_owned(),
        },
        Err(EngineError::Unpack { path, .. }) => Engine::NotFound {
            looked_in: vec![path],
            fix: "export PRESTORE_ENGINE_DIR=$HOME/.prestore".into(),
        },
        Err(EngineError::NotBuilt) => Engine::NotFound {
            looked_in: vec!["this executable".into()],
            fix: "cargo build --release --target x86_64-unknown-linux-gnu".into(),
        },
    }
}
