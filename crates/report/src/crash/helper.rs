//! Functions that flush or fence for who calls them: `persist(address, bytes)`, or store and flush: `write_and_flush(to, value)`.

use serde::Serialize;

use crate::place::NamedPlace;
use crate::resolve::Frame;
use crate::system::is_system_path;

/// What a line calls to flush or fence, or to store and flush, where that is no instruction of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Helper {
    /// Its name.
    pub function: String,
    /// Where it is.
    pub file: String,
    /// The line in `file` that flushes, fences or stores, from 1.
    pub line: u32,
}

/// Endings of files that others include.
const HEADERS: [&str; 8] = ["h", "hh", "hpp", "hxx", "h++", "inl", "ipp", "tcc"];

/// Parts of the names of functions that only flush or fence.
const WORDS: [&str; 7] = [
    "flush",
    "fence",
    "persist",
    "drain",
    "clwb",
    "writeback",
    "movnt",
];

/// What such names say besides: of what, and how.
const BESIDES: [&str; 15] = [
    "pmem", "pm", "nvm", "asm", "cache", "line", "range", "and", "buffer", "buf", "data", "mem",
    "memory", "addr", "region",
];

/// Parts of the names of functions that store, and leave it to who calls them to fence.
const UNFENCED: [&str; 9] = [
    "flush",
    "clwb",
    "writeback",
    "movnt",
    "ntstore",
    "stream",
    "nontemporal",
    "nodrain",
    "nofence",
];

/// What such names say besides: what they do to what, and parts of what stands above.
const STORES: [&str; 21] = [
    "store", "write", "set", "assign", "copy", "memcpy", "memmove", "memset", "fill", "zero",
    "word", "field", "value", "bytes", "int", "nt", "non", "temporal", "no", "drain", "fence",
];

/// What helpers do for who calls them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Helps {
    /// They flush or fence.
    Persist,
    /// They store what has still to be fenced.
    StoreUnfenced,
}

/// A function on the way from the instruction to the program's entry.
struct Level {
    /// Which of the calls it is in.
    call: usize,
    frame: Frame,
    inlined: bool,
}

/// The line that wants what `frames` lead to, innermost first: that of the first function which is no helper, and the
/// helper.
pub(super) fn past_helpers(frames: &[NamedPlace], helps: Helps) -> (NamedPlace, Option<Helper>) {
    // A library that calls back does not want what its callback does, whatever that is called.
    let is_own = frames[0].is_own();
    let theirs = frames.iter().take_while(|f| f.is_own() == is_own);
    let levels: Vec<Level> = (theirs.enumerate())
        .flat_map(|(call, place)| levels(call, place))
        .filter(|level| is_user(&level.frame))
        .collect();
    let mut at = 0;
    let passes = |at: usize, level: &Level, caller: &Level| match helps {
        Helps::Persist => is_helper(level, caller, at == 0),
        Helps::StoreUnfenced => stores_unfenced(level),
    };
    while at + 1 < levels.len() && passes(at, &levels[at], &levels[at + 1]) {
        at += 1;
    }
    let (Some(first), Some(chosen)) = (levels.first(), levels.get(at)) else {
        return (frames[0].clone(), None);
    };
    if at == 0 {
        return (frames[0].clone(), None);
    }
    let place = NamedPlace {
        function: chosen.frame.function.clone().unwrap_or_default(),
        file: chosen.frame.file.clone(),
        line: chosen.frame.line,
        ..frames[chosen.call].clone()
    };
    let helper = Helper {
        function: first.frame.function.clone().unwrap_or_default(),
        file: first.frame.file.clone().unwrap_or_default(),
        line: first.frame.line.unwrap_or_default(),
    };
    (place, Some(helper))
}

/// The same where only the instruction's place is known, and not all that lead there: the line of the function which the helper
/// is inlined into.
pub(crate) fn past_inlined_helper(place: &NamedPlace) -> NamedPlace {
    past_helpers(std::slice::from_ref(place), Helps::Persist).0
}

fn levels(call: usize, place: &NamedPlace) -> Vec<Level> {
    if place.inlined.is_empty() {
        let frame = Frame {
            function: Some(place.function.clone()),
            file: place.file.clone(),
            line: place.line,
        };
        let inlined = false;
        return vec![Level {
            call,
            frame,
            inlined,
        }];
    }
    let last = place.inlined.len() - 1;
    let all = place.inlined.iter().cloned().enumerate();
    all.map(|(i, frame)| Level {
        call,
        frame,
        inlined: i < last,
    })
    .collect()
}

fn is_user(frame: &Frame) -> bool {
    let file = frame.file.as_deref().filter(|f| !is_system_path(f));
    file.is_some() && frame.line.is_some_and(|line| line > 0)
}

/// Does `level` flush for `caller`? It `flushes` by its own instructions in a header that the caller's file includes, or it is called
/// after what it does: after nothing else, where it is a function of its own in that file, as what flushes among other things
/// (`put_and_flush`) is who wants it. So is what calls a helper in a header and is not named for that: a structure that is all in one.
fn is_helper(level: &Level, caller: &Level, flushes: bool) -> bool {
    let file = level.frame.file.as_deref().unwrap_or_default();
    let ending = file.rsplit('.').next().unwrap_or_default();
    let in_header = HEADERS.contains(&ending);
    let parts = name_parts(level);
    // What is persistent is not made so by what is named for it.
    let says = |part: &String| {
        WORDS.iter().any(|word| part.contains(word)) && !part.starts_with("persisten")
    };
    let besides = |part: &String| is_size(part) || BESIDES.contains(&part.as_str());
    let named = parts.iter().any(says);
    let only = named && parts.iter().all(|part| says(part) || besides(part));
    let others = level.frame.file != caller.frame.file;
    only || in_header && (others && flushes || named) || level.inlined && named
}

/// Does `level` only store what its caller has to fence, by its name? One whose name promises that it fences, or that does more
/// than store (`insert_and_flush`), lacks the fence itself.
fn stores_unfenced(level: &Level) -> bool {
    let parts = name_parts(level);
    let name = parts.concat();
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    let says = |part: &String| UNFENCED.iter().any(|word| part.contains(word));
    let besides = |part: &str| is_size(part) || STORES.contains(&part) || BESIDES.contains(&part);
    let fences = has(&["persist", "drain", "fence"]) && !has(&["nodrain", "nofence"]);
    let unfenced = has(&UNFENCED) || parts.iter().any(|part| part == "nt");
    unfenced && !fences && parts.iter().all(|part| says(part) || besides(part))
}

/// Letters about numbers: `u64`, `64b`.
fn is_size(part: &str) -> bool {
    part.len() == 1
}

/// The parts of the name of `level`'s function, in small letters: of `Log<int>::write64Flush(int*)`, `write` and `flush`.
fn name_parts(level: &Level) -> Vec<String> {
    let name = level.frame.function.as_deref().unwrap_or_default();
    let (mut depth, mut own) = (0u32, String::new());
    for c in name.replace("(anonymous namespace)", "").chars() {
        match c {
            '(' if depth == 0 => break,
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            c if depth == 0 => own.push(c),
            _ => {}
        }
    }
    let (mut parts, mut was_small) = (vec![String::new()], false);
    for c in own.rsplit("::").next().unwrap_or_default().chars() {
        if !c.is_alphabetic() || c.is_uppercase() && was_small {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut().filter(|_| c.is_alphabetic()) {
            part.extend(c.to_lowercase());
        }
        was_small = c.is_lowercase();
    }
    parts.retain(|part| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(function: &str) -> Level {
        let frame = Frame {
            function: Some(function.to_owned()),
            file: Some("/home/ada/pool.cpp".to_owned()),
            line: Some(7),
        };
        Level {
            call: 0,
            frame,
            inlined: false,
        }
    }

    #[test]
    fn a_library_does_not_want_what_its_callback_flushes() {
        let place = |function: &str, module: &str, file: &str| NamedPlace {
            function: function.to_owned(),
            file: Some(file.to_owned()),
            line: Some(7),
            module: module.to_owned(),
            ..NamedPlace::default()
        };
        let flusher = place("flusher", "/home/ada/store", "/home/ada/store.c");
        let start = place(
            "start_thread",
            "/lib/x86_64-linux-gnu/libc.so.6",
            "./nptl/pthread_create.c",
        );
        let main = place("main", "/home/ada/store", "/home/ada/store.c");
        let called = |frames: &[NamedPlace]| past_helpers(frames, Helps::Persist).0.function;
        assert_eq!(called(&[flusher.clone(), start, main.clone()]), "flusher");
        assert_eq!(called(&[flusher, main]), "main");
    }

    #[test]
    fn names_are_read_without_their_surroundings() {
        let parts = |name: &str| name_parts(&level(name));
        assert_eq!(
            parts("Log<a::b>::write64Flush<int>(int*)"),
            ["write", "flush"]
        );
        assert_eq!(parts("(anonymous namespace)::CLFlush(char*)"), ["clflush"]);
        assert_eq!(parts("<Pool as Media>::flush_range"), ["flush", "range"]);
        assert!(parts("").is_empty());
    }

    #[test]
    fn names_say_who_fences() {
        for leaves in [
            "store_flush",
            "nt_store64",
            "writeAndFlush",
            "movnt64b",
            "memcpy_nodrain",
            "store_no_fence",
        ] {
            assert!(stores_unfenced(&level(leaves)), "{leaves}");
        }
        for does in [
            "store",
            "insert_and_flush",
            "store_persist",
            "store_flush_fence",
            "nt_memcpy_drain",
            "main",
        ] {
            assert!(!stores_unfenced(&level(does)), "{does}");
        }
        for flushes in [
            "mfence",
            "flush_range",
            "pmem2_flush",
            "FlushRange",
            "Pm::persist(void*, long)",
        ] {
            assert!(
                is_helper(&level(flushes), &level("main"), true),
                "{flushes}"
            );
        }
        for others in ["putAndFlush", "put_and_flush", "Flusher<int>::put(int)"] {
            assert!(!is_helper(&level(others), &level("main"), true), "{others}");
        }
    }
}
