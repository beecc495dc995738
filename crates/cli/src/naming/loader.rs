//! The dynamic loader's own writes.

use prestore_dirtbuster::{Finding, Findings, Verdict};

use super::Namer;

/// File names of the loaders of glibc and musl begin so.
const LOADERS: [&str; 2] = ["ld-linux", "ld-musl"];

impl Namer {
    /// Takes back advice about stores of the dynamic loader: it relocates and looks symbols up while a program
    /// starts, and nobody can put a pre-store there. In a program that does little else, that is all there is.
    pub fn leave_loader_alone(&self, findings: &mut Findings) {
        let advice = findings.findings.iter_mut();
        for finding in advice.filter(|f| f.verdict != Verdict::LeaveAlone) {
            if self.is_of_loader(finding) {
                finding.verdict = Verdict::LeaveAlone;
                finding.dismissed = None;
                finding.reason =
                    "this is the dynamic loader's work while the program starts: nobody can put a pre-store there"
                        .into();
            }
        }
    }

    /// Most of its stores: where the C library writes for the loader, the two are one finding.
    fn is_of_loader(&self, finding: &Finding) -> bool {
        let sites = finding.sites.iter();
        let own = sites.filter(|s| {
            let module = self.look_up(s.site).map(|(_, module)| module.path);
            module.is_some_and(|path| {
                let file = path.rsplit('/').next().unwrap_or_default();
                LOADERS.iter().any(|loader| file.starts_with(loader))
            })
        });
        2 * own.map(|s| s.stores).sum::<u64>() >= finding.stores
    }
}
