use prestore_sampler::HostFacts;

use crate::check::Check;

/// What the host is. Nothing to mend, but it explains other lines.
pub(crate) fn machine(host: &HostFacts) -> Check {
    let kind = if host.virtual_machine {
        "virtual machine"
    } else {
        "bare metal (no hypervisor shows)"
    };
    let container = match &host.container {
        Some(runtime) => format!("in a container ({runtime})"),
        None => "no container".to_owned(),
    };
    Check::ok("machine", format!("{kind}, {container}"))
}

/// Users of other tools expect a setting here; there is none to make.
pub(crate) fn ptrace() -> Check {
    Check::ok(
        "ptrace",
        "not needed: programs start under the engine, so kernel.yama.ptrace_scope does not matter",
    )
}
