//! Names and what they stand for.

use super::{Page, TextOptions};

/// Two columns: names, and what each is.
pub fn list_text(entries: &[(&str, String)], options: TextOptions) -> String {
    let width = (entries.iter().map(|(name, _)| name.len()))
        .max()
        .unwrap_or(0);
    let mut page = Page::new(options, None);
    for (name, about) in entries {
        page.wrapped(&format!("{name:<width$}  "), about);
    }
    page.into_text()
}
