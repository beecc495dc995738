//! Whose blocks they are.

/// What the first frame of its log says of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessFacts {
    /// Kernel's process id.
    pub pid: u32,
    /// Of the parent; of a forked process, of the one that it was forked from.
    pub parent: u32,
    /// Block ids below this are those of the process it was forked from; 0: it was executed.
    pub inherited: u32,
    /// Tells what was executed under one pid apart: ticks at its start.
    pub stamp: u64,
    /// Stamp of the process that it was forked from.
    pub origin: u64,
}

impl ProcessFacts {
    /// Was `child` forked from this process?
    pub fn began(&self, child: &Self) -> bool {
        child.inherited > 0 && child.parent == self.pid && child.origin == self.stamp
    }
}
