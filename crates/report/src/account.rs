//! What a library does on its own account, told apart from what it does for who calls it.

use crate::finding::NamedFinding;
use crate::place::NamedPlace;
use crate::system::{is_generic_library, is_system_library, is_system_path};

/// What stands in the names of functions that move or persist what they are given: what such a library function
/// does is done by who calls it, what others do (an allocator, a transaction's end) is the library's own.
const FOR_CALLERS: [&str; 7] = [
    "memcpy", "memmove", "memset", "persist", "flush", "drain", "fence",
];

/// The module of the library whose code `frames[at]` is, innermost frame first, if it acts there on its own account; `None`: the
/// program acts, itself or through a function that does what it is told.
pub(crate) fn acting_library(frames: &[NamedPlace], at: usize) -> Option<String> {
    let acting = frames.get(at).filter(|frame| !frame.is_own())?;
    let outside = (at + 1..frames.len()).find(|&i| frames[i].is_own());
    let entry = outside.map_or("", |i| &*frames[i - 1].function);
    let for_caller = FOR_CALLERS.iter().any(|word| entry.contains(word));
    (!for_caller).then(|| acting.module.clone())
}

/// The same of generic code, which `calls` led to, innermost first, and for which the line `calls[place]` is named.
pub(crate) fn library_between(calls: &[NamedPlace], place: usize) -> Option<String> {
    let between = calls[..place].iter();
    let at = between
        .into_iter()
        .position(|call| !is_generic_library(&call.module))?;
    acting_library(calls, at)
}

/// The same of code that is named itself: the module it is in, if the system came with that, or it is the toolchain's (a garbage collector),
/// which was compiled into the program.
pub(crate) fn library_of(place: &NamedPlace) -> Option<String> {
    let of_system = !place.is_own() && is_system_library(&place.module);
    (of_system || is_toolchains(place)).then(|| place.module.clone())
}

fn is_toolchains(place: &NamedPlace) -> bool {
    place.is_own() && place.file.as_deref().is_some_and(is_system_path)
}

/// Why nobody who works on the program can change what is written at a finding's place; `None`: it is its own code.
pub(crate) fn why_not_own(finding: &NamedFinding) -> Option<String> {
    if finding.place.is_generated() {
        return Some(
            "code that the program makes while it runs: its compiler chooses the stores, and no line of source can put a \
             pre-store here"
                .to_owned(),
        );
    }
    let library = finding.library.as_deref()?;
    if is_toolchains(&finding.place) {
        let name = file_name(library);
        return Some(format!(
            "the toolchain's own code, compiled into {name}: {CHANGE}"
        ));
    }
    (library == finding.place.module).then(|| format!("{}: {CHANGE}", file_name(library)))
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

const CHANGE: &str = "what the program can change is what it asks of it";

/// What to say of a place of the program that calls `library`.
pub(crate) fn on_its_own_account(library: &str) -> String {
    let name = file_name(library);
    format!("{name} does so on its own account, called here: {CHANGE}")
}
