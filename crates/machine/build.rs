//! Embeds the shipped machine and device files, so that the command works from anywhere.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    // Not as it was compiled: two copies of the project may share a target folder.
    let manifest = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let root = Path::new(&manifest).join("../../machines");
    let mut code = String::new();
    for (list, folder) in [
        ("MACHINES", root.clone()),
        ("DEVICES", root.join("devices")),
    ] {
        println!("cargo::rerun-if-changed={}", folder.display());
        let mut files: Vec<_> = fs::read_dir(&folder)?
            .map(|entry| entry.map(|e| e.path()))
            .collect::<io::Result<_>>()?;
        files.retain(|path| path.extension().is_some_and(|e| e == "toml"));
        files.sort();
        // Writing to a string cannot fail.
        let _ = writeln!(code, "pub(super) const {list}: &[(&str, &str)] = &[");
        for path in files {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let path = path.canonicalize()?;
            let _ = writeln!(code, "    ({name:?}, include_str!({path:?})),");
        }
        code.push_str("];\n");
    }
    let out = env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?;
    fs::write(Path::new(&out).join("shipped.rs"), code)
}
