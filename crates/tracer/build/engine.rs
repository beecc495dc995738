//! DynamoRIO, from the source that the crate `dynamorio-sys` carries, with the patches of the folder `engine`.

use std::error::Error;
use std::fs::{File, create_dir_all};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::patches::Patches;

/// The engine, built.
pub struct Engine {
    /// Its source.
    pub source: PathBuf,
    /// Its build folder.
    pub dir: PathBuf,
    /// Version of the crate that carries the source.
    pub version: String,
    pub flavour: Flavour,
}

/// Which of its builds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Flavour {
    Release,
    /// With its assertions: several times slower, for the soak.
    Debug,
}

impl Flavour {
    /// As `PRESTORE_ENGINE_FLAVOUR` says; the release otherwise.
    fn asked() -> Result<Self, Box<dyn Error>> {
        println!("cargo::rerun-if-env-changed=PRESTORE_ENGINE_FLAVOUR");
        match std::env::var("PRESTORE_ENGINE_FLAVOUR").as_deref() {
            Err(_) | Ok("" | "release") => Ok(Self::Release),
            Ok("debug") => Ok(Self::Debug),
            Ok(other) => Err(format!(
                "PRESTORE_ENGINE_FLAVOUR is '{other}': it may be 'release' or 'debug'"
            )
            .into()),
        }
    }

    /// What the engine calls it in the names of folders.
    fn folder(self) -> &'static str {
        match self {
            Self::Release => "release",
            Self::Debug => "debug",
        }
    }

    /// Options that make it say what the release does, and failed assertions, but no more.
    pub fn options(self) -> &'static str {
        match self {
            Self::Release => "",
            Self::Debug => "-stderr_mask 12 -appfault_mask 0",
        }
    }
}

/// Extensions that the client links to.
const TARGETS: [&str; 5] = ["drmgr", "drreg", "drutil", "drx", "drbbdup"];

impl Engine {
    /// Shared libraries to ship, the engine first.
    pub fn libraries(&self) -> Vec<PathBuf> {
        let extensions = self.extension_libraries();
        let core = self.core_libraries().join("libdynamorio.so");
        std::iter::once(core)
            .chain(
                TARGETS
                    .iter()
                    .map(|t| extensions.join(format!("lib{t}.so"))),
            )
            .collect()
    }

    pub fn core_libraries(&self) -> PathBuf {
        self.dir.join("build/lib64").join(self.flavour.folder())
    }

    pub fn extension_libraries(&self) -> PathBuf {
        self.dir.join("build/ext/lib64").join(self.flavour.folder())
    }

    /// For code that looks into the engine.
    pub fn inner_includes(&self) -> Vec<PathBuf> {
        let core = self.source.join("core");
        let below = ["drlibc", "ir/x86", "arch/x86", "unix", "ir", "arch", "lib"];
        below
            .iter()
            .map(|dir| core.join(dir))
            .chain([core.clone(), self.dir.join("build")])
            .collect()
    }

    pub fn includes(&self) -> [PathBuf; 2] {
        [
            self.dir.join("build/include"),
            self.dir.join("build/ext/include"),
        ]
    }
}

/// Builds it once for all profiles: below the target folder, not below one profile's.
pub fn build(out: &Path) -> Result<Engine, Box<dyn Error>> {
    let (original, version) = source()?;
    let patches = Patches::read(Path::new("engine"))?;
    // OUT_DIR is TARGET/PROFILE/build/NAME-HASH/out.
    let target = out
        .ancestors()
        .nth(4)
        .ok_or("OUT_DIR is not below a target folder")?;
    let flavour = Flavour::asked()?;
    let suffix = if flavour == Flavour::Debug {
        "-debug"
    } else {
        ""
    };
    let dir = target.join(format!("engine-{version}-{}{suffix}", patches.id()));
    create_dir_all(&dir)?;
    let lock = File::create(dir.join("lock"))?;
    lock.lock()?;
    let engine = Engine {
        source: dir.join("source"),
        dir,
        version,
        flavour,
    };
    if engine.libraries().iter().all(|l| l.exists()) {
        return Ok(engine);
    }
    require("cmake")?;
    patches.apply(&original, &engine.source)?;
    let mut config = cmake::Config::new(&engine.source);
    for off in ["CLIENTS", "DOCS", "DRSTATS", "SAMPLES", "TESTS", "TOOLS"] {
        config.define(format!("BUILD_{off}"), "NO");
    }
    // The engine wants to be optimised whatever the profile, and picks its own flags.
    if flavour == Flavour::Debug {
        // Otherwise not at all, and a fast timer's signals come faster than it takes them.
        config.env("CFLAGS", "-O2");
    }
    config
        .out_dir(&engine.dir)
        .profile(match flavour {
            Flavour::Release => "RelWithDebInfo",
            Flavour::Debug => "Debug",
        })
        .define("CMAKE_ASM_COMPILER", require("as")?)
        .define("CMAKE_ASM_FLAGS", "")
        .no_default_flags(true)
        .build_target("dynamorio")
        .build();
    let jobs = std::env::var("NUM_JOBS").unwrap_or_else(|_| "2".into());
    let built = Command::new("cmake")
        .arg("--build")
        .arg(engine.dir.join("build"))
        .args(["--parallel", &jobs, "--target"])
        .args(TARGETS)
        .status()?;
    if !built.success() {
        return Err("building the engine's extensions failed, see above".into());
    }
    Ok(engine)
}

/// Where cargo has put the crate's source, and its version.
fn source() -> Result<(PathBuf, String), Box<dyn Error>> {
    let metadata = cargo_metadata::MetadataCommand::new()
        .manifest_path(Path::new(&std::env::var("CARGO_MANIFEST_DIR")?).join("Cargo.toml"))
        .exec()?;
    let package = metadata
        .packages
        .iter()
        .find(|p| p.name.as_str() == "dynamorio-sys")
        .ok_or("the crate dynamorio-sys is not in the lock file")?;
    let folder = package.manifest_path.parent().ok_or("odd manifest path")?;
    Ok((folder.join("dynamorio").into(), package.version.to_string()))
}

fn require(tool: &str) -> Result<PathBuf, Box<dyn Error>> {
    std::env::var_os("PATH")
        .iter()
        .flat_map(std::env::split_paths)
        .map(|dir| dir.join(tool))
        .find(|path| path.is_file())
        .ok_or_else(|| {
            format!(
                "'{tool}' is needed to build the engine: apt-get install cmake binutils gcc g++"
            )
            .into()
        })
}
