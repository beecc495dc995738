use std::fs;
use std::path::Path;

/// What decides whether this process may sample: kernel settings, privileges, surroundings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostFacts {
    /// `kernel.perf_event_paranoid`; `None` if the kernel has no perf events (or hides `/proc/sys`).
    pub paranoid: Option<i32>,
    /// `kernel.perf_event_max_sample_rate`, samples a second: the kernel lowers it by itself where
    /// its sampling interrupt takes long, and refuses events that ask for more.
    pub max_sample_rate: Option<u64>,
    /// The process has CAP_PERFMON or CAP_SYS_ADMIN.
    pub may_perfmon: bool,
    /// The container runtime, if the process runs in a container.
    pub container: Option<String>,
    /// The machine is virtual.
    pub virtual_machine: bool,
    /// A seccomp filter is in force.
    pub seccomp: bool,
}

impl HostFacts {
    /// Reads the facts from the files below `root`, which is `/` except in tests.
    pub fn read(root: &Path) -> Self {
        let status = text(root, "proc/self/status");
        Self {
            paranoid: text(root, "proc/sys/kernel/perf_event_paranoid")
                .trim()
                .parse()
                .ok(),
            max_sample_rate: text(root, "proc/sys/kernel/perf_event_max_sample_rate")
                .trim()
                .parse()
                .ok(),
            may_perfmon: may_perfmon(&status),
            container: container(root),
            virtual_machine: virtual_machine(root),
            seccomp: field(&status, "Seccomp:").is_some_and(|mode| mode != "0"),
        }
    }
}

fn text(root: &Path, path: &str) -> String {
    fs::read_to_string(root.join(path)).unwrap_or_default()
}

fn field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    status
        .lines()
        .find_map(|line| line.strip_prefix(name))
        .map(str::trim)
}

fn may_perfmon(status: &str) -> bool {
    const CAP_SYS_ADMIN: u64 = 1 << 21;
    const CAP_PERFMON: u64 = 1 << 38;
    field(status, "CapEff:")
        .and_then(|mask| u64::from_str_radix(mask, 16).ok())
        .is_some_and(|mask| mask & (CAP_SYS_ADMIN | CAP_PERFMON) != 0)
}

fn container(root: &Path) -> Option<String> {
    if root.join(".dockerenv").exists() {
        return Some("docker".to_owned());
    }
    if root.join("run/.containerenv").exists() {
        return Some("podman".to_owned());
    }
    // systemd's convention, followed by LXC and nspawn as well.
    let named = text(root, "run/systemd/container");
    if !named.trim().is_empty() {
        return Some(named.trim().to_owned());
    }
    let groups = text(root, "proc/1/cgroup");
    ["kubepods", "docker", "containerd", "lxc"]
        .into_iter()
        .find(|runtime| groups.contains(runtime))
        .map(str::to_owned)
}

fn virtual_machine(root: &Path) -> bool {
    let flagged = text(root, "proc/cpuinfo")
        .lines()
        .filter(|line| line.starts_with("flags"))
        .any(|line| line.split_whitespace().any(|flag| flag == "hypervisor"));
    // Arm has no such flag; firmware tables or the device tree name the hypervisor.
    let product =
        text(root, "sys/class/dmi/id/product_name") + &text(root, "sys/class/dmi/id/sys_vendor");
    let named = [
        "KVM",
        "QEMU",
        "VMware",
        "VirtualBox",
        "Virtual Machine",
        "Xen",
    ]
    .iter()
    .any(|name| product.contains(name));
    flagged || named || root.join("proc/device-tree/hypervisor").exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        dir
    }

    #[test]
    fn capabilities_seccomp_and_paranoid_level_are_read() {
        let dir = root(&[
            (
                "proc/self/status",
                "Name:\tx\nCapEff:\t0000004000000000\nSeccomp:\t2\n",
            ),
            ("proc/sys/kernel/perf_event_paranoid", "3\n"),
            ("proc/sys/kernel/perf_event_max_sample_rate", "63000\n"),
        ]);
        let facts = HostFacts::read(dir.path());
        assert_eq!(facts.paranoid, Some(3));
        assert_eq!(facts.max_sample_rate, Some(63_000));
        assert!(facts.may_perfmon && facts.seccomp);
        assert!(!facts.virtual_machine);
        assert_eq!(facts.container, None);
    }

    #[test]
    fn containers_are_told_by_their_marks() {
        assert_eq!(
            HostFacts::read(root(&[(".dockerenv", "")]).path())
                .container
                .as_deref(),
            Some("docker")
        );
        let pod = root(&[("proc/1/cgroup", "0::/kubepods/burstable/pod1\n")]);
        assert_eq!(
            HostFacts::read(pod.path()).container.as_deref(),
            Some("kubepods")
        );
    }

    #[test]
    fn virtual_machines_are_told_by_flag_or_firmware() {
        let x86 = root(&[("proc/cpuinfo", "flags\t\t: fpu hypervisor clwb\n")]);
        assert!(HostFacts::read(x86.path()).virtual_machine);
        let arm = root(&[("sys/class/dmi/id/sys_vendor", "QEMU\n")]);
        assert!(HostFacts::read(arm.path()).virtual_machine);
    }

    #[test]
    fn nothing_readable_means_nothing_claimed() {
        assert_eq!(HostFacts::read(root(&[]).path()), HostFacts::default());
    }
}
