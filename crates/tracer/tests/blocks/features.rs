//! What the processor has.

use std::collections::BTreeSet;

/// Vector registers that programs are generated for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Sse,
    Avx,
    Avx512,
}

/// The processor's features by their names in `/proc/cpuinfo`, as far as `level` goes.
pub struct Features {
    pub level: Level,
    names: BTreeSet<String>,
}

const AVX512: [&str; 5] = ["avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512cd"];

impl Features {
    /// Those of this processor, with no vectors above `level`; `None` where it has not got them.
    pub fn at(level: Level) -> Option<Self> {
        let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let line = cpu.lines().find(|l| l.starts_with("flags")).unwrap_or("");
        let wide = |name: &str| name.starts_with("avx512") || name == "gfni" || name == "vaes";
        let narrow = |name: &str| wide(name) || name.starts_with("avx") || name == "fma";
        let kept = line.split_whitespace().filter(|n| match level {
            Level::Sse => !narrow(n) && *n != "f16c",
            Level::Avx => !wide(n),
            Level::Avx512 => true,
        });
        let features = Self {
            level,
            names: kept.map(str::to_owned).collect(),
        };
        let needed: &[&str] = match level {
            Level::Sse => &[],
            Level::Avx => &["avx", "avx2"],
            Level::Avx512 => &AVX512,
        };
        needed.iter().all(|n| features.has(n)).then_some(features)
    }

    /// Are there tiles (AMX), beside the widest vectors?
    pub fn has_tiles(&self) -> bool {
        self.level == Level::Avx512 && self.has("amx_tile")
    }

    /// Has it the feature? The empty one everything has.
    pub fn has(&self, name: &str) -> bool {
        name.is_empty() || self.names.contains(name)
    }
}
