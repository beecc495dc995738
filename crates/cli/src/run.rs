//! From the command line to the tracer's options, and from the program's end to words and a code.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitCode, ExitStatus};

use prestore_dirtbuster::Seen;
use prestore_report::{Exactness, ExactnessKind, Run, count, quoted};
use prestore_trace::block::UnknownOpcode;
use prestore_trace::container::{ReadError, ReadOptions, RecordingState, Trace};
use prestore_tracer::{
    Allocations, Bursts, Coverage, Enough, Options, Outcome, ProgramOutput, Region, Scope, Window,
};

use crate::args::{Format, RunArgs, ScopeArg};
use crate::error::{CliError, FAILED};
use crate::{host, interrupt, notice};

/// A gap is worth two translations of each block when it is this long, in instructions. An estimate: both translations of a
/// block take about 0.1 ms together, in which a program executes some 300,000 instructions. What blocks with two cases cost
/// beyond those with one differs: about twice the native time in a Python loop, nothing measurable in numeric loops.
const GAP_A_BLOCK: u64 = 500_000;

/// The tracer's options.
pub fn options(run: &RunArgs, values: bool, stdout: ProgramOutput) -> Result<Options, CliError> {
    check(run)?;
    Ok(Options {
        scope: match run.scope {
            Some(ScopeArg::Count) => Scope::Count,
            _ => Scope::All,
        },
        values,
        allocations: if run.no_allocations {
            Allocations::Ignored
        } else {
            Allocations::Recorded
        },
        window: Window {
            skip: run.skip,
            take: run.take,
            period: run.period,
        },
        region: region(run.region.as_deref())?,
        bursts: None,
        gap_a_block: GAP_A_BLOCK,
        stdout,
        stop_after: run.stop_after,
        outlived: Some(tell_outlived),
    })
}

/// Processes go on after the program's end.
pub fn tell_outlived(pids: &[u32]) {
    const NAMED: usize = 3;
    let named = |pid: &u32| match std::fs::read_to_string(format!("/proc/{pid}/comm")) {
        Ok(name) => format!("{} {pid}", name.trim_end()),
        Err(_) => pid.to_string(),
    };
    let mut names: Vec<String> = pids.iter().take(NAMED).map(named).collect();
    if pids.len() > NAMED {
        names.push("...".to_owned());
    }
    let (go_on, them) = match pids.len() {
        1 => ("1 process goes on".to_owned(), "it"),
        n => (format!("{} processes go on", count(n as u64)), "them"),
    };
    interrupt::only_others_run();
    notice::tell(&format!(
        "the program has ended, but {go_on} that it has started ({}): the recording ends with {them}, or with Ctrl-C (SIGTERM to prestore)",
        names.join(", "),
    ));
}

/// Where the program prints to, so that a result for programs is alone on stdout.
pub fn program_output(format: Format) -> ProgramOutput {
    match format {
        Format::Text => ProgramOutput::Inherited,
        Format::Json | Format::Sarif => ProgramOutput::Stderr,
    }
}

/// What the command line's grammar cannot say.
pub fn check(run: &RunArgs) -> Result<(), CliError> {
    let wrong = |why: &str| Err(CliError::Usage(why.into()));
    if !run.chosen.is_empty() && run.scope != Some(ScopeArg::Functions) {
        return wrong(
            "--function, --module and --place choose what `--scope functions` records: add that",
        );
    }
    if run.take == Some(0) {
        return wrong("--take 0 records nothing: give the number of instructions, as in 10M");
    }
    if run.stop_after.is_some_and(|time| time.is_zero()) {
        return wrong("--stop-after 0s records nothing: give a time, as in 10s");
    }
    if run
        .period
        .is_some_and(|period| run.take.is_some_and(|take| period < take))
    {
        return wrong("--period is shorter than --take: give the length from window to window");
    }
    let not_all = matches!(run.scope, Some(ScopeArg::Count | ScopeArg::Sample));
    if run.stop_after.is_some() && not_all {
        return wrong(
            "--stop-after ends recordings of accesses: leave it out, or use `--scope all`",
        );
    }
    let part = run.skip > 0 || run.take.is_some() || run.region.is_some();
    if part && run.scope == Some(ScopeArg::Sample) {
        return wrong(
            "samples are taken of the whole run: leave out --skip, --take, --period and --region, \
             or use another scope",
        );
    }
    Ok(())
}

/// `1 thread`, `12 threads`.
pub fn number(n: u64, noun: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", count(n))
}

/// Opens a recording.
pub fn open(dir: &Path, lenient: bool) -> Result<Trace, CliError> {
    Trace::open_with(dir, ReadOptions { lenient }).map_err(|error| match error {
        ReadError::OnlySamples { .. } => {
            CliError::Usage(format!("{error}, with `prestore advise {}`", quoted(dir)))
        }
        error => error.into(),
    })
}

/// What a recording says of its run. Notes: what of it was left out when it was opened.
pub fn recorded(trace: &Trace) -> Run {
    let manifest = trace.manifest();
    let info = &manifest.info;
    let windows = &info.windows;
    let part = windows.skip > 0 || windows.take.is_some() || windows.regions;
    Run {
        program: info.command.first().cloned().unwrap_or_default(),
        command: info.command.clone(),
        last_level_cache: Some(info.host.last_level_cache).filter(|&bytes| bytes > 0),
        demoting: host::demoting().filter(|_| info.host.cpu == host::cpu()),
        cwd: Some(info.cwd.clone()),
        recording: Some(trace.dir().display().to_string()),
        engine: format!("{} {}", info.engine.name, info.engine.version),
        dropped_events: manifest.dropped_events,
        processes: manifest.processes.len() as u64,
        partial: match manifest.state {
            RecordingState::Complete => None,
            RecordingState::Recording => Some("the recording was killed, or still runs".into()),
            RecordingState::Aborted => manifest.reason.clone(),
        },
        scope: info.scope.mode.clone(),
        exactness: if part {
            windowed()
        } else {
            Exactness::default()
        },
        notes: trace.damage().iter().map(ToString::to_string).collect(),
        ..Run::default()
    }
}

/// What is missing in a recording because the engine could not decode it, in a sentence; `None`: nothing.
pub fn unknown_in(trace: &Trace) -> Option<String> {
    let processes = trace.manifest().processes.iter();
    unknown_opcodes(processes.flat_map(|p| trace.unknown_opcodes(p.id)))
}

/// How exact the figures of a run are, of which windows or regions let so much through.
pub fn exactness(coverage: Option<Coverage>) -> Exactness {
    let Some(coverage) = coverage else {
        return Exactness::default();
    };
    let all = coverage.recorded + coverage.skipped;
    let mut exactness = windowed();
    exactness.detail += &format!(
        ", {} of {} instructions",
        count(coverage.recorded),
        count(all)
    );
    exactness
}

/// How exact the figures of a run are, of which stretches were looked at.
pub fn estimated(bursts: Bursts, seen: Seen, coverage: Option<Coverage>) -> Exactness {
    if seen.every == 1 {
        return Exactness::default();
    }
    let all = coverage.map_or(0, |c| c.recorded + c.skipped);
    Exactness {
        kind: ExactnessKind::Sampled,
        detail: format!(
            "figures are estimates from {} stretches of {} instructions: all of the first {}, then fewer and fewer, one of {} in the \
             end; {} instructions were executed (`--budget all` looks at everything)",
            count(seen.stretches),
            count(bursts.burst),
            count(bursts.dense),
            seen.every,
            count(all)
        ),
    }
}

/// Exact inside windows or regions.
pub fn windowed() -> Exactness {
    Exactness {
        kind: ExactnessKind::Windowed,
        detail: "only what the windows or regions let through was seen".into(),
    }
}

/// What is missing because the engine could not decode it, in a sentence; `None`: nothing.
pub fn unknown_opcodes<'a>(found: impl IntoIterator<Item = &'a UnknownOpcode>) -> Option<String> {
    let (mut places, mut executions) = (0u64, 0u64);
    let mut example = None;
    for unknown in found {
        places += 1;
        executions += unknown.executions;
        example.get_or_insert(unknown.bytes);
    }
    let bytes: Vec<String> = example?.iter().map(|b| format!("{b:02x}")).collect();
    Some(format!(
        "{} unknown to the engine, executed {} times in all; what is read and written there is \
         missing (bytes of the first: {})",
        number(places, "instruction"),
        count(executions),
        bytes[..8].join(" ")
    ))
}

/// What a run's recording leaves out, a sentence each.
pub fn missing(outcome: &Outcome) -> Vec<String> {
    let mut all: Vec<String> = unknown_opcodes(&outcome.unknown_opcodes)
        .into_iter()
        .collect();
    for (alike, note) in outcome.notes.iter().enumerate() {
        let earlier = &outcome.notes[..alike];
        if !earlier.iter().any(|other| other.says_the_same(note)) {
            all.push(note.to_string());
        }
    }
    all
}

/// Highest region number that the marker macros take.
const MAX_REGION: u16 = 4095;

/// The source regions that `--region` names.
pub fn region(text: Option<&str>) -> Result<Region, CliError> {
    match text {
        None => Ok(Region::Everything),
        Some("any") => Ok(Region::Any),
        Some(text) => match text.parse() {
            Ok(id) if id <= MAX_REGION => Ok(Region::Id(id)),
            _ => Err(CliError::Usage(format!(
                "--region {text}: give a region's number (0 to {MAX_REGION}) or 'any'"
            ))),
        },
    }
}

/// Why a recording is not the whole run; `None`: it is.
pub fn partial(outcome: &Outcome) -> Option<String> {
    let torn = u64::from(outcome.torn_threads);
    ended_early(outcome).or_else(|| {
        (torn > 0).then(|| {
            format!(
                "killed while running: {}; what came before is recorded",
                number(torn, "thread")
            )
        })
    })
}

/// What ended the recording, or the program, before its end.
fn ended_early(outcome: &Outcome) -> Option<String> {
    if let Some(failure) = &outcome.failure {
        return Some(failure.to_string());
    }
    if outcome.interrupted {
        return Some("recording was stopped by the user".into());
    }
    match outcome.enough {
        Some(Enough::Time(time)) => {
            let time = humantime::format_duration(time);
            return Some(format!(
                "recording ended after {time}, as asked (--stop-after)"
            ));
        }
        Some(Enough::Taker) => {
            return Some("recording ended at the size that was asked for (--max-size)".into());
        }
        None => {}
    }
    let signal = outcome.status.and_then(|s| s.signal());
    signal.map(|signal| format!("the program was killed by signal {signal}"))
}

/// Tells how the program ended if it did not end well.
pub fn tell_end(status: Option<ExitStatus>) {
    match status {
        Some(status) if !status.success() => match status.signal() {
            Some(signal) => notice::tell(&format!("the program was killed by signal {signal}")),
            None => notice::tell(&format!(
                "the program ended with exit code {}",
                status.code().unwrap_or(-1)
            )),
        },
        None => notice::tell("the program was left running, unrecorded"),
        Some(_) => {}
    }
}

/// The command's exit code: 0, or 3 where the program or its recording failed.
pub fn exit_code(outcome: &Outcome) -> ExitCode {
    match &outcome.failure {
        Some(_) => ExitCode::from(FAILED),
        None => code_of(outcome.status),
    }
}

/// 0, or 3 where the program failed; one that was left running did not.
pub fn code_of(status: Option<ExitStatus>) -> ExitCode {
    if status.is_none_or(|s| s.success()) {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(FAILED)
    }
}

/// The error of a run of which nothing was recorded: what ended the recording, what kept it from a process, or what was asked for.
pub fn nothing(run: &RunArgs, outcome: &Outcome) -> CliError {
    let kept = || outcome.notes.first().map(ToString::to_string);
    let why = ended_early(outcome).or_else(kept);
    let why = why.unwrap_or_else(|| why_empty(run));
    CliError::Failed(format!("nothing was recorded: {why}"))
}

/// What to look at when a recording has nothing in it.
fn why_empty(run: &RunArgs) -> String {
    match &run.region {
        Some(id) if id == "any" => {
            "the program entered no source region; mark one with PRESTORE_REGION_BEGIN \
             (prestore_region.h), or leave out --region"
                .into()
        }
        Some(id) => format!(
            "the program never entered region {id}; give the number of its PRESTORE_REGION_BEGIN, \
             or `--region any`"
        ),
        None if run.skip > 0 => format!(
            "the program ended within the {} skipped instructions; skip fewer",
            count(run.skip)
        ),
        None => "the program made no access in the recorded scope".into(),
    }
}
