use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Room on a file system, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    /// Free for this user.
    pub free: u64,
    /// In all.
    pub total: u64,
}

impl Space {
    /// Of the file system that holds `path`; `None` if that does not exist.
    pub fn of(path: &Path) -> Option<Self> {
        let path = CString::new(path.as_os_str().as_bytes()).ok()?;
        let mut stat = std::mem::MaybeUninit::<libc::statvfs>::uninit();
        // SAFETY: the path is terminated, and the structure is written before success is returned.
        let stat = unsafe {
            if libc::statvfs(path.as_ptr(), stat.as_mut_ptr()) != 0 {
                return None;
            }
            stat.assume_init()
        };
        Some(Self {
            free: stat.f_bavail.saturating_mul(stat.f_frsize),
            total: stat.f_blocks.saturating_mul(stat.f_frsize),
        })
    }
}

/// A folder that recordings would go to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Directory {
    /// Its path.
    pub path: PathBuf,
    /// Room there; `None` if it does not exist.
    pub space: Option<Space>,
    /// Whether this process may create files in it.
    pub writable: bool,
}

impl Directory {
    /// Looks at the folder.
    pub fn read(path: &Path) -> Self {
        let writable = CString::new(path.as_os_str().as_bytes())
            // SAFETY: the path is terminated.
            .is_ok_and(|path| unsafe { libc::access(path.as_ptr(), libc::W_OK) == 0 });
        Self {
            path: path.to_owned(),
            space: Space::of(path),
            writable,
        }
    }
}

/// Limits on memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Memory {
    /// What the control group allows, bytes; `None` = no limit.
    pub cgroup_limit: Option<u64>,
    /// What the system has available (MemAvailable), bytes.
    pub available: Option<u64>,
    /// `ulimit -l`, bytes; `None` = unlimited.
    pub lock_limit: Option<u64>,
    /// `kernel.perf_event_mlock_kb`.
    pub perf_mlock_kib: Option<u64>,
}

impl Memory {
    /// Reads the limits from the files below `root`, which is `/` except in tests.
    pub fn read(root: &Path) -> Self {
        let text = |path: &str| std::fs::read_to_string(root.join(path)).unwrap_or_default();
        Self {
            cgroup_limit: cgroup_limit(root, &text("proc/self/cgroup")),
            available: text("proc/meminfo")
                .lines()
                .find_map(|line| line.strip_prefix("MemAvailable:"))
                .and_then(|rest| rest.trim().strip_suffix("kB")?.trim().parse::<u64>().ok())
                .map(|kib| kib << 10),
            lock_limit: lock_limit(),
            perf_mlock_kib: text("proc/sys/kernel/perf_event_mlock_kb")
                .trim()
                .parse()
                .ok(),
        }
    }
}

fn lock_limit() -> Option<u64> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the structure is live.
    let code = unsafe { libc::getrlimit(libc::RLIMIT_MEMLOCK, &raw mut limit) };
    (code == 0 && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}

/// The smallest limit of the process's group and of those above it, in either version of control
/// groups.
fn cgroup_limit(root: &Path, membership: &str) -> Option<u64> {
    // Version 1 says "no limit" by a number near 2^63.
    const UNLIMITED: u64 = 1 << 60;
    membership
        .lines()
        .filter_map(|line| {
            let mut parts = line.splitn(3, ':');
            let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
            match controllers {
                "" => Some(("sys/fs/cgroup", "memory.max", path)),
                list if list.split(',').any(|name| name == "memory") => {
                    Some(("sys/fs/cgroup/memory", "memory.limit_in_bytes", path))
                }
                _ => None,
            }
        })
        .flat_map(|(mount, file, path)| {
            // In a container the path may be the host's, of which only the mount's root is seen; a
            // missing file is no limit.
            let group = root.join(mount).join(path.trim_start_matches('/'));
            let mount = root.join(mount);
            group
                .ancestors()
                .take_while(|dir| dir.starts_with(&mount))
                .map(|dir| dir.join(file))
                .collect::<Vec<_>>()
        })
        .filter_map(|file| std::fs::read_to_string(file).ok()?.trim().parse().ok())
        .filter(|limit| *limit < UNLIMITED)
        .min()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        dir
    }

    #[test]
    fn the_smallest_limit_above_the_group_counts() {
        let dir = root(&[
            ("proc/self/cgroup", "0::/a/b\n"),
            ("sys/fs/cgroup/a/memory.max", "1000\n"),
            ("sys/fs/cgroup/a/b/memory.max", "max\n"),
        ]);
        assert_eq!(Memory::read(dir.path()).cgroup_limit, Some(1000));
    }

    #[test]
    fn version_1_and_its_huge_number_for_no_limit() {
        let dir = root(&[
            ("proc/self/cgroup", "7:memory:/\n3:cpu,cpuacct:/\n"),
            (
                "sys/fs/cgroup/memory/memory.limit_in_bytes",
                "9223372036854771712\n",
            ),
        ]);
        assert_eq!(Memory::read(dir.path()).cgroup_limit, None);
        std::fs::write(
            dir.path()
                .join("sys/fs/cgroup/memory/memory.limit_in_bytes"),
            "536870912\n",
        )
        .unwrap();
        assert_eq!(Memory::read(dir.path()).cgroup_limit, Some(512 << 20));
    }

    #[test]
    fn available_memory_is_in_bytes() {
        let dir = root(&[("proc/meminfo", "MemTotal: 9 kB\nMemAvailable:    2048 kB\n")]);
        assert_eq!(Memory::read(dir.path()).available, Some(2 << 20));
    }

    #[test]
    fn a_folder_that_is_not_there_has_no_space_and_cannot_be_written() {
        let directory = Directory::read(Path::new("/no/such/folder"));
        assert_eq!((directory.space, directory.writable), (None, false));
        let dir = tempfile::tempdir().unwrap();
        let directory = Directory::read(dir.path());
        assert!(directory.space.is_some() && directory.writable);
    }
}
