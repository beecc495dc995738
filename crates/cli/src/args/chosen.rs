//! Arguments that choose the code of scope `functions`.

use clap::Args;
use prestore_trace::container::NamedCode;

use crate::naming::{module, place};

/// The code whose writes matter, for `--scope functions`.
#[derive(Args, Clone, Debug)]
pub struct ChosenArgs {
    /// Function whose writes matter (repeatable), for `--scope functions`; where nothing is named, those
    /// that make up most stores are found by a first run in scope `count`
    #[arg(long = "function", value_name = "NAME")]
    pub functions: Vec<String>,
    /// Executable or library whose writes matter (repeatable): its path, its file's name, or that without
    /// version (`libz`), for `--scope functions`
    #[arg(long = "module", value_name = "NAME", value_parser = module)]
    pub modules: Vec<String>,
    /// Place whose writes matter (repeatable): a file or lines of it, `FILE`, `FILE:LINE` or `FILE:FIRST-LAST`,
    /// or an instruction, `MODULE+0xOFFSET`, for `--scope functions`
    #[arg(long = "place", visible_alias = "site", value_name = "PLACE", value_parser = place)]
    pub places: Vec<String>,
}

impl ChosenArgs {
    /// Was nothing named?
    pub fn is_empty(&self) -> bool {
        self.named().is_empty()
    }

    /// What was named.
    pub fn named(&self) -> NamedCode {
        NamedCode {
            functions: self.functions.clone(),
            modules: self.modules.clone(),
            places: self.places.clone(),
        }
    }
}
