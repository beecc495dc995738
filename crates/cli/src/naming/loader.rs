//! Writes of the dynamic loader, and of the C library before and after `main`.

use prestore_dirtbuster::{Finding, Findings, Verdict};
use prestore_trace::SiteId;

use super::Namer;

/// File names of the loaders of glibc and musl begin so.
const LOADERS: [&str; 2] = ["ld-linux", "ld-musl"];

/// Where a program begins, by the name that the C runtime's own object gives it.
const ENTRY: &str = "_start";

/// Is the module at `path` a dynamic loader? What it writes is never its callers': it looks symbols up for them.
pub fn is_loader(path: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or_default();
    LOADERS.iter().any(|loader| file.starts_with(loader))
}

impl Namer {
    /// Takes back what is advised about stores of the dynamic loader, which relocates and looks symbols up while a program
    /// starts, and of what the C library does around `main`, or would be if the program wrote more: nobody can put a
    /// pre-store there. In a program that does little else, that is all there is. Nor has the program allocated what the
    /// loader has mapped: those are variables of libraries.
    pub fn leave_loader_alone(&mut self, findings: &mut Findings) {
        for finding in &mut findings.findings {
            finding
                .allocations
                .retain(|(site, _)| !self.is_loaders(*site));
            let whose = if self.is_of_loader(finding) {
                "the dynamic loader's work while the program starts"
            } else if self.is_around_main(finding) {
                "the C library's work before and after `main`"
            } else {
                continue;
            };
            finding.verdict = Verdict::LeaveAlone;
            finding.dismissed = None;
            finding.written_once = false;
            finding.reason = format!("this is {whose}: nobody can put a pre-store there");
        }
    }

    /// Its nearest caller that is no generic code is the program's entry.
    fn is_around_main(&mut self, finding: &Finding) -> bool {
        let caller = finding
            .call_chain
            .first()
            .filter(|_| finding.generic_writer);
        let function = caller.and_then(|&call| self.function(call));
        function.is_some_and(|f| &*f.name == ENTRY)
    }

    fn is_of_loader(&self, finding: &Finding) -> bool {
        finding.sites.iter().all(|s| self.is_loaders(s.site))
    }

    fn is_loaders(&self, site: SiteId) -> bool {
        let module = self.look_up(site).map(|(_, module)| module.path);
        module.is_some_and(|path| is_loader(&path))
    }
}
