//! For people: a line a value, or more where the output is narrower.

use std::fmt::Write;

use textwrap::{Options, WordSplitter};

use super::{Description, Entry, Written};

impl Description {
    /// Its values in columns (key, value, source, place), under the names of its parts, on lines of `width` characters where
    /// words allow it.
    pub fn render(&self, width: usize) -> String {
        let machine = self.machine();
        let about = format!("{}: {}", machine.name, machine.description);
        let mut text = wrapped(&about, "", "  ", width);
        let _ = writeln!(text, "{}", self.file());
        let entries = self.entries();
        let columns = Columns::of(&entries, width);
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
    /// Of all together.
    width: usize,
}

/// Values longer than this do not widen the column.
const WIDEST: usize = 24;

/// A source has so much room at least, in characters.
const SOURCE: usize = 20;

impl Columns {
    fn of(entries: &[Entry], width: usize) -> Self {
        let widest = |lengths: &mut dyn Iterator<Item = usize>| {
            lengths
                .filter(|length| *length <= WIDEST)
                .max()
                .unwrap_or(0)
        };
        Self {
            name: widest(&mut entries.iter().map(|entry| parted(&entry.key).1.len())),
            value: widest(&mut entries.iter().map(|entry| entry.value.to_string().len())),
            width,
        }
    }

    fn row(&self, text: &mut String, name: &str, entry: &Entry) {
        let value = entry.value.to_string();
        let key = format!("  {name:<0$}  {value:<1$}  ", self.name, self.value);
        let mut about = String::new();
        if let Some(source) = &entry.source {
            let assumed = if source.assumed { "assumed: " } else { "" };
            about = format!("{assumed}{}  ", source.text);
        }
        let _ = write!(about, "({})", entry.at);
        let below = " ".repeat(2 + self.name + 2 + self.value + 2);
        *text += &wrapped(&about, &key, &below, self.width.max(below.len() + SOURCE));
    }
}

/// `line` behind `first`, and each further line of it behind `below`.
fn wrapped(line: &str, first: &str, below: &str, width: usize) -> String {
    let options = Options::new(width)
        .initial_indent(first)
        .subsequent_indent(below)
        .break_words(false)
        .word_splitter(WordSplitter::NoHyphenation);
    let mut text = String::new();
    for line in textwrap::wrap(line, options) {
        fitted(&mut text, &line, width);
    }
    text
}

/// `line`, with its last word on a line of its own, as far to the right as it fits, where it is the one that does not.
fn fitted(text: &mut String, line: &str, width: usize) {
    let (before, last) = line.rsplit_once(' ').unwrap_or(("", line));
    if line.chars().count() <= width || line == last {
        *text += line;
        text.push('\n');
        return;
    }
    if !before.trim().is_empty() {
        *text += before.trim_end();
        text.push('\n');
    }
    let blanks = width.saturating_sub(last.chars().count());
    *text += &" ".repeat(blanks);
    *text += last;
    text.push('\n');
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

#[cfg(test)]
mod tests {
    use crate::Machines;

    #[test]
    fn lines_are_as_long_as_the_output_is_wide() {
        for name in ["machine-a", "thesis-pcm", "grace"] {
            let machine = Machines::shipped().describe(name, &[]);
            let machine = machine.expect("a bundled machine");
            let (narrow, wide) = (machine.render(80), machine.render(usize::MAX));
            for line in narrow.lines() {
                assert!(line.chars().count() <= 80, "{line}");
            }
            let words = |text: &str| {
                text.split_whitespace()
                    .map(str::to_owned)
                    .collect::<Vec<_>>()
            };
            assert_eq!(words(&narrow), words(&wide));
            assert!(wide.lines().any(|line| line.chars().count() > 120));
        }
    }
}
