//! Functions that flush or fence for who calls them: `persist(address, bytes)`.

use serde::Serialize;

use crate::place::NamedPlace;
use crate::resolve::Frame;
use crate::system::is_system_path;

/// What a line calls to flush or fence, where that is no instruction of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Helper {
    /// Its name.
    pub function: String,
    /// Where it is.
    pub file: String,
    /// The line in `file` that flushes or fences, from 1.
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
const BESIDES: [&str; 8] = ["pmem", "pm", "nvm", "asm", "cache", "line", "range", "and"];

/// A function on the way from the instruction to the program's entry.
struct Level {
    /// Which of the calls it is in.
    call: usize,
    frame: Frame,
    inlined: bool,
}

/// The line that wants the flush or fence which `frames` lead to, innermost first: that of the first function which
/// is no helper, and the helper.
pub(super) fn past_helpers(frames: &[NamedPlace]) -> (NamedPlace, Option<Helper>) {
    let levels: Vec<Level> = (frames.iter().enumerate())
        .flat_map(|(call, place)| levels(call, place))
        .filter(|level| is_user(&level.frame))
        .collect();
    let mut at = 0;
    while at + 1 < levels.len() && is_helper(&levels[at], &levels[at + 1]) {
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
    past_helpers(std::slice::from_ref(place)).0
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

/// Does `level` flush for `caller`? It is in a header that the caller's file includes, or it is called after what it does: after
/// nothing else, where it is a function of its own in that file, as what flushes among other things (`put_and_flush`) is who wants it.
fn is_helper(level: &Level, caller: &Level) -> bool {
    let file = level.frame.file.as_deref().unwrap_or_default();
    let ending = file.rsplit('.').next().unwrap_or_default();
    let in_header = HEADERS.contains(&ending);
    let name = level.frame.function.as_deref().unwrap_or_default();
    let name = name.to_lowercase();
    let parts = || {
        name.split(|c: char| !c.is_alphanumeric())
            .filter(|p| !p.is_empty())
    };
    let says = |part: &str| WORDS.iter().any(|word| part.contains(word));
    let named = parts().any(says);
    let only = named && parts().all(|part| says(part) || BESIDES.contains(&part));
    let others = level.frame.file != caller.frame.file;
    only || in_header && (others || named) || level.inlined && named
}
