//! Facts of hosts that lack nothing, or one thing.

use prestore::{MapError, MemoryType, MemoryTypes};
use prestore_doctor::{Cpu, CpuFeature, Directory, Engine, Facts, FeatureName, Memory, Space};
use prestore_sampler::{Counters, HostFacts, Source, StoreEvent, no_store_event};

pub const GIB: u64 = 1 << 30;

/// A host that lacks nothing.
pub fn healthy() -> Facts {
    Facts {
        engine: Engine::Found {
            version: "11.90.1".into(),
            path: "/opt/prestore/libdynamorio.so".into(),
        },
        host: HostFacts {
            paranoid: Some(2),
            ..HostFacts::default()
        },
        counters: Counters {
            stores: Ok(StoreEvent {
                name: "cpu/mem-stores/".into(),
                source: Source::IntelMemStores,
                precise_level: 3,
                cpu_wide: false,
            }),
            clock: Ok(()),
        },
        cpu: Cpu {
            features: vec![CpuFeature {
                name: FeatureName::Clwb,
                processor: true,
                system: true,
            }],
        },
        memory: Memory {
            cgroup_limit: None,
            available: Some(8 * GIB),
            lock_limit: Some(8 << 20),
            perf_mlock_kib: Some(516),
        },
        shared_memory: Some(Space {
            free: GIB,
            total: GIB,
        }),
        output: Directory {
            path: "/data".into(),
            space: Some(Space {
                free: 100 * GIB,
                total: 200 * GIB,
            }),
            writable: true,
        },
        memory_types: Ok(MemoryTypes::new(&MemoryType::ALL, GIB, 0)),
    }
}

pub fn feature(name: FeatureName, processor: bool, system: bool) -> Cpu {
    Cpu {
        features: vec![CpuFeature {
            name,
            processor,
            system,
        }],
    }
}

/// Every host a test below makes.
pub fn lacking() -> Vec<(&'static str, Facts)> {
    let docker = HostFacts {
        container: Some("docker".into()),
        seccomp: true,
        ..healthy().host
    };
    let pod = HostFacts {
        container: Some("kubepods".into()),
        ..healthy().host
    };
    let space = |free| Some(Space { free, total: GIB });
    let output = |free| Directory {
        space: Some(Space { free, total: free }),
        ..healthy().output
    };
    let stores = |result| Counters {
        stores: result,
        ..healthy().counters
    };
    let memory = |change: fn(&mut Memory)| {
        let mut memory = healthy().memory;
        change(&mut memory);
        memory
    };
    let event = |source, precise_level, cpu_wide| {
        stores(Ok(StoreEvent {
            name: "x".into(),
            source,
            precise_level,
            cpu_wide,
        }))
    };
    let types = |memory_types| Facts {
        memory_types,
        ..healthy()
    };
    let without_pat = [MemoryType::WriteBack, MemoryType::Uncacheable];
    vec![
        ("memory-types", types(Err(MapError::of(libc::ENOENT)))),
        ("memory-types", types(Err(MapError::of(libc::EACCES)))),
        ("memory-types", types(Err(MapError::of(libc::ENOTTY)))),
        (
            "memory-types",
            types(Ok(MemoryTypes::new(&without_pat, GIB, 0))),
        ),
        (
            "engine",
            Facts {
                engine: Engine::NotFound {
                    looked_in: vec!["/usr/lib/prestore".into()],
                    fix: "make".into(),
                },
                ..healthy()
            },
        ),
        (
            "shared-memory",
            Facts {
                shared_memory: None,
                ..healthy()
            },
        ),
        (
            "shared-memory",
            Facts {
                shared_memory: space(1 << 20),
                ..healthy()
            },
        ),
        (
            "shared-memory",
            Facts {
                shared_memory: space(64 << 20),
                host: docker.clone(),
                ..healthy()
            },
        ),
        (
            "shared-memory",
            Facts {
                shared_memory: space(64 << 20),
                host: pod,
                ..healthy()
            },
        ),
        (
            "disk-space",
            Facts {
                output: output(GIB),
                ..healthy()
            },
        ),
        (
            "disk-space",
            Facts {
                output: output(1 << 20),
                ..healthy()
            },
        ),
        (
            "disk-space",
            Facts {
                output: Directory {
                    writable: false,
                    ..healthy().output
                },
                ..healthy()
            },
        ),
        (
            "memory",
            Facts {
                memory: memory(|m| m.available = Some(GIB)),
                ..healthy()
            },
        ),
        (
            "memory",
            Facts {
                memory: memory(|m| m.cgroup_limit = Some(GIB)),
                host: docker,
                ..healthy()
            },
        ),
        (
            "locked-memory",
            Facts {
                memory: memory(|m| (m.lock_limit, m.perf_mlock_kib) = (Some(64 << 10), Some(64))),
                ..healthy()
            },
        ),
        (
            "store-sampling",
            Facts {
                counters: event(Source::IntelMemStores, 1, false),
                ..healthy()
            },
        ),
        (
            "store-sampling",
            Facts {
                counters: event(Source::AmdIbsOp, 0, true),
                ..healthy()
            },
        ),
        (
            "store-sampling",
            Facts {
                counters: stores(Err(no_store_event(&healthy().host))),
                ..healthy()
            },
        ),
        (
            "clwb",
            Facts {
                cpu: feature(FeatureName::Clwb, false, false),
                ..healthy()
            },
        ),
        (
            "avx512",
            Facts {
                cpu: feature(FeatureName::Avx512, true, false),
                ..healthy()
            },
        ),
        (
            "dc-cvap",
            Facts {
                cpu: feature(FeatureName::DcCvap, false, false),
                ..healthy()
            },
        ),
    ]
}
