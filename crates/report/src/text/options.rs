//! How the text is laid out.

use anstream::{AutoStream, ColorChoice};
use std::io::IsTerminal;

/// Width used where there is no terminal to ask.
const DEFAULT_WIDTH: usize = 100;
/// Narrower than this nothing lines up any more.
const LEAST_WIDTH: usize = 60;

/// How text output is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextOptions {
    /// Use colours.
    pub color: bool,
    /// Columns to fit running text into; names and paths are never cut for it.
    pub width: usize,
    /// Long names of templates may be shortened to fit.
    pub shorten_names: bool,
    /// Give places that are to be left alone as fully as the others.
    pub left_alone_in_full: bool,
}

impl Default for TextOptions {
    fn default() -> Self {
        Self {
            color: false,
            width: DEFAULT_WIDTH,
            shorten_names: false,
            left_alone_in_full: false,
        }
    }
}

impl TextOptions {
    /// What suits the process' standard output: its width, and colour where it is a terminal and
    /// `NO_COLOR`, `CLICOLOR` and `TERM` allow it.
    pub fn for_stdout() -> Self {
        let stdout = std::io::stdout();
        let width = terminal_size::terminal_size().map(|(w, _)| usize::from(w.0));
        Self {
            color: AutoStream::choice(&stdout) != ColorChoice::Never,
            width: width.unwrap_or(DEFAULT_WIDTH).max(LEAST_WIDTH),
            shorten_names: stdout.is_terminal(),
            left_alone_in_full: false,
        }
    }
}
