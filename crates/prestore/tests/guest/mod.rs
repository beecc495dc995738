//! A Debian kernel in an emulated machine, with the module of `kernel/` built for it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

/// What a run may take: ten times what it does.
const SECONDS: &str = "300";

/// A kernel that `scripts/kernel.sh` unpacked.
pub struct Kernel {
    /// `6.1.0-56-amd64`, say.
    pub version: String,
    folder: PathBuf,
}

/// The project's folder.
pub fn root() -> PathBuf {
    fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap()
}

/// All kernels that can be tested with; none, with the reason said, where something lacks.
pub fn kernels() -> Vec<Kernel> {
    for (tool, package) in [
        ("qemu-system-x86_64", "qemu-system-x86"),
        ("cpio", "cpio"),
        ("make", "make"),
        ("timeout", "coreutils"),
    ] {
        if Command::new(tool).arg("--version").output().is_err() {
            return skip(&format!("{tool} is not installed (package {package})"));
        }
    }
    let all = fs::read_dir(root().join("build/kernel"))
        .into_iter()
        .flatten();
    let kernels: Vec<_> = all
        .map(|entry| entry.unwrap().path())
        .filter(|folder| folder.join("ready").exists())
        .map(|folder| Kernel {
            version: folder.file_name().unwrap().to_string_lossy().into_owned(),
            folder,
        })
        .collect();
    if kernels.is_empty() {
        return skip("no kernel to test kernel/ with: scripts/kernel.sh fetches one");
    }
    kernels
}

fn skip(why: &str) -> Vec<Kernel> {
    // Past the test's captured output, so that a skip is seen.
    let line = format!("SKIPPED: {why}\n");
    let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
    Vec::new()
}

/// Runs to success and gives what was printed.
pub fn run(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = [&output.stdout[..], &output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(output.status.success(), "{command:?}: {said}");
    said
}

impl Kernel {
    /// Its headers, to build modules against.
    pub fn headers(&self) -> PathBuf {
        self.folder
            .join(format!("usr/src/linux-headers-{}", self.version))
    }

    /// A folder that becomes the guest's root, with the module and the one that looks into page tables.
    pub fn root(&self, scratch: &Path) -> PathBuf {
        let source = scratch.join("kernel");
        run(Command::new("cp")
            .arg("-r")
            .arg(super::guest::root().join("kernel"))
            .arg(&source));
        let root = scratch.join("root");
        fs::create_dir(&root).unwrap();
        for module in ["prestore", "test/probe/prestore_probe"] {
            let object = source.join(module).with_extension("ko");
            run(Command::new("make")
                .arg("-C")
                .arg(self.headers())
                .arg(format!("M={}", object.parent().unwrap().display()))
                // Needs the kernel's debug information.
                .arg("CONFIG_DEBUG_INFO_BTF_MODULES=")
                .arg("KCFLAGS=-Werror")
                .arg("modules")
                // What cargo's own make was told.
                .env_remove("MAKEFLAGS"));
            fs::copy(&object, root.join(object.file_name().unwrap())).unwrap();
        }
        root
    }

    /// Starts the kernel with the folder as its root, whose `/init` is its first process, and gives what the console showed.
    pub fn boot(&self, root: &Path, arguments: &str) -> String {
        let archive = root.with_extension("cpio");
        run(Command::new("sh")
            .args(["-c", "find . | cpio -o -H newc --quiet >\"$0\""])
            .arg(&archive)
            .current_dir(root));
        let output = Command::new("timeout")
            .arg(SECONDS)
            .arg("qemu-system-x86_64")
            // The whole instruction set that emulation knows; it has the PAT.
            .args(["-accel", "tcg", "-cpu", "max", "-smp", "2", "-m", "1024"])
            .args([
                "-nodefaults",
                "-nographic",
                "-no-reboot",
                "-serial",
                "stdio",
            ])
            .arg("-kernel")
            .arg(self.folder.join(format!("boot/vmlinuz-{}", self.version)))
            .arg("-initrd")
            .arg(&archive)
            .arg("-append")
            // Level 5: warnings, too.
            .arg(format!(
                "console=ttyS0 loglevel=5 panic=-1 oops=panic {arguments}"
            ))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stdout).replace('\r', "")
    }
}

/// Fails where the kernel complained.
pub fn no_complaints(console: &str) {
    for word in [
        "WARNING:",
        "BUG:",
        "Oops",
        "x86/PAT",
        "general protection",
        "Out of memory",
        "prestore: ",
    ] {
        let console = console.replace("prestore: loading out-of-tree module", "");
        assert!(
            !console.contains(word),
            "the kernel complains ({word}): {console}"
        );
    }
}
