//! Stores by function as text.

use super::page::Page;
use super::{TextOptions, header};
use crate::human::{count, percent, some};
use crate::stores::{FunctionStores, StoresByFunction};
use anstyle::Style;

/// Functions with a smaller share of the stores are summed up in one line.
const LEAST_SHARE: f64 = 0.001;
/// Calling contexts shown a function, and calls shown a context.
const MOST: usize = 3;

/// `stores` as text: who writes, and who called them.
pub fn stores_text(stores: &StoresByFunction, options: TextOptions) -> String {
    let run = &stores.run;
    let mut page = Page::new(options, run.cwd.as_deref());
    header::program(&mut page, run);
    let mut totals = format!("{} stores", count(stores.stores));
    if let Some(instructions) = stores.instructions.filter(|&i| i > 0) {
        let fraction = stores.stores as f64 / instructions as f64;
        totals = format!(
            "{} instructions, {totals} ({})",
            count(instructions),
            percent(fraction)
        );
    }
    totals.push_str(&header::who(run));
    page.wrapped("  ", &totals);
    header::observed(&mut page, run);
    page.blank();
    page.heading("Stores by function");
    let (shown, rest): (Vec<_>, Vec<_>) = stores
        .functions
        .iter()
        .partition(|f| f.share >= LEAST_SHARE);
    for f in &shown {
        function(&mut page, f);
    }
    if !rest.is_empty() {
        let share: f64 = rest.iter().map(|f| f.share).sum();
        let line = format!(
            "   {:>6}  all other functions ({})",
            percent(share),
            rest.len()
        );
        page.line(&line);
    }
    if stores.functions.is_empty() {
        page.line("   no stores were seen");
    }
    page.blank();
    page.heading("What to try next");
    page.wrapped(
        "   - ",
        "how these functions use what they write, and what to do about it:",
    );
    page.line(&format!("       prestore advise {}", rerun(stores)));
    page.into_text()
}

/// A recording of counts holds no accesses, so the program must run again.
fn rerun(stores: &StoresByFunction) -> String {
    let mut run = stores.run.clone();
    if !run.command.is_empty() {
        run.recording = None;
    }
    run.again()
}

fn function(page: &mut Page, f: &FunctionStores) {
    let name = page.paint(Style::new().bold(), &page.function(&f.place.function));
    let line = format!(
        "{name} - {} - {}",
        page.location(&f.place),
        some(f.stores, "store", "stores")
    );
    page.wrapped(&format!("   {:>6}  ", percent(f.share)), &line);
    for c in f.callers.iter().take(MOST) {
        let calls: Vec<String> = c
            .call_chain
            .iter()
            .take(MOST)
            .map(|p| page.place(p))
            .collect();
        let above = c.call_chain.len().saturating_sub(MOST);
        let more = if above > 0 {
            format!(" < {above} more")
        } else {
            String::new()
        };
        let from = format!("{}{more}", calls.join(" < "));
        page.wrapped(&format!("           {:>6} from ", percent(c.share)), &from);
    }
    if f.callers.len() > MOST {
        let rest: f64 = f.callers[MOST..].iter().map(|c| c.share).sum();
        let line = format!(
            "           {:>6} from {} more contexts",
            percent(rest),
            f.callers.len() - MOST
        );
        page.line(&line);
    }
}
