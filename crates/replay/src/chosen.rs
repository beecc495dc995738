//! Which threads of a recording are simulated.

use prestore_trace::container::{Decoder, ReadError, Trace};
use prestore_trace::{ProcessId, ThreadId};

use crate::{Options, SourceError};

/// The threads that executed something and that `options` ask for, with their processes.
pub(crate) fn threads(
    trace: &Trace,
    options: &Options,
) -> Result<Vec<(ThreadId, ProcessId)>, SourceError> {
    if let Some(damage) = trace.damage().first().filter(|_| !options.lenient) {
        let damage = damage.to_string();
        return Err(SourceError::Damaged { damage });
    }
    let nothing = |what: &str| SourceError::Nothing {
        dir: trace.dir().to_owned(),
        what: what.to_owned(),
    };
    let all = trace.manifest().threads.iter();
    let ran = all.filter(|t| t.totals.executions > 0);
    let ran: Vec<_> = ran.map(|t| (t.id, t.process)).collect();
    if ran.is_empty() && trace.manifest().info.scope.mode == "count" {
        return Err(nothing(
            "only counts were recorded (scope `count`); `prestore record --scope all` records \
             what can be simulated",
        ));
    }
    if ran.is_empty() {
        return Err(nothing(
            "nothing was recorded; if it was recorded with windows, regions or functions, did the \
             program ever come there?",
        ));
    }
    let of = |asked: &Option<Vec<_>>, id| asked.as_ref().is_none_or(|a| a.contains(&id));
    let in_process = |p| (options.processes.as_ref()).is_none_or(|all| all.contains(&p));
    let wanted: Vec<_> = (ran.into_iter())
        .filter(|&(t, p)| of(&options.threads, t) && in_process(p))
        .collect();
    if wanted.is_empty() {
        return Err(nothing(
            "none of the threads asked for executed anything; `prestore trace info DIR` lists them",
        ));
    }
    Ok(wanted)
}

pub(crate) fn decoder() -> Result<Decoder, SourceError> {
    let failed = |e| ReadError::Io {
        path: "zstd".into(),
        source: std::io::Error::other(e),
    };
    Ok(Decoder::new().map_err(failed)?)
}

/// Does the recording say what was stored, and by all code?
pub fn need_values(trace: &Trace) -> Result<(), SourceError> {
    let scope = &trace.manifest().info.scope;
    let why = if !scope.values {
        "it has no values: what was stored is not in it"
    } else if scope.mode == "functions" {
        "it has the values of some functions' stores only (scope `functions`)"
    } else {
        return Ok(());
    };
    Err(SourceError::NoValues {
        dir: trace.dir().to_owned(),
        why,
    })
}
