//! Signals to stop: the first is the program's, the second ends the recording, the third ends this
//! command as if it had not listened. What a terminal sends has reached the program already; what
//! somebody sent to this process alone is passed on. So are the signals whose meaning the program chooses (SIGUSR1, SIGUSR2: to read
//! its settings anew, say), which ask for nothing here.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI32, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use prestore_tracer::Interrupts;
use rustix::process::{Pid, Signal, kill_process_group};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::emulate_default_handler;
use signal_hook::low_level::siginfo::{Cause, Origin};

use crate::error::CliError;
use crate::notice;

/// What a signal means now: the program runs; it has ended, and others that it has started run, recorded or not; what was seen of
/// them is being made safe; nothing is left to wait for; this command is about to end.
static PHASE: AtomicU8 = AtomicU8::new(RUNNING);
const RUNNING: u8 = 0;
const OTHERS_RUN: u8 = 1;
const OTHERS_STOPPED: u8 = 2;
const FINISHING: u8 = 3;
const OVER: u8 = 4;
const ENDING: u8 = 5;

/// When the program ended.
static ENDED: Mutex<Option<Instant>> = Mutex::new(None);

/// What a terminal sends may end the program before it is heard of here: so long after the end, the first is the program's.
const BOTH: Duration = Duration::from_secs(1);

/// The signal that came while what was seen was being made safe; 0: none.
static LATE: AtomicI32 = AtomicI32::new(0);

/// What is removed when a signal ends this command.
static SCRATCH: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Process groups that end with this command.
static GROUPS: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

static WATCHED: Mutex<Option<Arc<Interrupts>>> = Mutex::new(None);

/// `timeout` and others signal a process and then its whole group: that is one request.
const TOGETHER: Duration = Duration::from_millis(100);

/// Counts SIGINT, SIGTERM and SIGHUP from the first call on instead of dying of them, and passes SIGUSR1 and SIGUSR2 on.
pub fn watch() -> Result<Arc<Interrupts>, CliError> {
    *ENDED.lock().unwrap_or_else(PoisonError::into_inner) = None;
    PHASE.store(RUNNING, Ordering::SeqCst);
    let mut watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(interrupts) = &*watched {
        return Ok(Arc::clone(interrupts));
    }
    let interrupts = Arc::new(Interrupts::default());
    let counted = Arc::clone(&interrupts);
    let mut signals = SignalsInfo::<WithOrigin>::new(wanted())
        .map_err(|e| CliError::Failed(format!("signals cannot be watched: {e}")))?;
    std::thread::spawn(move || {
        let mut last = None;
        for origin in signals.forever() {
            if !repeats(&mut last, &origin) {
                hear(&counted, &origin);
            }
        }
    });
    *watched = Some(Arc::clone(&interrupts));
    Ok(interrupts)
}

/// The program has ended, and others that it has started are recorded: the next signal stops that.
pub fn only_others_run() {
    let _from = PHASE.compare_exchange(RUNNING, OTHERS_RUN, Ordering::SeqCst, Ordering::SeqCst);
}

/// The program has ended: a signal no longer is its own, but what was seen of it is made safe first.
pub fn finishing() {
    *ENDED.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    PHASE.store(FINISHING, Ordering::SeqCst);
}

/// What was seen of the program is safe: from now on a signal ends this command.
pub fn over() {
    let mut ended = ENDED.lock().unwrap_or_else(PoisonError::into_inner);
    ended.get_or_insert_with(Instant::now);
    drop(ended);
    PHASE.store(OVER, Ordering::SeqCst);
    let late = LATE.swap(0, Ordering::SeqCst);
    if late != 0 {
        end(late);
    }
}

/// Waits for the end, if a signal is about to bring it: what goes wrong then is nobody's concern.
pub fn settle() {
    while PHASE.load(Ordering::SeqCst) == ENDING {
        std::thread::park();
    }
}

fn has_just_ended() -> bool {
    let ended = ENDED.lock().unwrap_or_else(PoisonError::into_inner);
    ended.is_some_and(|at| at.elapsed() < BOTH)
}

/// The file or folder `path` goes with this command, should a signal end it.
pub fn takes_along(path: &Path) {
    let mut scratch = SCRATCH.lock().unwrap_or_else(PoisonError::into_inner);
    scratch.push(path.to_owned());
}

/// Where no program is recorded, the first signal ends this command, with what it [`takes_along`] and its [`Group`]s.
pub fn end_at_once() -> Result<(), CliError> {
    watch()?;
    PHASE.store(OVER, Ordering::SeqCst);
    Ok(())
}

/// A process group that a signal which ends this command ends too. It has to be dropped before its first process is waited
/// for, as its number is somebody else's afterwards.
pub struct Group(Pid);

impl Group {
    /// The group of which `first` is the first process.
    pub fn new(first: Pid) -> Self {
        let mut groups = GROUPS.lock().unwrap_or_else(PoisonError::into_inner);
        groups.push(first);
        if PHASE.load(Ordering::SeqCst) == ENDING {
            let _ = kill_process_group(first, Signal::KILL);
        }
        Self(first)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let mut groups = GROUPS.lock().unwrap_or_else(PoisonError::into_inner);
        groups.retain(|first| *first != self.0);
    }
}

/// Ends this command as if it had not listened to `signal`.
fn end(signal: i32) {
    PHASE.store(ENDING, Ordering::SeqCst);
    for group in &*GROUPS.lock().unwrap_or_else(PoisonError::into_inner) {
        let _ = kill_process_group(*group, Signal::KILL);
    }
    for path in &*SCRATCH.lock().unwrap_or_else(PoisonError::into_inner) {
        let gone = std::fs::remove_file(path);
        let gone = gone.or_else(|_| std::fs::remove_dir_all(path));
        // Once more, should somebody still have been writing.
        let _ = gone.or_else(|_| std::fs::remove_dir_all(path));
    }
    // Fails only for signals without a default action.
    let _ = emulate_default_handler(signal);
}

/// Whoever starts us with one ignored (`nohup`, a shell's `&`) wants that it stays so.
fn wanted() -> impl Iterator<Item = i32> {
    let all = [SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2].into_iter();
    all.filter(|signal| !is_ignored(*signal))
}

/// Where it cannot be told, it is not.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|l| l.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|m| u64::from_str_radix(m.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 != 0)
}

/// Is it what the same sender has just sent?
fn repeats(last: &mut Option<(Origin, Instant)>, origin: &Origin) -> bool {
    let again = last.as_ref().is_some_and(|(before, at)| {
        origin.process.is_some()
            && before.signal == origin.signal
            && before.process == origin.process
            && at.elapsed() < TOGETHER
    });
    *last = Some((origin.clone(), Instant::now()));
    again
}

fn name(signal: i32) -> &'static str {
    signal_hook::low_level::signal_name(signal).unwrap_or("the signal")
}

fn hear(interrupts: &Interrupts, origin: &Origin) {
    if matches!(origin.signal, SIGUSR1 | SIGUSR2) {
        return match PHASE.load(Ordering::SeqCst) {
            OVER | ENDING => end(origin.signal),
            _ => interrupts.tell(origin.signal),
        };
    }
    if matches!(origin.cause, Cause::Kernel) {
        interrupts.add();
    } else {
        interrupts.pass(origin.signal);
    }
    match PHASE.load(Ordering::SeqCst) {
        RUNNING => match interrupts.count() {
            1 => notice::say(&format!(
                "{} went to the program: waiting for the program to end; send it again to stop recording",
                name(origin.signal)
            )),
            2 => notice::say("recording is stopped; again to end at once"),
            _ => end(origin.signal),
        },
        OTHERS_RUN => {
            PHASE.store(OTHERS_STOPPED, Ordering::SeqCst);
            notice::say("recording is stopped; again to end at once");
        }
        OTHERS_STOPPED => end(origin.signal),
        _ if interrupts.count() == 1 && has_just_ended() => {}
        FINISHING if LATE.swap(origin.signal, Ordering::SeqCst) == 0 => {
            notice::say("the recording is being finished; again to end at once");
            // It may have been finished just now.
            if PHASE.load(Ordering::SeqCst) == OVER {
                end(origin.signal);
            }
        }
        _ => end(origin.signal),
    }
}
