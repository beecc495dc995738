//! `prestore trace info DIR`.

use std::fmt::Write;
use std::process::ExitCode;

use prestore_report::{bytes, count};
use prestore_trace::container::{DamageInfo, Info, ReadError, RecordingState};
use serde::Serialize;

use crate::args::{InfoArgs, PlainFormat};
use crate::error::{CliError, USAGE};
use crate::notice;
use crate::progress::Reading;
use crate::values::{self, Values};
use crate::{output, run};

/// Prints what the recording holds, and all that is wrong with it: every stored block is read.
pub fn run(args: &InfoArgs) -> Result<ExitCode, CliError> {
    let asked = &args.stored;
    // Opened as the other verbs do, a damaged one says only that.
    let whole = match run::open(&asked.recording, asked.lenient) {
        Ok(_) => true,
        Err(CliError::Read(ReadError::Incomplete { .. })) => false,
        Err(other) => return Err(other),
    };
    let trace = run::open(&asked.recording, true)?;
    let mut info = trace.info();
    // Once for checksums, and once more for what is known of memory.
    let times = 1 + u64::from(trace.manifest().info.scope.values);
    let reading = Reading::new(false, &trace, times);
    let corrupt = trace.verify()?;
    info.damage.extend(corrupt.iter().map(DamageInfo::from));
    let values = values::of(&trace)?;
    drop(reading);
    match args.format {
        PlainFormat::Json => output::print_json(&Printed {
            info: &info,
            values,
        })?,
        PlainFormat::Text => output::print(&text(&info, values.as_ref()))?,
    }
    if asked.lenient || (whole && corrupt.is_empty()) {
        return Ok(ExitCode::SUCCESS);
    }
    notice::say(&format!(
        "{} is damaged; --lenient reads what is usable",
        asked.recording.display()
    ));
    Ok(ExitCode::from(USAGE))
}

#[derive(Serialize)]
struct Printed<'a> {
    #[serde(flatten)]
    info: &'a Info,
    values: Option<Values>,
}

/// How far the recording came, and that not all of that is here any more.
fn state(info: &Info) -> String {
    let came = format!("{:?}", info.state).to_lowercase();
    match info.state == RecordingState::Complete && !info.damage.is_empty() {
        true => format!("damaged (it was {came})"),
        false => came,
    }
}

fn text(info: &Info, values: Option<&Values>) -> String {
    let mut out = String::new();
    let mut line = |name: &str, value: String| {
        let _ = writeln!(out, "{name:<16}{value}");
    };
    line("Command", info.command.join(" "));
    line("State", state(info));
    if let Some(reason) = &info.reason {
        line("Reason", reason.clone());
    }
    let chosen: Vec<&str> = info.scope.chosen.all().collect();
    line(
        "Scope",
        match &*chosen {
            [] => info.scope.mode.clone(),
            names => format!("{} ({})", info.scope.mode, names.join(", ")),
        },
    );
    line("Processes", info.processes.to_string());
    line("Threads", info.threads.to_string());
    line("Instructions", count(info.instructions));
    line("Accesses", count(info.accesses));
    for (kind, n) in info.events.iter().filter(|(_, n)| *n > 0) {
        line(&format!("  {kind}"), count(n));
    }
    line("Dropped events", info.dropped_events.to_string());
    line("Size", bytes(info.event_bytes));
    if let Some(per) = info.bytes_per_access {
        line("Bytes an access", format!("{per:.3}"));
    }
    for (name, value) in values.map(Values::lines).unwrap_or_default() {
        line(name, value);
    }
    line("Modules", info.modules.len().to_string());
    if info.unknown_opcodes > 0 {
        line(
            "Unknown opcodes",
            format!("{} (their accesses are missing)", info.unknown_opcodes),
        );
    }
    for damage in &info.damage {
        line("Damage", damage.message.clone());
    }
    out
}
