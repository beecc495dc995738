use crate::check::{Check, Remedy, Status};
use crate::facts::{Cpu, CpuFeature, FeatureName};

/// One check an instruction that pre-stores are made of.
pub(crate) fn features(cpu: &Cpu, virtual_machine: bool) -> Vec<Check> {
    cpu.features
        .iter()
        .map(|feature| one(feature, virtual_machine))
        .collect()
}

fn one(feature: &CpuFeature, virtual_machine: bool) -> Check {
    let words = words(feature.name);
    match (feature.processor, feature.system) {
        (true, true) => Check::ok(words.name, words.with),
        (true, false) => Check::lack(
            words.name,
            Status::Degraded,
            words.without,
            "the processor has it, but the operating system does not enable or show it",
            Remedy::Nothing(
                "boot without clearcpuid= or noxsave on the kernel's command line".to_owned(),
            ),
        ),
        (false, _) if virtual_machine => Check::lack(
            words.name,
            Status::Missing,
            words.without,
            "the processor lacks it, or the hypervisor hides it from this virtual machine",
            Remedy::Nothing("let the hypervisor pass the host's CPU model on".to_owned()),
        ),
        (false, _) => Check::lack(
            words.name,
            Status::Missing,
            words.without,
            "the processor lacks it",
            Remedy::Nothing("a newer processor has it".to_owned()),
        ),
    }
}

struct Words {
    name: &'static str,
    with: &'static str,
    without: &'static str,
}

fn words(name: FeatureName) -> Words {
    let (name, with, without) = match name {
        FeatureName::Clflushopt => (
            "clflushopt",
            "flushes of different lines overlap",
            "flushes use clflush, which waits for each line",
        ),
        FeatureName::Clwb => (
            "clwb",
            "clean writes a line back and keeps it",
            "clean uses clflushopt or clflush, which drop the line from the cache",
        ),
        FeatureName::Cldemote => (
            "cldemote",
            "demote pushes a line to the shared cache",
            "demote has no effect here (the instruction runs as a NOP); advice and simulation do not \
             need it",
        ),
        FeatureName::Movdir64b => (
            "movdir64b",
            "skip can write whole lines at once",
            "skip uses non-temporal vector stores",
        ),
        FeatureName::NonTemporalStores => (
            "nt-stores",
            "skip bypasses the cache",
            "skip is an ordinary store",
        ),
        FeatureName::Avx512 => (
            "avx512",
            "skip writes a line with one non-temporal store",
            "skip writes a line with two or four non-temporal stores",
        ),
        FeatureName::DcCvau => (
            "dc-cvau",
            "demote is open to user code",
            "demote has no effect here",
        ),
        FeatureName::DcCvap => (
            "dc-cvap",
            "clean reaches the point of persistence",
            "clean uses dc cvac, which reaches the point of coherency only",
        ),
    };
    Words {
        name,
        with,
        without,
    }
}
