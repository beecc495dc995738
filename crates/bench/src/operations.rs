//! What stands behind the operations on this host.

use serde::Serialize;

use crate::Variant;

/// An operation as the library does it here (`prestore::query`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Operation {
    /// The variant that uses it.
    pub variant: Variant,
    /// The instruction's name.
    pub instruction: String,
    /// Can it have an effect?
    pub active: bool,
    /// Why this instruction.
    pub reason: String,
    /// An environment switch that was not followed.
    pub warning: Option<String>,
}

impl Operation {
    /// Asks the library; base has none.
    pub fn of(variant: Variant) -> Option<Operation> {
        let info = prestore::query(variant.op()?);
        Some(Operation {
            variant,
            instruction: info.instruction.name().to_owned(),
            active: info.active,
            reason: info.reason.to_owned(),
            warning: info.warning.map(str::to_owned),
        })
    }
}
