//! The loop between the shared buffers and the taker.

mod build_ids;
mod interrupts;
mod process;
mod ring;
mod state;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use prestore_trace::SiteTable;
use prestore_trace::block::UnknownOpcode;

use crate::channel::Session;
use crate::launch::Streams;
use crate::{Engine, Options, RecordError, Sink, launch};
pub use interrupts::Interrupts;
use state::Pump;

/// How much of a run its windows and regions let through. A block that a fault ends early counts in
/// full here, and in the skipped instructions of the stream; recorded blocks are cut exactly there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Instructions recorded (scope `count`: counted).
    pub recorded: u64,
    /// Instructions executed and not recorded.
    pub skipped: u64,
    /// How often a thread began a region that was asked for.
    pub regions: u64,
}

/// Why recording ended before the program, though nothing went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enough {
    /// The time that was given had passed.
    Time(Duration),
    /// The taker had all that it wanted.
    Taker,
}

/// How a recording ended.
#[derive(Debug)]
pub struct Outcome {
    /// The program's exit status; `None`: it was left running.
    pub status: Option<ExitStatus>,
    /// The ELF file that ran.
    pub program: PathBuf,
    /// The user ended the recording before the program ended.
    pub interrupted: bool,
    /// Recording was ended before the program ended, as was asked for.
    pub enough: Option<Enough>,
    /// Threads whose process died without a word (killed): recorded up to their last whole record.
    pub torn_threads: u32,
    /// Processes recorded.
    pub processes: u32,
    /// Threads recorded.
    pub threads: u32,
    /// What windows and regions let through; `None` where everything was asked for.
    pub coverage: Option<Coverage>,
    /// Instructions that the engine could not decode: their accesses are not recorded.
    pub unknown_opcodes: Vec<UnknownOpcode>,
    /// What could not be recorded as asked, and why.
    pub notes: Vec<crate::Note>,
    /// The taker failed; the program ran on, unrecorded.
    pub failure: Option<crate::SinkError>,
    /// Wall time from the start to the end.
    pub elapsed: Duration,
    /// The sites that the taker was told of.
    pub sites: SiteTable,
}

/// Idle time between looks when no doorbell rings.
const PATIENCE: Duration = Duration::from_millis(50);
/// Most time between looks for who has ended, where there always is work.
const BURY: Duration = Duration::from_millis(100);
/// Time from the program's end until it is said that others go on: most that it has started end with it.
const OUTLIVED: Duration = Duration::from_secs(2);
/// Time between [`Sink::tick`]s.
const TICK: Duration = Duration::from_secs(1);

/// Runs `command` under the engine and delivers what it does to `sink` until it and its children
/// have ended, or the user has asked twice to stop (once when the program itself has ended).
///
/// # Errors
/// [`RecordError`] where nothing could be recorded. A taker's failure is not one: it is in the
/// [`Outcome`], and the program is left to run on untraced.
pub fn record<S: Sink>(
    command: &[OsString],
    options: &Options,
    interrupts: &Interrupts,
    sink: &mut S,
) -> Result<Outcome, RecordError> {
    record_reading(Stdio::inherit(), command, options, interrupts, sink)
}

/// The same of a program whose standard input is `stdin`.
///
/// # Errors
/// As [`record`].
pub fn record_reading<S: Sink>(
    stdin: Stdio,
    command: &[OsString],
    options: &Options,
    interrupts: &Interrupts,
    sink: &mut S,
) -> Result<Outcome, RecordError> {
    let session = Session::create().map_err(RecordError::Session)?;
    let streams = Streams::recorded(stdin, options.stdout).map_err(RecordError::Session)?;
    run(session, streams, command, options, interrupts, sink)
}

/// The same in a session that is there.
pub(crate) fn run<S: Sink>(
    session: Session,
    streams: Streams,
    command: &[OsString],
    options: &Options,
    interrupts: &Interrupts,
    sink: &mut S,
) -> Result<Outcome, RecordError> {
    let name = launch::name(command)?;
    let (program, args) = launch::resolve(command)?;
    let engine = Engine::find()?;
    let started = Instant::now();
    let child = launch::start(
        &engine,
        &program,
        &name,
        &args,
        options,
        streams,
        session.path(),
    )?;
    let mut run = Run {
        child,
        status: None,
        failure: None,
        interrupted: false,
        enough: None,
        asked: 0,
        ended: None,
        buried: started,
    };
    let mut pump = Pump::new(session);
    let mut ticked = Instant::now();
    let mut notes: Vec<crate::Note> = Vec::new();
    loop {
        let heard = pump.session().doorbell();
        notes.extend(pump.new_notes());
        let progress = run.step(&mut pump, interrupts, sink)?;
        run.end_early(options, started, &pump, sink);
        run.tell_outlived(options, &pump);
        if run.done(&mut pump, progress, sink)? {
            break;
        }
        if ticked.elapsed() >= TICK {
            ticked = Instant::now();
            run.attempt(sink.tick(), &pump);
        }
        if !progress {
            pump.session().sleep(heard, PATIENCE);
        }
    }
    if pump.processes() == 0 && run.failure.is_none() {
        notes.extend(pump.new_notes());
        if let Some(note) = notes.pop() {
            return Err(RecordError::Native(note));
        }
        let status = run.status.map_or("still running".into(), |s| s.to_string());
        return Err(match interrupts.count() {
            0 => RecordError::NotInstrumented { program, status },
            // What it was asked to do is no fault of anybody's.
            _ => RecordError::Stopped { program, status },
        });
    }
    Ok(Outcome {
        status: run.status,
        program,
        interrupted: run.interrupted,
        enough: run.enough,
        torn_threads: pump.torn_threads(),
        processes: pump.processes(),
        threads: pump.threads(),
        unknown_opcodes: pump.unknown_opcodes(),
        coverage: options.is_windowed().then(|| pump.coverage()),
        notes,
        failure: run.failure,
        elapsed: started.elapsed(),
        sites: pump.into_sites(),
    })
}

/// The program being run, and how its recording stands.
struct Run {
    child: Child,
    status: Option<ExitStatus>,
    failure: Option<crate::SinkError>,
    interrupted: bool,
    enough: Option<Enough>,
    /// Requests to stop that came before the program's end.
    asked: u32,
    /// When the program had ended; `None` as well once it is said that others go on.
    ended: Option<Instant>,
    buried: Instant,
}

impl Run {
    /// Looks for work once; true when there was some.
    fn step<S: Sink>(
        &mut self,
        pump: &mut Pump,
        interrupts: &Interrupts,
        sink: &mut S,
    ) -> Result<bool, RecordError> {
        if self.status.is_none() {
            self.asked = interrupts.count();
            self.status = self.child.try_wait().map_err(RecordError::Channel)?;
            self.ended = self.status.map(|_| Instant::now());
        }
        if self.status.is_none() {
            // It has not been waited for: the id is still its.
            interrupts.pass_on(self.child.id());
        }
        // Who asks after the program's end means those that it left behind.
        let asked = interrupts.count();
        let over = asked >= 2 || (self.status.is_some() && asked > self.asked);
        if over && !self.interrupted {
            self.interrupted = true;
            pump.session().stop();
        }
        if self.failure.is_some() {
            pump.discard()?;
            return Ok(false);
        }
        match pump.step(sink) {
            Err(RecordError::Sink(failure)) => {
                pump.session().stop();
                self.failure = Some(failure);
                Ok(true)
            }
            other => other,
        }
    }

    /// Ends the recording where that was asked for; what the threads have handed over is still taken.
    fn end_early<S: Sink>(&mut self, options: &Options, started: Instant, pump: &Pump, sink: &S) {
        if self.enough.is_some() || self.status.is_some() {
            return;
        }
        let over = options.stop_after.filter(|&time| started.elapsed() >= time);
        self.enough = match over {
            Some(time) => Some(Enough::Time(time)),
            None => sink.has_enough().then_some(Enough::Taker),
        };
        if self.enough.is_some() {
            pump.session().stop();
        }
    }

    /// What the program has left behind would be waited for without a word.
    fn tell_outlived(&mut self, options: &Options, pump: &Pump) {
        if self.ended.is_none_or(|ended| ended.elapsed() < OUTLIVED) {
            return;
        }
        self.ended = None;
        if let Some(tell) = options.outlived
            && !self.interrupted
            && !pump.all_ended()
        {
            tell(&pump.living());
        }
    }

    fn attempt(&mut self, result: Result<(), crate::SinkError>, pump: &Pump) {
        if let Err(failure) = result {
            pump.session().stop();
            self.failure.get_or_insert(failure);
        }
    }

    /// Nothing more will come?
    fn done<S: Sink>(
        &mut self,
        pump: &mut Pump,
        progress: bool,
        sink: &mut S,
    ) -> Result<bool, RecordError> {
        if progress && self.buried.elapsed() < BURY {
            return Ok(false);
        }
        if self.interrupted {
            return Ok(!progress);
        }
        if self.failure.is_some() {
            return Ok(!progress && self.status.is_some());
        }
        self.buried = Instant::now();
        match pump.bury(sink) {
            Err(RecordError::Sink(failure)) => self.attempt(Err(failure), pump),
            other => other?,
        }
        Ok(self.status.is_some() && pump.all_ended())
    }
}
