//! From the tree of a description to a [`Machine`] in which every name is an index.

use crate::check;
use crate::error::{MachineError, Problem};
use crate::file::{Node, Sections, Unnamed};
use crate::placement::PlacementForm;
use crate::{CacheLevel, Core, Directory, Machine, Memory, quantity::Size};

/// The parts of a description.
const PARTS: [&str; 7] = [
    "description",
    "line",
    "core",
    "caches",
    "directory",
    "memories",
    "placement",
];

/// The machine that a tree describes; `problems` are those known before.
pub fn resolve(name: &str, tree: &Node, problems: Vec<Problem>) -> Result<Machine, MachineError> {
    let parts = Sections::new(tree, &PARTS, problems);
    let description: Option<String> = parts.required("description");
    let line: Option<Size> = parts.required("line");
    let core: Option<Core> = parts.required("core");
    let caches: Vec<CacheLevel> = parts.named("caches");
    let directory: Option<Directory> = parts.required("directory");
    let memories: Vec<Memory> = parts.named("memories");
    let placement: Option<PlacementForm> = parts.required("placement");
    let placement = placement.map(|form| form.resolve(&memories, &parts));

    let machine = (|| {
        Some(Machine {
            name: name.into(),
            description: description?,
            line: line?,
            core: core?,
            caches,
            directory: directory?,
            memories,
            placement: placement?,
        })
    })();
    // Checks of parts against each other mean something only where all parts are there.
    if let Some(machine) = machine.filter(|_| !parts.any_wrong()) {
        check::check(&machine, &parts);
        if !parts.any_wrong() {
            return Ok(machine);
        }
    }
    Err(MachineError::Wrong(parts.into_problems()))
}

impl Unnamed for CacheLevel {
    fn named(&mut self, name: &str) {
        self.name = name.into();
    }
}

impl Unnamed for Memory {
    fn named(&mut self, name: &str) {
        self.name = name.into();
    }
}
