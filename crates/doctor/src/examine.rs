use crate::check::{Diagnosis, SCHEMA_VERSION};
use crate::checks::{counters, cpu, engine, machine, memory, memory_types};
use crate::facts::Facts;

/// Judges the facts.
pub fn examine(facts: &Facts) -> Diagnosis {
    let mut checks = vec![
        engine::engine(&facts.engine),
        memory::shared_memory(facts),
        memory::disk_space(&facts.output),
        memory::memory(&facts.memory, &facts.host),
        counters::store_sampling(&facts.counters),
        counters::permission(facts),
        memory::locked_memory(&facts.memory),
        machine::machine(&facts.host),
        machine::ptrace(),
        memory_types::memory_types(&facts.memory_types),
    ];
    checks.extend(cpu::features(&facts.cpu, facts.host.virtual_machine));
    Diagnosis {
        schema_version: SCHEMA_VERSION,
        checks,
    }
}
