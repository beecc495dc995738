//! What `bench --predict` found out about predictions for this host, kept for `whatif`.

use std::fs;
use std::path::PathBuf;

use prestore_bench::HostAccuracy;
use prestore_machine::Machines;
use prestore_report::{Accuracy, to_json};

use crate::host::HOST;
use crate::{host, notice};

fn file() -> Option<PathBuf> {
    Some(Machines::user_folder()?.join("host-predicted.json"))
}

/// Keeps what a bench found out.
pub fn keep(found: &HostAccuracy) {
    let kept = file().map(|file| {
        let text = to_json(found).unwrap_or_default();
        fs::write(&file, text).map_err(|e| format!("{} cannot be written: {e}", file.display()))
    });
    if let Some(Err(why)) = kept {
        notice::tell(&format!(
            "what predictions were worth is not kept for whatif: {why}"
        ));
    }
}

/// What is known of predictions for `machine`: of this host alone, if it is still the CPU that was measured.
pub fn of(machine: &str) -> Vec<Accuracy> {
    if machine != HOST {
        return Vec::new();
    }
    let text = file().and_then(|file| fs::read_to_string(file).ok());
    let known = text.and_then(|text| serde_json::from_str::<HostAccuracy>(&text).ok());
    let here = known.filter(|known| known.cpu == host::cpu());
    let ops = here.map_or_else(Vec::new, |known| known.operations);
    ops.into_iter()
        .map(|o| Accuracy {
            op: o.operation,
            cases: o.cases,
            median_error: o.median_error,
            worst_error: o.worst_error,
        })
        .collect()
}
