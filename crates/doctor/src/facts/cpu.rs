use std::path::Path;

/// Instructions that matter to pre-stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FeatureName {
    /// x86 `clflushopt`.
    Clflushopt,
    /// x86 `clwb`.
    Clwb,
    /// x86 `cldemote`.
    Cldemote,
    /// x86 `movdir64b`.
    Movdir64b,
    /// x86 `movnt*`, Arm `stnp`.
    NonTemporalStores,
    /// x86 AVX-512 foundation.
    Avx512,
    /// Arm `dc cvau` from user code.
    DcCvau,
    /// Arm `dc cvap` from user code.
    DcCvap,
}

/// Whether an instruction is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuFeature {
    /// Which.
    pub name: FeatureName,
    /// The processor (as CPUID or the kernel's HWCAP words show it) has it.
    pub processor: bool,
    /// The operating system lets programs use it.
    pub system: bool,
}

/// What the processor offers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cpu {
    /// The features of this architecture.
    pub features: Vec<CpuFeature>,
}

impl Cpu {
    /// Looks at this processor; `root` is `/`.
    pub fn read(root: &Path) -> Self {
        let cpuinfo = std::fs::read_to_string(root.join("proc/cpuinfo")).unwrap_or_default();
        Self {
            features: native(&cpuinfo),
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn native(cpuinfo: &str) -> Vec<CpuFeature> {
    use std::arch::x86_64::{__cpuid, __cpuid_count};
    // Every x86-64 processor has leaf 0, which tells whether leaf 7 is there.
    #[allow(unused_unsafe)] // safe functions in newer toolchains
    // SAFETY: CPUID exists on every x86-64 processor.
    let (leaf1, leaf7) = unsafe {
        let highest = __cpuid(0).eax;
        (__cpuid(1), (highest >= 7).then(|| __cpuid_count(7, 0)))
    };
    let (ebx, ecx) = leaf7.map_or((0, 0), |leaf| (leaf.ebx, leaf.ecx));
    x86_features(
        X86Bits {
            leaf1_edx: leaf1.edx,
            leaf7_ebx: ebx,
            leaf7_ecx: ecx,
        },
        cpuinfo,
        std::arch::is_x86_feature_detected!("avx512f"),
    )
}

#[cfg(target_arch = "aarch64")]
fn native(_cpuinfo: &str) -> Vec<CpuFeature> {
    // SAFETY: getauxval only reads the process's own auxiliary vector.
    arm_features(unsafe { libc::getauxval(libc::AT_HWCAP) })
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn native(_cpuinfo: &str) -> Vec<CpuFeature> {
    Vec::new()
}

/// The CPUID words that hold the features (Intel SDM volume 2, CPUID).
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
#[derive(Debug, Clone, Copy, Default)]
struct X86Bits {
    leaf1_edx: u32,
    leaf7_ebx: u32,
    leaf7_ecx: u32,
}

/// `avx512_state`: the operating system saves the AVX-512 registers (XCR0).
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
fn x86_features(bits: X86Bits, cpuinfo: &str, avx512_state: bool) -> Vec<CpuFeature> {
    let flags: Vec<&str> = cpuinfo
        .lines()
        .find_map(|line| line.strip_prefix("flags"))
        .map(|rest| rest.split_whitespace().collect())
        .unwrap_or_default();
    // Where the list cannot be read, the processor's word is taken.
    let shown = |flag: &str| flags.is_empty() || flags.contains(&flag);
    let feature = |name, word: u32, bit: u32, flag: &str| CpuFeature {
        name,
        processor: word >> bit & 1 == 1,
        system: word >> bit & 1 == 1 && shown(flag),
    };
    let mut avx512 = feature(FeatureName::Avx512, bits.leaf7_ebx, 16, "avx512f");
    avx512.system &= avx512_state;
    vec![
        feature(FeatureName::Clwb, bits.leaf7_ebx, 24, "clwb"),
        feature(FeatureName::Clflushopt, bits.leaf7_ebx, 23, "clflushopt"),
        feature(FeatureName::Cldemote, bits.leaf7_ecx, 25, "cldemote"),
        feature(FeatureName::NonTemporalStores, bits.leaf1_edx, 26, "sse2"),
        avx512,
        feature(FeatureName::Movdir64b, bits.leaf7_ecx, 28, "movdir64b"),
    ]
}

/// From the HWCAP word (`Documentation/arch/arm64/elf_hwcaps.rst`). Linux opens `dc cvau`, `dc cvac` and
/// `stnp` to user code on every AArch64 processor (SCTLR_EL1.UCI), `dc cvap` where HWCAP_DCPOP is set.
#[cfg_attr(not(target_arch = "aarch64"), allow(dead_code))]
fn arm_features(hwcap: u64) -> Vec<CpuFeature> {
    const HWCAP_DCPOP: u64 = 1 << 16;
    let feature = |name, there| CpuFeature {
        name,
        processor: there,
        system: there,
    };
    vec![
        feature(FeatureName::DcCvap, hwcap & HWCAP_DCPOP != 0),
        feature(FeatureName::DcCvau, true),
        feature(FeatureName::NonTemporalStores, true),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(features: &[CpuFeature], name: FeatureName) -> (bool, bool) {
        let feature = features.iter().find(|f| f.name == name).unwrap();
        (feature.processor, feature.system)
    }

    #[test]
    fn cpuid_bits_and_the_kernels_list_are_told_apart() {
        let bits = X86Bits {
            leaf1_edx: 1 << 26,
            leaf7_ebx: 1 << 16 | 1 << 23 | 1 << 24,
            leaf7_ecx: 1 << 25,
        };
        let features = x86_features(bits, "flags\t: sse2 avx512f clwb cldemote\n", false);
        assert_eq!(find(&features, FeatureName::Clwb), (true, true));
        assert_eq!(
            find(&features, FeatureName::Clflushopt),
            (true, false),
            "hidden by the kernel"
        );
        assert_eq!(find(&features, FeatureName::Cldemote), (true, true));
        assert_eq!(
            find(&features, FeatureName::Avx512),
            (true, false),
            "registers not saved"
        );
        assert_eq!(find(&features, FeatureName::Movdir64b), (false, false));
        assert_eq!(
            find(&features, FeatureName::NonTemporalStores),
            (true, true)
        );
    }

    #[test]
    fn without_the_kernels_list_the_processor_is_believed() {
        let bits = X86Bits {
            leaf7_ebx: 1 << 24,
            ..X86Bits::default()
        };
        assert_eq!(
            find(&x86_features(bits, "", true), FeatureName::Clwb),
            (true, true)
        );
    }

    #[test]
    fn arm_needs_a_capability_for_the_point_of_persistence_only() {
        assert_eq!(find(&arm_features(0), FeatureName::DcCvap), (false, false));
        assert_eq!(
            find(&arm_features(1 << 16), FeatureName::DcCvap),
            (true, true)
        );
        assert_eq!(find(&arm_features(0), FeatureName::DcCvau), (true, true));
    }
}
