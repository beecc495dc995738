use thiserror::Error;

use crate::host::HostFacts;

/// Why stores cannot be sampled here. The caller falls back to exact counts (`--scope count`) and
/// says so.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("stores cannot be sampled here: {detail}")]
pub struct Unavailable {
    /// The kind of obstacle.
    pub cause: Cause,
    /// One sentence for the user.
    pub detail: String,
    /// The one command that mends it; `None` if nothing on this machine can.
    pub fix: Option<String>,
}

/// Kinds of obstacles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cause {
    /// The processor has (or the kernel shows) no event that samples stores.
    NoStoreEvent,
    /// The machine is virtual and its hypervisor passes no counters on.
    NoVirtualPmu,
    /// The unit exists but refuses precise samples with data addresses.
    NotPrecise,
    /// The kernel was built without perf events.
    NoPerfEvents,
    /// `kernel.perf_event_paranoid` forbids it.
    Paranoid,
    /// A container's seccomp filter forbids it.
    Seccomp,
    /// A security module forbids it although the paranoid level would allow it.
    Forbidden,
    /// Somebody else holds the counters.
    Busy,
    /// A limit of this process is too low.
    Limit,
}

/// A refused `perf_event_open` (or mapping of its buffer).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    /// Error number.
    pub errno: i32,
    /// The event was to see all processes of a CPU.
    pub cpu_wide: bool,
    /// The event could not leave kernel code out.
    pub with_kernel: bool,
}

impl Refusal {
    /// Highest paranoid level at which an unprivileged process may do this
    /// (`Documentation/admin-guide/sysctl/kernel.rst`).
    pub fn allowed_level(&self) -> i32 {
        match (self.cpu_wide, self.with_kernel) {
            (true, _) => 0,
            (false, true) => 1,
            (false, false) => 2,
        }
    }
}

/// No unit offers a store event.
pub fn no_store_event(host: &HostFacts) -> Unavailable {
    if host.virtual_machine {
        return Unavailable {
            cause: Cause::NoVirtualPmu,
            detail: "this virtual machine has no virtual PMU, so there are no hardware counters"
                .to_owned(),
            fix: None,
        };
    }
    if host.paranoid.is_none() {
        return no_perf_events();
    }
    Unavailable {
        cause: Cause::NoStoreEvent,
        detail: "the kernel offers none of Intel mem-stores (PEBS), AMD IBS and Arm SPE".to_owned(),
        fix: None,
    }
}

fn no_perf_events() -> Unavailable {
    Unavailable {
        cause: Cause::NoPerfEvents,
        detail: "this kernel was built without perf events (CONFIG_PERF_EVENTS)".to_owned(),
        fix: None,
    }
}

/// Turns a refusal into its cause and cure.
pub fn diagnose(refusal: Refusal, host: &HostFacts) -> Unavailable {
    let make = |cause, detail: String, fix: Option<String>| Unavailable { cause, detail, fix };
    match refusal.errno {
        libc::EACCES | libc::EPERM => forbidden(refusal, host),
        libc::ENOSYS if host.container.is_some() || host.seccomp => seccomp(host),
        libc::ENOSYS => no_perf_events(),
        libc::EBUSY => make(
            Cause::Busy,
            "the counter is taken, by the kernel's NMI watchdog or another profiler".to_owned(),
            Some("sudo sysctl kernel.nmi_watchdog=0".to_owned()),
        ),
        libc::EMFILE | libc::ENFILE => make(
            Cause::Limit,
            "one open file a CPU is needed, and the limit of open files is reached".to_owned(),
            Some("ulimit -n 4096".to_owned()),
        ),
        libc::ENOMEM => make(
            Cause::Limit,
            "the kernel has no memory for the sample buffers".to_owned(),
            None,
        ),
        _ if host.virtual_machine => make(
            Cause::NoVirtualPmu,
            format!(
                "the virtual PMU of this machine does not sample stores precisely ({})",
                os_message(refusal.errno)
            ),
            None,
        ),
        libc::EOPNOTSUPP | libc::EINVAL => make(
            Cause::NotPrecise,
            format!(
                "the processor's unit refuses precise store samples ({})",
                os_message(refusal.errno)
            ),
            None,
        ),
        errno => make(
            Cause::NoStoreEvent,
            format!("the kernel refuses the store event ({})", os_message(errno)),
            None,
        ),
    }
}

/// The sample buffer of even one page a CPU could not be locked.
pub fn no_buffer_memory() -> Unavailable {
    Unavailable {
        cause: Cause::Limit,
        detail: "the kernel does not let this process lock memory for the sample buffers"
            .to_owned(),
        fix: Some("sudo sysctl kernel.perf_event_mlock_kb=516".to_owned()),
    }
}

fn forbidden(refusal: Refusal, host: &HostFacts) -> Unavailable {
    let allowed = refusal.allowed_level();
    match host.paranoid {
        Some(level) if !host.may_perfmon && level > allowed => Unavailable {
            cause: Cause::Paranoid,
            detail: format!(
                "kernel.perf_event_paranoid is {level}, and sampling {} needs {allowed} or less",
                if refusal.cpu_wide {
                    "all of a CPU, the only mode of this unit in this kernel,"
                } else if refusal.with_kernel {
                    "with a unit that cannot leave kernel code out"
                } else {
                    "one's own program"
                }
            ),
            fix: Some(format!("sudo sysctl kernel.perf_event_paranoid={allowed}")),
        },
        _ if host.container.is_some() || host.seccomp => seccomp(host),
        _ => Unavailable {
            cause: Cause::Forbidden,
            detail: "the kernel forbids perf events to this process although the paranoid level \
                     allows them (a security module, or kernel lockdown)"
                .to_owned(),
            fix: Some("sudo setcap cap_perfmon=ep \"$(command -v prestore)\"".to_owned()),
        },
    }
}

fn seccomp(host: &HostFacts) -> Unavailable {
    let fix = match host.container.as_deref() {
        Some("podman") => "podman run --cap-add PERFMON --security-opt seccomp=unconfined …",
        Some("docker") => "docker run --cap-add PERFMON --security-opt seccomp=unconfined …",
        // Kubernetes and others set this in their own files; there is no one command.
        _ => {
            return Unavailable {
                cause: Cause::Seccomp,
                detail: "a seccomp filter forbids perf events; allow perf_event_open and \
                         CAP_PERFMON in the pod's or service's securityContext"
                    .to_owned(),
                fix: None,
            };
        }
    };
    Unavailable {
        cause: Cause::Seccomp,
        detail: "the container's seccomp filter forbids perf events".to_owned(),
        fix: Some(fix.to_owned()),
    }
}

fn os_message(errno: i32) -> String {
    std::io::Error::from_raw_os_error(errno).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host() -> HostFacts {
        HostFacts {
            paranoid: Some(2),
            ..HostFacts::default()
        }
    }

    fn refusal(errno: i32) -> Refusal {
        Refusal {
            errno,
            cpu_wide: false,
            with_kernel: false,
        }
    }

    #[test]
    fn a_paranoid_level_is_answered_with_the_level_needed() {
        let strict = HostFacts {
            paranoid: Some(3),
            ..host()
        };
        let why = diagnose(refusal(libc::EACCES), &strict);
        assert_eq!(why.cause, Cause::Paranoid);
        assert_eq!(
            why.fix.as_deref(),
            Some("sudo sysctl kernel.perf_event_paranoid=2")
        );
        let wide = Refusal {
            cpu_wide: true,
            with_kernel: true,
            ..refusal(libc::EACCES)
        };
        assert_eq!(
            diagnose(wide, &host()).fix.as_deref(),
            Some("sudo sysctl kernel.perf_event_paranoid=0")
        );
        let kernel = Refusal {
            with_kernel: true,
            ..refusal(libc::EACCES)
        };
        assert_eq!(
            diagnose(kernel, &host()).fix.as_deref(),
            Some("sudo sysctl kernel.perf_event_paranoid=1")
        );
    }

    #[test]
    fn a_refusal_that_the_level_does_not_explain_is_seccomp_in_a_container() {
        let docker = HostFacts {
            container: Some("docker".into()),
            seccomp: true,
            ..host()
        };
        let why = diagnose(refusal(libc::EPERM), &docker);
        assert_eq!(why.cause, Cause::Seccomp);
        assert!(why.fix.unwrap().contains("--cap-add PERFMON"));
        assert_eq!(
            diagnose(refusal(libc::ENOSYS), &docker).cause,
            Cause::Seccomp
        );
    }

    #[test]
    fn a_refusal_to_a_privileged_process_is_a_security_module() {
        let root = HostFacts {
            paranoid: Some(4),
            may_perfmon: true,
            ..host()
        };
        let why = diagnose(refusal(libc::EPERM), &root);
        assert_eq!(why.cause, Cause::Forbidden);
        assert!(why.fix.unwrap().contains("cap_perfmon"));
    }

    #[test]
    fn missing_hardware_names_the_virtual_machine_and_offers_no_cure() {
        let vm = HostFacts {
            virtual_machine: true,
            ..host()
        };
        for errno in [libc::ENOENT, libc::ENODEV, libc::EOPNOTSUPP] {
            let why = diagnose(refusal(errno), &vm);
            assert_eq!((why.cause, why.fix), (Cause::NoVirtualPmu, None));
        }
        assert_eq!(no_store_event(&vm).cause, Cause::NoVirtualPmu);
        assert_eq!(
            diagnose(refusal(libc::EOPNOTSUPP), &host()).cause,
            Cause::NotPrecise
        );
        assert_eq!(
            diagnose(refusal(libc::ENOENT), &host()).cause,
            Cause::NoStoreEvent
        );
    }

    #[test]
    fn kernels_without_perf_events_busy_counters_and_limits_are_told_apart() {
        assert_eq!(
            diagnose(refusal(libc::ENOSYS), &host()).cause,
            Cause::NoPerfEvents
        );
        assert_eq!(
            no_store_event(&HostFacts::default()).cause,
            Cause::NoPerfEvents
        );
        assert_eq!(diagnose(refusal(libc::EBUSY), &host()).cause, Cause::Busy);
        let limit = diagnose(refusal(libc::EMFILE), &host());
        assert_eq!(
            (limit.cause, limit.fix.as_deref()),
            (Cause::Limit, Some("ulimit -n 4096"))
        );
    }
}
