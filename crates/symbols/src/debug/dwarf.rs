//! Lines and inlined frames from DWARF.

use std::path::Path;

use addr2line::Loader;

use crate::demangle::demangle;
use crate::location::Frame;

/// A file's debug information.
pub struct Dwarf {
    loader: Loader,
}

impl Dwarf {
    /// Reads the unit headers of `file`; the rest is read when asked for. `supplementary` is the
    /// file that `dwz` moved shared entries to. Split DWARF (`.dwo`, `.dwp`) is followed.
    ///
    /// # Errors
    /// The cause, for a note.
    pub fn open(file: &Path, supplementary: Option<&Path>) -> Result<Self, String> {
        let loader = Loader::new_with_sup(file, supplementary).map_err(|e| e.to_string())?;
        Ok(Self { loader })
    }

    /// The frames at `address`, innermost first; empty where nothing is known.
    ///
    /// # Errors
    /// The cause, for a note.
    pub fn frames(&self, address: u64) -> Result<Vec<Frame>, String> {
        // No code ends past the last address, and the library counts to the address after it.
        if address == u64::MAX {
            return Ok(Vec::new());
        }
        let mut frames = Vec::new();
        let mut found = self
            .loader
            .find_frames(address)
            .map_err(|e| e.to_string())?;
        while let Some(frame) = found.next().map_err(|e| e.to_string())? {
            let name = frame
                .function
                .as_ref()
                .and_then(|name| name.raw_name().ok());
            let location = frame.location.as_ref();
            frames.push(Frame {
                function: name.map_or_else(|| Frame::UNKNOWN.to_owned(), |raw| demangle(&raw)),
                file: location.and_then(|at| at.file).map(str::to_owned),
                // Line 0 marks code that no source line made.
                line: location.and_then(|at| at.line).filter(|line| *line != 0),
                inlined: true,
            });
        }
        if let Some(outermost) = frames.last_mut() {
            outermost.inlined = false;
        }
        Ok(frames)
    }
}
