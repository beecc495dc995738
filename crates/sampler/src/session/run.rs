use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

use thiserror::Error;

use super::collect::{Collector, FeedError};
use super::finish::finish;
use super::held::HeldProgram;
use super::open::{CpuEvent, open_plan};
use crate::attr::rate;
use crate::host::HostFacts;
use crate::options::{EventChoice, Options, Rate};
use crate::pmu::{EventPlan, FormatError, Inventory, choose_store_event, clock_event};
use crate::record::Decoder;
use crate::ring::{AuxMapping, RingMapping};
use crate::samples::Samples;
use crate::unavailable::{Unavailable, no_buffer_memory, no_store_event};

/// How long the reader sleeps at most before it looks whether the program has ended.
const POLL: Duration = Duration::from_millis(20);

/// Why a sampling run gave nothing.
#[derive(Debug, Error)]
pub enum SampleError {
    /// Stores cannot be sampled here; the program has not run. Fall back to exact counts.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// The program could not be started.
    #[error("cannot start the program: {0}")]
    Start(#[source] io::Error),
    /// The kernel describes its store event in a way this version does not know.
    #[error("the kernel's description of its store event cannot be used: {0}")]
    Description(#[from] FormatError),
    /// The sample buffers could not be read; the program was ended.
    #[error("the samples cannot be read: {0}")]
    Read(#[from] FeedError),
    /// A system call on the events or the program failed; the program was ended.
    #[error("sampling failed: {0}")]
    System(#[source] io::Error),
}

/// Runs the program and samples it, its threads and its children until it ends.
///
/// The program is created, held before it executes, and let go once the events are open, so nothing
/// is missed and a refusal leaves it unstarted. Children that outlive it are not waited for. If
/// stores cannot be sampled, the error is [`SampleError::Unavailable`] with cause and cure.
pub fn sample(command: Command, options: &Options) -> Result<Samples, SampleError> {
    let root = Path::new("/");
    let host = HostFacts::read(root);
    let inventory = Inventory::read(root);
    let plans = match options.event {
        EventChoice::Clock => vec![clock_event(&inventory)],
        EventChoice::Stores => choose_store_event(&inventory)?,
    };
    if plans.is_empty() {
        return Err(no_store_event(&host).into());
    }
    let held = HeldProgram::create(command).map_err(SampleError::Start)?;
    let pid = held.pid();
    let mut buffers = open_buffers(&plans, pid, options, &host)?;
    let cpu_wide = buffers.iter().any(|buffer| buffer.event.way.cpu_wide);
    if cpu_wide {
        for buffer in &buffers {
            buffer.event.enable().map_err(SampleError::System)?;
        }
    }
    let before = children_cpu_time();
    let child = held.release().map_err(SampleError::Start)?;
    let mut collector = Collector::new(options.max_samples);
    let status = follow(child, &mut buffers, &mut collector)?;
    let cpu_time = children_cpu_time().saturating_sub(before);
    let collected = collector.into_collected(cpu_wide.then_some(pid as u32));
    let level = buffers.iter().map(|buffer| buffer.event.way.precise).min();
    finish(collected, &plans, level.unwrap_or(0), status, cpu_time)
        .ok_or_else(|| no_store_event(&host).into())
}

/// CPU time of all children waited for so far. Its growth over a run is the program's own, unless the
/// caller waits for other children meanwhile; good enough for an estimate.
fn children_cpu_time() -> Duration {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the structure is live, and all-zero bytes are a valid value if the call fails.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr());
        usage.assume_init()
    };
    let micros = |time: libc::timeval| {
        let (seconds, rest) = (time.tv_sec.unsigned_abs(), time.tv_usec.unsigned_abs());
        Duration::from_secs(seconds) + Duration::from_micros(rest)
    };
    micros(usage.ru_utime) + micros(usage.ru_stime)
}

/// An event with its mapped memory and what is needed to read it.
struct Buffer {
    // The mappings are declared before the event, so that they go first.
    aux: Option<AuxMapping>,
    ring: RingMapping,
    event: CpuEvent,
    decoder: Decoder,
    period: u64,
}

fn open_buffers(
    plans: &[EventPlan],
    pid: i32,
    options: &Options,
    host: &HostFacts,
) -> Result<Vec<Buffer>, SampleError> {
    let mut buffers = Vec::new();
    for plan in plans {
        for event in open_plan(plan, pid, options, host)? {
            buffers.push(map(plan, event, options, host)?);
        }
    }
    Ok(buffers)
}

fn map(
    plan: &EventPlan,
    event: CpuEvent,
    options: &Options,
    host: &HostFacts,
) -> Result<Buffer, SampleError> {
    let mut pages = options.ring_pages.max(1).next_power_of_two();
    let (ring, aux) = loop {
        let mapped = RingMapping::new(&event, pages).and_then(|ring| {
            let aux = plan.uses_aux.then(|| ring.aux(&event, pages)).transpose()?;
            Ok((ring, aux))
        });
        match mapped {
            Ok(both) => break both,
            // EPERM here is the limit on locked memory, not a privilege.
            Err(error) if error.raw_os_error() == Some(libc::EPERM) && pages > 1 => pages /= 2,
            Err(error) if error.raw_os_error() == Some(libc::EPERM) => {
                return Err(no_buffer_memory().into());
            }
            Err(error) => return Err(SampleError::System(error)),
        }
    };
    let period = match rate(plan, options, host.max_sample_rate) {
        Rate::Period(period) => period.get(),
        Rate::Hertz(_) => 1,
    };
    Ok(Buffer {
        decoder: Decoder::new(event.attr, plan.source),
        aux,
        ring,
        event,
        period,
    })
}

/// Reads the buffers until the program ends. On an error the program is ended too: it must not run
/// on, possibly for hours, behind a tool that has given up.
fn follow(
    mut child: Child,
    buffers: &mut [Buffer],
    collector: &mut Collector,
) -> Result<ExitStatus, SampleError> {
    match read_until_end(&mut child, buffers, collector) {
        Ok(status) => Ok(status),
        Err(error) => {
            // Both may fail only because the child is gone already, which is what they are for.
            let _ = child.kill();
            let _ = child.wait();
            Err(error)
        }
    }
}

fn read_until_end(
    child: &mut Child,
    buffers: &mut [Buffer],
    collector: &mut Collector,
) -> Result<ExitStatus, SampleError> {
    let mut bytes = Vec::new();
    loop {
        wait_for_data(buffers);
        let ended = child.try_wait().map_err(SampleError::System)?;
        if ended.is_some() {
            for buffer in buffers.iter() {
                buffer.event.disable().map_err(SampleError::System)?;
            }
        }
        for buffer in buffers.iter() {
            drain(buffer, collector, &mut bytes)?;
        }
        if let Some(status) = ended {
            return Ok(status);
        }
    }
}

fn wait_for_data(buffers: &[Buffer]) {
    let mut waiting: Vec<libc::pollfd> = buffers
        .iter()
        .map(|buffer| libc::pollfd {
            fd: buffer.event.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        })
        .collect();
    // SAFETY: the array is live and its length is given. An interrupted or failed poll only makes
    // the caller look earlier.
    unsafe {
        libc::poll(
            waiting.as_mut_ptr(),
            waiting.len() as libc::nfds_t,
            POLL.as_millis() as i32,
        );
    }
    // Events whose task has ended report POLLHUP at once and would turn the loop into a busy one.
    if waiting.iter().any(|poll| poll.revents & libc::POLLHUP != 0) {
        std::thread::sleep(POLL / 10);
    }
}

fn drain(
    buffer: &Buffer,
    collector: &mut Collector,
    bytes: &mut Vec<u8>,
) -> Result<(), SampleError> {
    bytes.clear();
    buffer.ring.drain(bytes).map_err(FeedError::from)?;
    let mut stream = Vec::new();
    collector.feed(bytes, &buffer.decoder, |collector, chunk| {
        if let Some(aux) = &buffer.aux {
            stream.clear();
            aux.copy(chunk.offset, chunk.size, &mut stream)?;
            collector.feed_spe(&stream, chunk, buffer.period, buffer.ring.clock());
            buffer
                .ring
                .release_aux(chunk.offset.wrapping_add(chunk.size));
        }
        Ok(())
    })?;
    Ok(())
}
