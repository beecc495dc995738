//! A resolved place with one frame chosen to stand for it.

use crate::resolve::{Frame, Place};
use crate::system::{is_dependency_header, is_generic_library, is_system_library, is_system_path};
use serde::{Deserialize, Serialize};

/// A place in the code as reports name it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedPlace {
    /// Function that contains the line; `module+0xoffset` where no symbol covers the place.
    pub function: String,
    /// Source file, `None` without line information.
    pub file: Option<String>,
    /// Line in `file`, from 1; present exactly when `file` is.
    pub line: Option<u32>,
    /// Path of the module.
    pub module: String,
    /// GNU build id of the module, empty where it has none.
    pub build_id: String,
    /// Address in the terms of the module's own symbol table.
    pub offset: u64,
    /// All functions at this place, innermost first, when code was inlined here; else empty.
    pub inlined: Vec<Frame>,
}

impl NamedPlace {
    /// Names `place` by its innermost frame that is user code (see [`is_system_path`]), if there is one not of a library that the
    /// program is built with: who uses Eigen changes the expression that it inlines its loops for. Where all
    /// of it is library code, by the out-of-line function.
    pub fn new(place: Place) -> Self {
        let users = || place.frames.iter().filter(|f| is_user(f));
        let frame = users()
            .find(|f| !(f.file.as_deref()).is_some_and(is_dependency_header))
            .or_else(|| users().next_back())
            .or_else(|| place.frames.iter().rev().find(|f| has_line(f)))
            .or_else(|| place.frames.last())
            .cloned()
            .unwrap_or_default();
        let (file, line) = match (frame.file, frame.line) {
            (Some(file), Some(line)) if line > 0 => (Some(file), Some(line)),
            _ => (None, None),
        };
        let function = frame
            .function
            .unwrap_or_else(|| module_offset(&place.module, place.offset));
        let inlined = if place.frames.len() > 1 {
            place.frames
        } else {
            Vec::new()
        };
        Self {
            function,
            file,
            line,
            module: place.module,
            build_id: place.build_id,
            offset: place.offset,
            inlined,
        }
    }

    /// True when the line is one the user can change.
    pub fn is_user_code(&self) -> bool {
        let of_program = |f| !is_system_path(f) && !is_generic_library(&self.module);
        self.file.as_deref().is_some_and(of_program)
    }

    /// Code that the user builds: what is no shared object, or has lines and is none that the system came with.
    pub(crate) fn is_own(&self) -> bool {
        let file = self.module.rsplit('/').next().unwrap_or_default();
        let shared = file.ends_with(".so") || file.contains(".so.");
        !shared || self.is_user_code() && !is_system_library(&self.module)
    }

    /// Code that is in no file: what a JIT compiler has made.
    pub(crate) fn is_generated(&self) -> bool {
        self.module.starts_with("[jit:")
    }

    /// `libc.so.6+0x9f2a1`.
    pub fn module_offset(&self) -> String {
        module_offset(&self.module, self.offset)
    }
}

fn has_line(frame: &Frame) -> bool {
    frame.file.is_some() && frame.line.is_some_and(|l| l > 0)
}

fn is_user(frame: &Frame) -> bool {
    has_line(frame) && frame.file.as_deref().is_some_and(|f| !is_system_path(f))
}

fn module_offset(module: &str, offset: u64) -> String {
    let name = module.rsplit('/').next().unwrap_or(module);
    if name.is_empty() {
        return format!("?+{offset:#x}");
    }
    format!("{name}+{offset:#x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(function: &str, file: &str, line: u32) -> Frame {
        Frame {
            function: Some(function.into()),
            file: Some(file.into()),
            line: Some(line),
        }
    }

    fn place(frames: Vec<Frame>) -> NamedPlace {
        NamedPlace::new(Place {
            module: "/opt/bin/kv".into(),
            build_id: "ab12".into(),
            offset: 0x1234,
            frames,
        })
    }

    #[test]
    fn a_system_header_inlined_into_user_code_gives_the_user_line() {
        let p = place(vec![
            frame(
                "memcpy",
                "/usr/include/x86_64-linux-gnu/bits/string_fortified.h",
                29,
            ),
            frame("put", "/src/kv.c", 214),
            frame("worker", "/src/main.c", 12),
        ]);
        assert_eq!((p.function.as_str(), p.line), ("put", Some(214)));
        assert_eq!(p.inlined.len(), 3);
    }

    #[test]
    fn a_librarys_header_inlined_into_user_code_gives_the_user_line() {
        let store = frame(
            "pstore",
            "/src/kv/eigen/Eigen/src/Core/GenericPacketMath.h",
            837,
        );
        let run = frame("run", "/src/kv/eigen/Eigen/src/Core/TensorExecutor.h", 272);
        let p = place(vec![
            store.clone(),
            run.clone(),
            frame("sum", "/src/kv/sum.cpp", 7),
        ]);
        assert_eq!((p.function.as_str(), p.line), ("sum", Some(7)));
        // Where it is a function of its own, by that.
        let p = place(vec![store, run]);
        assert_eq!((p.function.as_str(), p.line), ("run", Some(272)));
        let crates =
            "/home/me/.cargo/registry/src/packages-6f17d22bba15001f/hashbrown-0.15.2/src/raw.rs";
        let p = place(vec![
            frame("insert", crates, 3),
            frame("put", "/src/kv/src/main.rs", 9),
        ]);
        assert_eq!((p.function.as_str(), p.line), ("put", Some(9)));
        // A program's own header, and a library's own function with a helper.
        let p = place(vec![
            frame("set", "/src/kv/include/kv.h", 3),
            frame("put", "/src/kv/kv.c", 9),
        ]);
        assert_eq!((p.function.as_str(), p.line), ("set", Some(3)));
        let helper = frame("emit", "/src/kv/third_party/lz4/lz4.c", 3);
        let p = place(vec![
            helper,
            frame("compress", "/src/kv/third_party/lz4/lz4.c", 90),
        ]);
        assert_eq!((p.function.as_str(), p.line), ("emit", Some(3)));
    }

    #[test]
    fn library_code_alone_is_named_by_its_out_of_line_function() {
        let p = place(vec![
            frame("construct", "/usr/include/c++/12/bits/new_allocator.h", 175),
            frame("push_back", "/usr/include/c++/12/bits/stl_vector.h", 1281),
        ]);
        assert_eq!(p.function, "push_back");
        assert!(!p.is_user_code());
    }

    #[test]
    fn without_symbols_it_is_module_and_offset() {
        let p = place(vec![]);
        assert_eq!(p.function, "kv+0x1234");
        assert_eq!((p.file, p.line), (None, None));
    }

    #[test]
    fn line_zero_is_no_line() {
        let p = place(vec![frame("gap", "/src/kv.c", 0)]);
        assert_eq!((p.function.as_str(), p.file), ("gap", None));
    }
}
