//! `prestore bench --types`: what memory of each type costs on this machine.

mod measure;
mod text;

use prestore::{Instruction, MapError, MemoryType, TypedMemory, memory_types};
use prestore_measure::Summary;
use serde::Serialize;

pub use text::render_types;

/// Version of the JSON output; changes when a key changes its meaning or goes.
pub const TYPES_SCHEMA_VERSION: u32 = 1;

/// Bytes of each type that are measured: more than the nearest caches hold, and a fraction of a second where each access
/// goes to memory.
const BYTES: usize = 4 << 20;

/// Figures of all types.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TypeResults {
    /// [`TYPES_SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The CPU's name.
    pub cpu: String,
    /// Rounds; each measures every type once, in turn.
    pub runs: usize,
    /// Bytes of each type.
    pub bytes: usize,
    /// The instruction behind `flush`; none where the CPU has none.
    pub flush_instruction: Option<String>,
    /// The types that the machine has.
    pub types: Vec<TypeResult>,
    /// What to mind when reading the figures.
    pub warnings: Vec<String>,
}

/// A type's figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TypeResult {
    /// `WB`, `WT`, `WC` or `UC`.
    pub memory_type: &'static str,
    /// GB a second, loads of 8 bytes one behind the other.
    pub read: Summary,
    /// GB a second, stores of 8 bytes one behind the other, with a fence at the end.
    pub write: Summary,
    /// GB copied a second from one half to the other, 8 bytes at a time, with a fence at the end.
    pub copy: Summary,
    /// Nanoseconds of a flush and a fence behind it, for a line that was stored to.
    pub flush: Option<Summary>,
}

/// Measures each type that the machine has.
///
/// # Errors
/// The kernel module is not there, or gives no memory.
pub fn bench_types(cpu: String, runs: usize) -> Result<TypeResults, MapError> {
    let offered = memory_types()?;
    let (have, lack): (Vec<_>, Vec<_>) = MemoryType::ALL
        .into_iter()
        .partition(|memory_type| offered.has(*memory_type));
    let memory = have
        .iter()
        .map(|memory_type| TypedMemory::new(BYTES, *memory_type))
        .collect::<Result<Vec<_>, _>>()?;
    let flush = [
        Instruction::Clwb,
        Instruction::ClflushOpt,
        Instruction::Clflush,
    ]
    .into_iter()
    .find(|instruction| prestore::usable(*instruction));

    let mut rounds: Vec<Vec<measure::Round>> = vec![vec![]; memory.len()];
    for _ in 0..runs.max(1) {
        // In turn, so that noise hits all alike.
        for (memory, rounds) in memory.iter().zip(&mut rounds) {
            rounds.push(measure::Round::of(memory, flush));
        }
    }
    let types = memory
        .iter()
        .zip(&rounds)
        .filter_map(|(memory, rounds)| summarised(memory.memory_type(), rounds));
    let warnings = lack.iter().map(|memory_type| {
        format!(
            "this machine cannot have {}: its kernel runs without PAT, or the PAT has no entry for it",
            memory_type.name()
        )
    });
    Ok(TypeResults {
        schema_version: TYPES_SCHEMA_VERSION,
        cpu,
        runs: runs.max(1),
        bytes: BYTES,
        flush_instruction: flush.map(|instruction| instruction.name().to_owned()),
        types: types.collect(),
        warnings: warnings.collect(),
    })
}

fn summarised(memory_type: MemoryType, rounds: &[measure::Round]) -> Option<TypeResult> {
    let all = |figure: fn(&measure::Round) -> f64| {
        Summary::of(&rounds.iter().map(figure).collect::<Vec<_>>())
    };
    let flushes: Vec<f64> = rounds.iter().filter_map(|round| round.flush).collect();
    Some(TypeResult {
        memory_type: memory_type.name(),
        read: all(|round| round.read)?,
        write: all(|round| round.write)?,
        copy: all(|round| round.copy)?,
        flush: Summary::of(&flushes),
    })
}
