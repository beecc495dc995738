//! How the text is laid out.

use anstream::{AutoStream, ColorChoice};

/// Width used where there is no terminal to ask.
const DEFAULT_WIDTH: usize = 100;
/// Narrower than this nothing lines up any more.
const LEAST_WIDTH: usize = 60;

/// How text output is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextOptions {
    /// Use colours.
    pub color: bool,
    /// Columns to fit text into. Names of functions are shortened for it; paths, source lines and commands, which are
    /// copied, are not cut.
    pub width: usize,
    /// Give places that are to be left alone as fully as the others.
    pub left_alone_in_full: bool,
}

impl Default for TextOptions {
    fn default() -> Self {
        Self {
            color: false,
            width: DEFAULT_WIDTH,
            left_alone_in_full: false,
        }
    }
}

impl TextOptions {
    /// The width that `COLUMNS` asks for; `None`: it does not.
    pub fn asked_width() -> Option<usize> {
        let asked = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
        asked.filter(|&columns| columns > 0)
    }

    /// Columns of the terminal that standard error is; `None`: it is none.
    pub fn width_of_stderr() -> Option<usize> {
        let width = terminal_size::terminal_size_of(std::io::stderr());
        width.map(|(columns, _)| usize::from(columns.0).max(LEAST_WIDTH))
    }

    /// What suits the process' standard output: the width that `COLUMNS` asks for or the terminal has, and colour where
    /// it is a terminal and `NO_COLOR`, `CLICOLOR` and `TERM` allow it.
    pub fn for_stdout() -> Self {
        let stdout = std::io::stdout();
        let terminal = || terminal_size::terminal_size().map(|(w, _)| usize::from(w.0));
        let width = Self::asked_width().or_else(terminal);
        Self {
            color: AutoStream::choice(&stdout) != ColorChoice::Never,
            width: width.unwrap_or(DEFAULT_WIDTH).max(LEAST_WIDTH),
            left_alone_in_full: false,
        }
    }
}
