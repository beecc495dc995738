//! A machine whose memory is so.

use prestore_machine::{Machine, MemoryType, RangeSelector, TypeRule};

use crate::{Mode, ModesError, Ranges};

/// `machine`, with the memory of `ranges` of its owners' modes, each with its name. What rules of the machine say of it
/// counts no more.
///
/// # Errors
/// The machine cannot have a mode.
pub fn fitted(
    machine: &Machine,
    ranges: &Ranges,
    modes: &[(String, Mode)],
) -> Result<Machine, ModesError> {
    for (name, mode) in modes {
        let lacks = mode.possible_on(machine);
        lacks.map_err(|lacks| ModesError::NoSuchMode {
            name: name.clone(),
            machine: machine.name.clone(),
            lacks,
        })?;
    }
    let rules = ranges.iter().filter_map(|(range, owner)| {
        let memory_type = modes.get(owner)?.1.memory_type();
        // Without any rule the simulator takes the way that knows no types.
        let plain = memory_type == MemoryType::WriteBack && machine.placement.types.is_empty();
        (!plain).then(|| TypeRule {
            of: RangeSelector::Addresses(range.start, range.end - 1),
            memory_type,
        })
    });
    let mut made = machine.clone();
    made.placement.types = rules.chain(made.placement.types).collect();
    Ok(made)
}
