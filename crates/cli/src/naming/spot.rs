//! Places in a program as its user writes them: lines of source, or an address in a module.

use std::ops::RangeInclusive;

use prestore_symbols::Frame;
use prestore_trace::Module;

use super::chosen::is_named;

/// Where code is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Spot {
    /// Lines of a file, of which the end of the path is given.
    Lines {
        file: String,
        lines: RangeInclusive<u32>,
    },
    /// An instruction, as reports name it where there are no lines.
    Address { module: String, offset: u64 },
}

impl Spot {
    /// `FILE`, `FILE:LINE`, `FILE:FIRST-LAST` or `MODULE+0xOFFSET`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let wrong = || "give FILE:LINE, FILE:FIRST-LAST, FILE or MODULE+0xOFFSET".to_owned();
        if let Some((module, offset)) = text.rsplit_once("+0x") {
            let offset = u64::from_str_radix(offset, 16).map_err(|_| wrong())?;
            return match module {
                "" => Err(wrong()),
                module => Ok(Self::Address {
                    module: module.to_owned(),
                    offset,
                }),
            };
        }
        let (file, lines) = text.rsplit_once(':').unwrap_or((text, "0-4294967295"));
        let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
        let line = |number: &str| number.parse::<u32>().map_err(|_| wrong());
        let lines = line(first)?..=line(last)?;
        if file.is_empty() || lines.is_empty() {
            return Err(wrong());
        }
        Ok(Self::Lines {
            file: file.to_owned(),
            lines,
        })
    }

    /// Is the code at `offset` of `module`, of which symbols tell `frames`, here?
    pub(super) fn covers(&self, module: &Module, offset: u64, frames: &[Frame]) -> bool {
        match self {
            Self::Address {
                module: name,
                offset: at,
            } => *at == offset && is_named(&module.path, name),
            Self::Lines { file, lines } => frames.iter().any(|frame| {
                let known = frame.file.as_deref().is_some_and(|path| ends(path, file));
                known && lines.contains(&frame.line.unwrap_or(0))
            }),
        }
    }
}

/// Does `path` end with the names in `end`?
fn ends(path: &str, end: &str) -> bool {
    let end = end.strip_prefix("./").unwrap_or(end);
    let before = path.strip_suffix(end);
    before.is_some_and(|b| b.is_empty() || b.ends_with('/') || end.starts_with('/'))
}

/// Checks a place that the command line names.
pub fn place(text: &str) -> Result<String, String> {
    Ok(match Spot::parse(text)? {
        Spot::Lines { .. } => text.to_owned(),
        Spot::Address { module, offset } => format!("{}+{offset:#x}", whole_path(&module)),
    })
}

/// A module as the command line names it.
pub fn module(text: &str) -> Result<String, String> {
    if text.is_empty() {
        return Err("give the path of a module, or its file's name".to_owned());
    }
    Ok(whole_path(text))
}

/// What recordings call the module that the user names by a path: where it really is. Names without a slash are those of
/// files, wherever these lie.
fn whole_path(module: &str) -> String {
    let real = module.contains('/').then(|| std::fs::canonicalize(module));
    let real = real
        .and_then(Result::ok)
        .and_then(|p| p.to_str().map(str::to_owned));
    real.unwrap_or_else(|| module.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_lines_or_addresses() {
        let lines = |lines| Spot::Lines {
            file: "src/kv.c".into(),
            lines,
        };
        assert_eq!(Spot::parse("src/kv.c"), Ok(lines(0..=u32::MAX)));
        assert_eq!(Spot::parse("src/kv.c:7"), Ok(lines(7..=7)));
        assert_eq!(Spot::parse("src/kv.c:7-12"), Ok(lines(7..=12)));
        let address = Spot::Address {
            module: "libz.so".into(),
            offset: 0x1f,
        };
        assert_eq!(Spot::parse("libz.so+0x1f"), Ok(address));
        for wrong in [
            "", ":3", "kv.c:", "kv.c:x", "kv.c:9-3", "kv.c:-1", "+0x3", "kv+0xg",
        ] {
            assert!(Spot::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn files_are_known_by_the_end_of_their_path() {
        assert!(ends("/home/src/kv.c", "kv.c"));
        assert!(ends("/home/src/kv.c", "src/kv.c"));
        assert!(ends("kv.c", "./kv.c"));
        assert!(ends("/home/src/kv.c", "/home/src/kv.c"));
        assert!(!ends("/home/src/mkv.c", "kv.c"));
    }
}
