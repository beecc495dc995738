//! Names of the calls that allocate, for placement rules.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use prestore_report::{Resolver, SiteKind};
use prestore_sim::CallSite;
use prestore_trace::SiteId;
use prestore_trace::container::Trace;

use super::Namer;

/// Names calls of one recording, from any thread; symbols are read when the first name is asked.
pub struct CallNames(Mutex<Namer>);

impl CallNames {
    /// Those of `trace`. Looks for separate debug files in `debug_dirs` too.
    pub fn new(trace: &Trace, debug_dirs: &[PathBuf]) -> Self {
        Self(Mutex::new(Namer::new(trace.sites().clone(), debug_dirs)))
    }

    /// The functions and lines that the call at `site` stands in, innermost first.
    pub fn of(&self, site: SiteId) -> Vec<CallSite> {
        let mut namer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = namer.resolve(site, SiteKind::Instruction);
        let frames = place.into_iter().flat_map(|p| p.frames);
        frames
            .map(|f| CallSite {
                function: f.function,
                file: f.file,
                line: f.line,
            })
            .collect()
    }

    /// The function whose first instruction is at `site`, as the symbol table calls it.
    pub fn function_at(&self, site: SiteId) -> Option<String> {
        let mut namer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let offset = namer.look_up(site)?.0.offset;
        let function = namer.function(site).filter(|f| f.start == offset)?;
        Some(function.raw.to_string())
    }
}
