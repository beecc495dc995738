//! What is said about an address.

use std::fmt;
use std::sync::Arc;

/// Which module an address is in, as the trace names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ModuleRef<'a> {
    /// Absolute path at recording time; `[jit:PID]` for code outside any module.
    pub path: &'a str,
    /// GNU build id at recording time, hex; empty where it is not known, and then a rebuilt file
    /// cannot be told from the recorded one.
    pub build_id: &'a str,
}

/// A function as a symbol table (or a perf map) has it: physical, not inlined.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FunctionName {
    /// Demangled name; a raw name of no known mangling (C, Fortran, assembly) unchanged.
    pub name: Arc<str>,
    /// The name as stored, without a symbol version.
    pub raw: Arc<str>,
    /// Address of the first byte, in the terms of the module (absolute for JIT code).
    pub start: u64,
    /// Length in bytes; 0 where the symbol does not state one (hand-written assembly).
    pub size: u64,
}

/// One source-level frame.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    /// Demangled name, [`Frame::UNKNOWN`] where there is none.
    pub function: String,
    /// Path as in the debug information, joined with the compilation directory.
    pub file: Option<String>,
    /// Line, from 1.
    pub line: Option<u32>,
    /// Whether this function was inlined into the frame that follows.
    pub inlined: bool,
}

impl Frame {
    /// Name of a function that the debug information does not name, as binutils writes it.
    pub const UNKNOWN: &'static str = "??";
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.function)?;
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, " ({file}:{line})"),
            (Some(file), None) => write!(f, " ({file})"),
            _ => Ok(()),
        }
    }
}

/// Where an address is, as precisely as the files at hand tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// Debug information covers the address.
    Source {
        /// Innermost first, never empty; all but the last are inlined.
        frames: Vec<Frame>,
        /// The physical function, where the symbol table names it.
        function: Option<FunctionName>,
    },
    /// No debug information: module and offset, with the function where a symbol covers it.
    Module {
        /// The module's path as recorded.
        module: String,
        /// The address in the terms of the module's own symbol table.
        offset: u64,
        /// The physical function, where the symbol table names it.
        function: Option<FunctionName>,
    },
    /// Code outside any file.
    Jit {
        /// The process that made it.
        process: u32,
        /// Absolute address.
        address: u64,
        /// Its name, where the process left a perf map that covers the address.
        function: Option<FunctionName>,
    },
}

impl Location {
    /// The frames, innermost first; empty without debug information.
    pub fn frames(&self) -> &[Frame] {
        match self {
            Self::Source { frames, .. } => frames,
            _ => &[],
        }
    }

    /// The physical function, where a symbol names it.
    pub fn physical_function(&self) -> Option<&FunctionName> {
        match self {
            Self::Source { function, .. }
            | Self::Module { function, .. }
            | Self::Jit { function, .. } => function.as_ref(),
        }
    }

    /// The innermost function's name, inlined or not.
    pub fn function(&self) -> Option<&str> {
        match self.frames().first() {
            Some(frame) if frame.function != Frame::UNKNOWN => Some(&frame.function),
            _ => self.physical_function().map(|function| &*function.name),
        }
    }

    /// The innermost file and line, where both are known.
    pub fn source(&self) -> Option<(&str, u32)> {
        let frame = self.frames().first()?;
        Some((frame.file.as_deref()?, frame.line?))
    }
}

impl fmt::Display for Location {
    /// One line: `inner (file:line), inlined into outer (file:line)`, else
    /// `function (module+0x…)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::Source { frames, .. } = self {
            for (depth, frame) in frames.iter().enumerate() {
                let joint = if depth == 0 { "" } else { ", inlined into " };
                write!(f, "{joint}{frame}")?;
            }
            return Ok(());
        }
        let place = match self {
            Self::Module { module, offset, .. } => format!("{module}+{offset:#x}"),
            Self::Jit {
                process, address, ..
            } => format!("[jit:{process}]+{address:#x}"),
            Self::Source { .. } => String::new(),
        };
        match self.physical_function() {
            Some(function) => write!(f, "{} ({place})", function.name),
            None => f.write_str(&place),
        }
    }
}
