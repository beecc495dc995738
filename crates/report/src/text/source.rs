//! Source lines with their shares of a finding's stores.

use super::page::Page;
use crate::annotate::{Excerpt, Sources, excerpt};
use crate::finding::LineStores;
use crate::human::percent;
use anstyle::Style;

/// The lines that store, marked, with those around them.
pub fn write(page: &mut Page, lines: &[LineStores], sources: &dyn Sources) {
    for part in excerpt(lines, sources) {
        match part {
            Excerpt::File(file) => {
                let line = format!("   Source: {}", page.file(&file));
                page.line(&line);
            }
            Excerpt::Gap => page.line("             ..."),
            Excerpt::Unreadable(file) => {
                let line = format!("   Source: {} cannot be read here", page.file(&file));
                page.line(&line);
            }
            Excerpt::Line {
                number,
                text,
                share: Some(share),
            } => {
                let text = page.paint(Style::new().bold(), &text);
                let line = format!("     {:>6} >{number:>5} | {text}", percent(share));
                page.line(&line);
            }
            Excerpt::Line { number, text, .. } => {
                page.line(&format!("            {number:>6} | {text}"));
            }
        }
    }
}
