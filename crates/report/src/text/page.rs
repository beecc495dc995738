//! A page of text under construction: styles, wrapping, names that fit.

use super::TextOptions;
use crate::function_names::shortened;
use crate::place::NamedPlace;
use anstyle::{AnsiColor, Style};
use prestore_dirtbuster::Verdict;

/// Text that grows line by line.
pub struct Page<'a> {
    options: TextOptions,
    cwd: Option<&'a str>,
    text: String,
}

/// Text hangs at its label's end up to this part of the width.
const WIDEST_HANG: usize = 3;
/// Columns that it hangs by otherwise, to the right of its label's beginning.
const LEAST_HANG: usize = 3;

impl<'a> Page<'a> {
    /// An empty page; files below `cwd` are shown relative to it.
    pub fn new(options: TextOptions, cwd: Option<&'a str>) -> Self {
        Self {
            options,
            cwd,
            text: String::new(),
        }
    }

    /// The text.
    pub fn into_text(self) -> String {
        self.text
    }

    /// Appends a line as it is.
    pub fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    /// Appends an empty line.
    pub fn blank(&mut self) {
        self.text.push('\n');
    }

    /// Appends `first` and the words of `body`, wrapped and hanging at the width of `first`, or a little where that
    /// would leave a narrow column.
    pub fn wrapped(&mut self, first: &str, body: &str) {
        let blanks = first.len() - first.trim_start().len();
        let label = textwrap::core::display_width(first);
        if label > self.options.width / 3 * 2 {
            // It would leave its first word no room: it is wrapped with the others.
            let (indent, label) = first.split_at(blanks);
            return self.hanging(indent, blanks + LEAST_HANG, &format!("{label}{body}"));
        }
        let hang = match label > self.options.width / WIDEST_HANG {
            true => blanks + LEAST_HANG,
            false => label,
        };
        self.hanging(first, hang, body);
    }

    fn hanging(&mut self, first: &str, hang: usize, body: &str) {
        let hang = " ".repeat(hang);
        let options = textwrap::Options::new(self.options.width)
            .initial_indent(first)
            .subsequent_indent(&hang)
            .break_words(false)
            .word_splitter(textwrap::WordSplitter::NoHyphenation);
        for line in textwrap::wrap(body, options) {
            self.line(&line);
        }
    }

    /// `text` in `style`, plain where colours are off.
    pub fn paint(&self, style: Style, text: &str) -> String {
        if self.options.color {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }

    /// A heading.
    pub fn heading(&mut self, text: &str) {
        let painted = self.paint(Style::new().bold(), text);
        self.wrapped("", &painted);
    }

    /// The verdict's name, in its colour.
    pub fn verdict(&self, verdict: Verdict) -> String {
        let color = match verdict {
            Verdict::Demote => AnsiColor::Cyan,
            Verdict::Clean => AnsiColor::Green,
            Verdict::Skip => AnsiColor::Yellow,
            Verdict::LeaveAlone => AnsiColor::BrightBlack,
        };
        self.paint(color.on_default().bold(), verdict_name(verdict))
    }

    /// A file as the reader would type it.
    pub fn file<'f>(&self, file: &'f str) -> &'f str {
        relative(file, self.cwd)
    }

    /// `src/kv.c line 214`, or `/lib/libc.so.6+0x9f2a1`.
    pub fn location(&self, place: &NamedPlace) -> String {
        match (&place.file, place.line) {
            (Some(file), Some(line)) => format!("{} line {line}", self.file(file)),
            _ => format!("{}+{:#x}", place.module, place.offset),
        }
    }

    /// `put (src/kv.c:214)`, `start_thread (libc.so.6+0x891f5)`, or the latter's inside alone.
    pub fn place(&self, place: &NamedPlace) -> String {
        let function = self.function(&place.function);
        match (&place.file, place.line) {
            (Some(file), Some(line)) => format!("{function} ({}:{line})", self.file(file)),
            _ if place.function == place.module_offset() => place.function.clone(),
            _ => format!("{function} ({})", place.module_offset()),
        }
    }

    /// A function's name, shortened where it takes more than half a line.
    pub fn function(&self, name: &str) -> String {
        shortened(name, self.options.width / 2)
    }
}

/// The verdict as people read it.
pub fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Demote => "demote",
        Verdict::Clean => "clean",
        Verdict::Skip => "skip",
        Verdict::LeaveAlone => "leave alone",
    }
}

fn relative<'f>(file: &'f str, cwd: Option<&str>) -> &'f str {
    cwd.and_then(|cwd| file.strip_prefix(cwd.trim_end_matches('/')))
        .and_then(|rest| rest.strip_prefix('/'))
        .filter(|rest| !rest.is_empty())
        .unwrap_or(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_hang_and_long_ones_leave_room() {
        let options = TextOptions {
            width: 60,
            ..TextOptions::default()
        };
        let mut page = Page::new(options, None);
        page.wrapped("   Label: ", &"word ".repeat(12));
        page.wrapped(
            "   a label of thirty and more columns: ",
            &"word ".repeat(12),
        );
        page.wrapped(
            "   a label that takes nearly all of the line, with fifty-five: ",
            &"word ".repeat(6),
        );
        let lines: Vec<String> = page.into_text().lines().map(str::to_owned).collect();
        assert!(lines.iter().all(|line| line.len() <= 60), "{lines:?}");
        assert!(lines[1].starts_with("          word"), "{lines:?}");
        assert!(lines[3].starts_with("      word"), "{lines:?}");
    }

    #[test]
    fn only_files_below_the_folder_become_relative() {
        assert_eq!(relative("/src/kv/put.c", Some("/src/kv")), "put.c");
        assert_eq!(
            relative("/src/kv2/put.c", Some("/src/kv")),
            "/src/kv2/put.c"
        );
        assert_eq!(relative("/src/put.c", None), "/src/put.c");
    }
}
