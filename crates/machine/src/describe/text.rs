//! For people: a line a value.

use std::fmt::Write;

use super::{Description, Entry, Written};

impl Description {
    /// Its values in columns (key, value, source, place), under the names of its parts.
    pub fn render(&self) -> String {
        let machine = self.machine();
        let mut text = format!("{}: {}\n", machine.name, machine.description);
        let _ = writeln!(text, "{}", self.file());
        let entries = self.entries();
        let columns = Columns::of(&entries);
        let mut part = None;
        for entry in entries.iter().filter(|entry| entry.key != "description") {
            let (around, name) = parted(&entry.key);
            if part != Some(around) {
                part = Some(around);
                text.push('\n');
                if !around.is_empty() {
                    let _ = writeln!(text, "[{around}]");
                }
            }
            columns.row(&mut text, name, entry);
        }
        text
    }
}

/// Widths that values below each other share.
struct Columns {
    name: usize,
    value: usize,
}

/// Values longer than this do not widen the column.
const WIDEST: usize = 24;

impl Columns {
    fn of(entries: &[Entry]) -> Self {
        let widest = |lengths: &mut dyn Iterator<Item = usize>| {
            lengths
                .filter(|length| *length <= WIDEST)
                .max()
                .unwrap_or(0)
        };
        Self {
            name: widest(&mut entries.iter().map(|entry| parted(&entry.key).1.len())),
            value: widest(&mut entries.iter().map(|entry| entry.value.to_string().len())),
        }
    }

    fn row(&self, text: &mut String, name: &str, entry: &Entry) {
        let value = entry.value.to_string();
        let _ = write!(text, "  {name:<0$}  {value:<1$}", self.name, self.value);
        if let Some(source) = &entry.source {
            let assumed = if source.assumed { "assumed: " } else { "" };
            let _ = write!(text, "  {assumed}{}", source.text);
        }
        let _ = writeln!(text, "  ({})", entry.at);
    }
}

/// `core.store_buffer` and `entries`.
fn parted(key: &str) -> (&str, &str) {
    key.rsplit_once('.').unwrap_or(("", key))
}

impl std::fmt::Display for Written {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Self::Number(number, None) => write!(f, "{number}"),
            Self::Number(number, Some(unit)) => write!(f, "{number} {unit}"),
            Self::Word(word) => f.write_str(word),
            Self::Flag(flag) => write!(f, "{flag}"),
        }
    }
}
