//! Parts of a page that a program writes and a test holds.

use std::path::{Path, PathBuf};

const END: &str = "<!-- up to here. -->\n";

fn path(page: &str) -> PathBuf {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    docs.join(page)
}

/// Holds the part of `docs/PAGE` that begins behind the line `begin` to `wanted`, or writes it where the
/// environment has `PRESTORE_WRITE_REPRO`. `command` is what a developer runs to have it written.
pub fn hold(page: &str, begin: &str, wanted: &str, command: &str) {
    let path = path(page);
    let text = std::fs::read_to_string(&path).unwrap();
    let start = text
        .find(begin)
        .unwrap_or_else(|| panic!("docs/{page} lacks '{begin}'"))
        + begin.len();
    let end = start + text[start..].find(END).expect("what is written has an end");
    if std::env::var_os("PRESTORE_WRITE_REPRO").is_some() {
        let written = format!("{}{wanted}{}", &text[..start], &text[end..]);
        std::fs::write(&path, written).unwrap();
        return;
    }
    assert_eq!(
        &text[start..end],
        wanted,
        "docs/{page} is not what was run: {command}"
    );
}
