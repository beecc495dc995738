//! Existing flushes, fences and non-temporal stores that cost for nothing.

use super::page::Page;
use crate::account::on_its_own_account;
use crate::human::percent;
use crate::pitfall::NamedPitfall;

/// All of them, a few lines each; nothing where there are none.
pub fn write(page: &mut Page, pitfalls: &[NamedPitfall]) {
    if pitfalls.is_empty() {
        return;
    }
    page.blank();
    page.heading("Flushes, fences and non-temporal stores that are there already");
    for p in pitfalls {
        let cost = match p.cost_share {
            0.0 => String::new(),
            share => format!(" - about {} of the time", percent(share)),
        };
        let line = format!("{} - {}{cost}", page.place(&p.place), p.title());
        page.wrapped("   ", &line);
        page.wrapped("      ", &p.reason);
        if let Some(library) = &p.library {
            page.wrapped("      ", &format!("{}.", on_its_own_account(library)));
        }
    }
}
