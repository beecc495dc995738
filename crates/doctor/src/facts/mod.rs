//! What is known of a host, read once.

mod cpu;
mod memory;

use std::path::{Path, PathBuf};

use prestore::{MapError, MemoryTypes, memory_types};
use prestore_sampler::{Counters, HostFacts, probe};

pub use cpu::{Cpu, CpuFeature, FeatureName};
pub use memory::{Directory, Memory, Space};

/// The instrumentation engine, as the caller found it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Engine {
    /// It is there.
    Found {
        /// Its version, `11.90.1` say.
        version: String,
        /// Its library.
        path: PathBuf,
    },
    /// It is not.
    NotFound {
        /// Folders that were looked into.
        looked_in: Vec<PathBuf>,
        /// The command that brings it, which depends on how Prestore was installed.
        fix: String,
    },
}

/// All that the checks look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// The engine.
    pub engine: Engine,
    /// Privileges and surroundings.
    pub host: HostFacts,
    /// Sampling.
    pub counters: Counters,
    /// Instructions.
    pub cpu: Cpu,
    /// Limits on memory.
    pub memory: Memory,
    /// Room in `/dev/shm`, if it is there.
    pub shared_memory: Option<Space>,
    /// Where recordings would go.
    pub output: Directory,
    /// What the kernel module for memory types offers, or why it does not.
    pub memory_types: Result<MemoryTypes, MapError>,
}

impl Facts {
    /// Looks at this host. `output` is the folder that recordings would go to.
    pub fn gather(engine: Engine, output: &Path) -> Self {
        let root = Path::new("/");
        let host = HostFacts::read(root);
        Self {
            engine,
            counters: probe(&host),
            host,
            cpu: Cpu::read(root),
            memory: Memory::read(root),
            shared_memory: Space::of(Path::new("/dev/shm")),
            output: Directory::read(output),
            memory_types: memory_types(),
        }
    }
}
