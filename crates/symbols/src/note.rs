//! Remarks on what could not be named, and what would help.

use std::fmt;
use std::path::PathBuf;

/// A remark on one module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The module's path as recorded.
    pub module: String,
    /// What is the matter.
    pub remark: Remark,
}

/// Why a module's addresses are named less precisely than they could be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remark {
    /// The file is not there any more.
    Gone,
    /// The file cannot be opened or is not a readable ELF file.
    Unreadable {
        /// The cause.
        cause: String,
    },
    /// The file's build id is not the recorded one.
    Rebuilt {
        /// Build id in the trace.
        recorded: String,
        /// Build id of the file, empty if it has none.
        found: String,
    },
    /// The module itself is gone or rebuilt, but a debug file of the recorded build was found.
    DebugFileInstead {
        /// That debug file.
        file: PathBuf,
    },
    /// No debug information for the module.
    NoLineInfo {
        /// Every place a separate debug file was looked for.
        looked_in: Vec<PathBuf>,
    },
    /// Debug information is there but damaged.
    BadLineInfo {
        /// The file that holds it.
        file: PathBuf,
        /// The cause.
        cause: String,
    },
    /// The supplementary file that the debug information refers to (made by `dwz`) is missing.
    NoSupplementary {
        /// Every place it was looked for.
        looked_in: Vec<PathBuf>,
    },
    /// JIT code without a perf map.
    NoPerfMap {
        /// Where it should be.
        file: PathBuf,
    },
}

impl Note {
    /// A sentence for each of `notes`, but one for all modules without line information: a program may have a dozen of them.
    pub fn sentences(notes: &[Self]) -> Vec<String> {
        let lacks = |note: &&Self| matches!(note.remark, Remark::NoLineInfo { .. });
        let mut sentences: Vec<String> = notes
            .iter()
            .filter(|n| !lacks(n))
            .map(ToString::to_string)
            .collect();
        let mut without = notes.iter().filter(lacks);
        if let Some(first) = without.next() {
            let others: Vec<&str> = without.map(|n| file_name(&n.module)).collect();
            sentences.push(match others[..] {
                [] => first.to_string(),
                _ => format!("{first}; the same for {}", others.join(", ")),
            });
        }
        sentences
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let module = &self.module;
        match &self.remark {
            Remark::Gone => write!(
                f,
                "{module} is not there any more: its code is given as offsets; put the recorded \
                 file back to see names"
            ),
            Remark::Unreadable { cause } => write!(
                f,
                "{module} cannot be read for symbols ({cause}): its code is given as offsets"
            ),
            Remark::Rebuilt { recorded, found } => {
                let found = if found.is_empty() { "none" } else { found };
                write!(
                    f,
                    "{module} was rebuilt since the recording (build id {recorded} recorded, \
                     {found} now): its names would be wrong and are not used; record again, or \
                     put the recorded file back"
                )
            }
            Remark::DebugFileInstead { file } => write!(
                f,
                "{module}: names come from {}, which belongs to the recorded build",
                file.display()
            ),
            Remark::NoLineInfo { looked_in } => {
                write!(
                    f,
                    "no line info in {module}: install its debug symbol package (-dbgsym, \
                     -debuginfo) or build it with -g"
                )?;
                list(f, looked_in)
            }
            Remark::BadLineInfo { file, cause } => write!(
                f,
                "the line info of {module} in {} is damaged ({cause}): functions are named from \
                 the symbol table only; build it again with -g",
                file.display()
            ),
            Remark::NoSupplementary { looked_in } => {
                write!(
                    f,
                    "the line info of {module} refers to a supplementary (dwz) file that is \
                     missing, so some functions lack names: reinstall its debug symbol package"
                )?;
                list(f, looked_in)
            }
            Remark::NoPerfMap { file } => write!(
                f,
                "no names for the JIT code of {module}: {} is missing; let the runtime write it \
                 (node --perf-basic-prof, python3 -X perf, java -XX:+DumpPerfMapAtExit, erl +JPperf true)",
                file.display()
            ),
        }
    }
}

/// The first place, which a debug file has by its build id, and how many more: of a library of the system there are half a dozen,
/// which nobody asked about.
fn list(f: &mut fmt::Formatter<'_>, looked_in: &[PathBuf]) -> fmt::Result {
    let Some((first, more)) = looked_in.split_first() else {
        return Ok(());
    };
    write!(f, "; looked in: {}", first.display())?;
    match more {
        [] => Ok(()),
        [second] => write!(f, ", {}", second.display()),
        more => write!(f, " and {} other places", more.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_without_line_information_share_a_sentence() {
        let note = |module: &str, remark| Note {
            module: module.to_owned(),
            remark,
        };
        let without = |module| {
            note(
                module,
                Remark::NoLineInfo {
                    looked_in: vec!["/debug/a".into()],
                },
            )
        };
        let all = [
            without("/lib/a.so"),
            note("/lib/b.so", Remark::Gone),
            without("/lib/c.so"),
            without("d"),
        ];
        let [gone, none] = &Note::sentences(&all)[..] else {
            panic!("two sentences");
        };
        assert!(gone.starts_with("/lib/b.so is not there"), "{gone}");
        assert!(
            none.starts_with("no line info in /lib/a.so: install"),
            "{none}"
        );
        assert!(
            none.ends_with("looked in: /debug/a; the same for c.so, d"),
            "{none}"
        );
        assert_eq!(Note::sentences(&all[..1]), [all[0].to_string()]);
    }
}
