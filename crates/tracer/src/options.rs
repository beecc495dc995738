//! What to record.

use std::time::Duration;

/// How much of the program's behaviour is recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// How often each block of code ran: exact stores by function, no addresses.
    Count,
    /// Every access, flush and fence.
    #[default]
    All,
    /// Nothing: stores are changed ([`trial`](crate::trial()), which sets this).
    Trial,
}

/// Whether allocations are recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Allocations {
    /// The malloc family, C++ `new`, `mmap`.
    #[default]
    Recorded,
    /// None.
    Ignored,
}

/// Which stretch of the run is recorded, in instructions of all threads of a process together. A
/// forked child goes on where its parent was; a new program image starts anew.
///
/// Windows begin and end between basic blocks. Threads reserve their instructions in portions of
/// ten thousand that lie in one window or between two, so the windows add up to what was asked for,
/// while a thread that waits may come back that much later. With one thread a window is exact to
/// one block. Allocations are recorded outside windows too: what is written inside was often
/// allocated before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Instructions before the first window.
    pub skip: u64,
    /// Instructions in a window; `None`: up to the end.
    pub take: Option<u64>,
    /// Instructions from the start of a window to the start of the next; `None`: one window.
    pub period: Option<u64>,
}

/// Bursts: the run is divided into windows of `burst` instructions (of all threads of a process
/// together, as [`Window`] counts them). All are recorded until `dense` instructions were executed, then
/// one of four until four times as many were, one of sixteen until sixteen times as many were, and so on
/// down to one of `thinnest`. Each recorded window begins with a
/// [`Special::Window`](prestore_trace::record::Special::Window).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bursts {
    /// Instructions of a window.
    pub burst: u64,
    /// Instructions until the first thinning: `burst` times a multiple of 4.
    pub dense: u64,
    /// A power of four; 4 at least.
    pub thinnest: u64,
}

/// Which source regions (`prestore_region.h`) are recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Region {
    /// The whole program, in regions or not.
    #[default]
    Everything,
    /// What runs inside any region.
    Any,
    /// What runs inside the region of this id.
    Id(u16),
}

/// Where the program's standard output goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProgramOutput {
    /// Where the caller's goes.
    #[default]
    Inherited,
    /// To the caller's standard error, so that only the caller writes to its standard output.
    Stderr,
    /// Nowhere: for a run that is to be repeated.
    Discarded,
}

/// What to record.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// How much.
    pub scope: Scope,
    /// Also the bytes that stores write.
    pub values: bool,
    /// Allocation events.
    pub allocations: Allocations,
    /// Which stretch.
    pub window: Window,
    /// Or which parts of all of it; then `window` is to be the default.
    pub bursts: Option<Bursts>,
    /// Instructions for each block that has two cases, beyond which what lies before, between or behind windows is executed by
    /// blocks that are made for counting alone. 0: always; at windows by source regions never.
    pub gap_a_block: u64,
    /// Which regions.
    pub region: Region,
    /// Where the program's standard output goes.
    pub stdout: ProgramOutput,
    /// Wall time after which recording ends; the program runs on unrecorded. Not for [`Scope::Count`], whose code
    /// goes on counting.
    pub stop_after: Option<Duration>,
    /// Told once where processes go on after the program's end, as daemons do: the recording ends with them. Their numbers.
    pub outlived: Option<fn(&[u32])>,
}

impl Options {
    /// Does a window or a region bound what is recorded?
    pub fn is_windowed(&self) -> bool {
        self.region != Region::Everything
            || self.bursts.is_some()
            || self.window.skip > 0
            || self.window.take.is_some_and(|take| take > 0)
    }

    /// The client's arguments, `dir` being the session's directory.
    pub(crate) fn client_args(&self, dir: &str) -> String {
        let mut args = vec![
            format!("dir={dir}"),
            format!(
                "scope={}",
                match self.scope {
                    Scope::Count => "count",
                    Scope::All => "all",
                    Scope::Trial => "try",
                }
            ),
            format!("values={}", u8::from(self.values)),
            format!(
                "allocations={}",
                u8::from(self.allocations == Allocations::Recorded)
            ),
        ];
        // For tests: the client proves of each block that its code in it changes nothing.
        if std::env::var_os("PRESTORE_CHECK_CODE").is_some() {
            args.push("check=1".into());
        }
        // For tests: the client writes down what the program has at the beginning of each block (client/verify.c).
        if let Ok(verify) = std::env::var("PRESTORE_VERIFY") {
            args.push(format!("verify={verify}"));
        }
        // For tests: the client stops the program and writes its memory down (client/stops.c).
        if let Ok(stops) = std::env::var("PRESTORE_STOPS") {
            args.push(format!("stops={stops}"));
        }
        match self.region {
            Region::Everything => {}
            Region::Any => args.push("region=any".into()),
            Region::Id(id) => args.push(format!("region={id}")),
        }
        // The client counts instructions with a sign; no program executes more.
        let signed = |instructions: u64| instructions.min(i64::MAX as u64);
        let Window { skip, take, period } = self.window;
        let numbers = [("skip", Some(skip)), ("take", take), ("period", period)];
        for (key, value) in numbers {
            if let Some(value) = value.filter(|v| *v > 0) {
                args.push(format!("{key}={}", signed(value)));
            }
        }
        if let Some(Bursts {
            burst,
            dense,
            thinnest,
        }) = self.bursts
        {
            let (burst, dense) = (signed(burst), signed(dense));
            args.push(format!("burst={burst} dense={dense} thinnest={thinnest}"));
        }
        args.push(format!("gap_a_block={}", self.gap_a_block));
        args.join(" ")
    }
}
