//! Is the advice worth following? What the simulator says of each place of the suite (`simulated.rs`) and what this host
//! measures (`host.rs`), as data beside this and as docs/verdicts.md (`page.rs`); disagreements.toml lists what does not hold.

mod host;
mod page;
mod row;
mod simulated;

use std::path::{Path, PathBuf};

use row::{Place, Row};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Set: what was found replaces data and page.
const WRITE: &str = "PRESTORE_WRITE_VERDICTS";

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/verdict_suite/data")
        .join(name)
}

fn read<T: DeserializeOwned>(name: &str) -> T {
    let path = data(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Keeps what was found, and writes the page anew, where that is asked for.
fn keep<T: Serialize>(name: &str, found: &T) {
    if std::env::var_os(WRITE).is_some() {
        let text = serde_json::to_string_pretty(found).unwrap() + "\n";
        std::fs::write(data(name), text).unwrap();
        page::write();
    }
}
