//! What the report asks of whoever knows the symbols.

use prestore_trace::SiteId;
use serde::{Deserialize, Serialize};

/// One function at a place in the code: the out-of-line function, or one inlined into it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// Demangled name; `None` where the symbols have none.
    pub function: Option<String>,
    /// Source file as the debug information names it, absolute where that can be made out.
    pub file: Option<String>,
    /// Line in `file`, from 1.
    pub line: Option<u32>,
}

/// Everything the symbols tell about a site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Path of the module, `[jit:PID]` for code outside any.
    pub module: String,
    /// GNU build id of the module, empty where it has none.
    pub build_id: String,
    /// Address in the terms of the module's own symbol table (absolute for JIT code).
    pub offset: u64,
    /// Innermost inlined function first, the out-of-line function last; empty when nothing is
    /// known but module and offset.
    pub frames: Vec<Frame>,
}

/// What a site stands for, which decides the line that is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SiteKind {
    /// The instruction itself.
    Instruction,
    /// The address a call returns to: the line wanted is the call's, one instruction earlier.
    ReturnAddress,
}

/// Names code sites.
pub trait Resolver {
    /// The place of `site`; `None` where the site is unknown (no instruction made the event).
    fn resolve(&mut self, site: SiteId, kind: SiteKind) -> Option<Place>;

    /// The jump by which the function that `call` calls, or that begins at `call` if that is no call, went on to the function of
    /// `inner`, the next known place on the stack (a tail call, which leaves no return address); `None` where there is none or
    /// it is not known.
    fn tail_jump(&mut self, _call: SiteId, _inner: SiteId) -> Option<SiteId> {
        None
    }
}
