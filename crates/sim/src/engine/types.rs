//! The memory types of lines.

use std::ops::RangeInclusive;

use prestore_machine::MemoryType;
use prestore_trace::LineAddr;

use crate::memory::{LineTable, Places};

/// Which type each line has, and which lines have got another one.
#[derive(Clone, Debug)]
pub struct Types {
    table: LineTable<MemoryType>,
    /// Lines whose type changed, and what was not looked at since.
    changed: Vec<RangeInclusive<u64>>,
}

impl Types {
    /// All is write-back.
    pub fn new() -> Self {
        Self {
            table: LineTable::new(MemoryType::WriteBack),
            changed: Vec::new(),
        }
    }

    /// The type of `line`, asked for by `core`.
    #[inline]
    pub fn of(&mut self, core: u32, line: LineAddr) -> MemoryType {
        self.table.get(core, line.0)
    }

    /// The lines whose type has changed since this was asked last.
    pub fn changed(&mut self) -> Vec<RangeInclusive<u64>> {
        std::mem::take(&mut self.changed)
    }
}

impl Places<MemoryType> for Types {
    fn set(&mut self, lines: RangeInclusive<u64>, value: Option<MemoryType>) {
        let wanted = value.unwrap_or_default();
        let (now, alike) = self.table.around(*lines.start());
        if now == wanted && alike.contains(lines.end()) {
            return;
        }
        self.table.set(lines.clone(), value);
        self.changed.push(lines);
    }
}
