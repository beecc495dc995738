use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use perf_event_open_sys::bindings::{PERF_FLAG_FD_CLOEXEC, perf_event_attr};
use perf_event_open_sys::ioctls;

use crate::attr::{Variation, attributes, may_try_on, rate, variations};
use crate::host::HostFacts;
use crate::options::Options;
use crate::pmu::EventPlan;
use crate::unavailable::{Refusal, Unavailable, diagnose};

/// An event opened on one CPU.
pub struct CpuEvent {
    fd: OwnedFd,
    /// Attributes it was opened with; records are read by them.
    pub attr: perf_event_attr,
    /// The way of asking that the kernel took.
    pub way: Variation,
}

impl AsRawFd for CpuEvent {
    fn as_raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}

impl CpuEvent {
    /// Starts counting now, for events that no exec starts.
    pub fn enable(&self) -> io::Result<()> {
        // SAFETY: the descriptor is an open perf event.
        result(unsafe { ioctls::ENABLE(self.as_raw_fd(), 0) })
    }

    /// Stops counting; inherited events of children stop as well.
    pub fn disable(&self) -> io::Result<()> {
        // SAFETY: the descriptor is an open perf event.
        result(unsafe { ioctls::DISABLE(self.as_raw_fd(), 0) })
    }
}

fn result(code: i32) -> io::Result<()> {
    if code < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

/// Opens the plan's event on each of its CPUs for the process and its descendants to come.
pub fn open_plan(
    plan: &EventPlan,
    pid: i32,
    options: &Options,
    host: &HostFacts,
) -> Result<Vec<CpuEvent>, Unavailable> {
    let mut events: Vec<CpuEvent> = Vec::with_capacity(plan.cpus.0.len());
    for &cpu in &plan.cpus.0 {
        // Whatever way the first CPU took, the others are asked the same way.
        let ways = events
            .first()
            .map_or_else(|| variations(plan), |first| vec![first.way]);
        events.push(open_best(plan, &ways, pid, cpu, options, host)?);
    }
    Ok(events)
}

/// Tries whether the plan's event could be opened by this process, and how, without sampling
/// anything.
pub fn probe_plan(
    plan: &EventPlan,
    options: &Options,
    host: &HostFacts,
) -> Result<Variation, Unavailable> {
    let own = 0;
    let cpu = plan.cpus.0.first().copied().unwrap_or(0);
    open_best(plan, &variations(plan), own, cpu, options, host).map(|event| event.way)
}

fn open_best(
    plan: &EventPlan,
    ways: &[Variation],
    pid: i32,
    cpu: u32,
    options: &Options,
    host: &HostFacts,
) -> Result<CpuEvent, Unavailable> {
    let mut first_refusal = None;
    for &way in ways {
        let attr = attributes(
            plan,
            way,
            options,
            rate(plan, options, host.max_sample_rate),
        );
        match open(attr, way, pid, cpu) {
            Ok(event) => return Ok(event),
            Err(errno) => {
                let refusal = Refusal {
                    errno,
                    cpu_wide: way.cpu_wide,
                    with_kernel: !plan.filters_kernel,
                };
                if !may_try_on(errno) {
                    return Err(diagnose(refusal, host));
                }
                first_refusal.get_or_insert(refusal);
            }
        }
    }
    let refusal = first_refusal.unwrap_or(Refusal {
        errno: libc::ENODEV,
        cpu_wide: false,
        with_kernel: false,
    });
    Err(diagnose(refusal, host))
}

fn open(attr: perf_event_attr, way: Variation, pid: i32, cpu: u32) -> Result<CpuEvent, i32> {
    let mut asked = attr;
    let pid = if way.cpu_wide { -1 } else { pid };
    let no_group = -1;
    // SAFETY: the attributes are initialised and their size is stated; the kernel writes only `size`.
    let fd = unsafe {
        perf_event_open_sys::perf_event_open(
            &raw mut asked,
            pid,
            cpu as i32,
            no_group,
            PERF_FLAG_FD_CLOEXEC.into(),
        )
    };
    if fd < 0 {
        return Err(io::Error::last_os_error()
            .raw_os_error()
            .unwrap_or(libc::EINVAL));
    }
    Ok(CpuEvent {
        // SAFETY: the descriptor was just created and has no other owner.
        fd: unsafe { OwnedFd::from_raw_fd(fd) },
        attr,
        way,
    })
}
