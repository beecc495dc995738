//! What a sample is made of, and how wide its intervals are.

use prestore_sim::Sampled;

use crate::human::{count, within};
use crate::text::page::Page;

pub(super) fn write(page: &mut Page<'_>, sampled: &Sampled) {
    let plan = &sampled.sampling;
    let warm = match plan.warm {
        None => ", all since the last unit each time",
        Some(_) => "",
    };
    let runs = match plan.runs {
        1 => String::new(),
        n => format!(" in {n} runs"),
    };
    page.wrapped(
        "  sample: ",
        &format!(
            "{} units of {} operations{runs} ({} of {}), each behind up to {} in detail that are not measured; {} \
             operations in all warmed caches and memories before them{warm}; ±: 95 % intervals of chance; all figures are estimates (docs/sampling.md)",
            sampled.units,
            count(plan.unit),
            count(sampled.measured),
            count(plan.operations),
            count(plan.detail),
            count(sampled.warmed),
        ),
    );
    let figures = sampled.figures.iter().filter(|(_, e)| e.value > 0.0);
    let told = figures.map(|(name, e)| {
        let amount = count(e.value.max(0.0) as u64);
        let within = within(Some(e.percent()).filter(|p| p.is_finite()));
        format!("{} {amount}{within}", name.replace('_', " "))
    });
    let told: Vec<String> = told.collect();
    if !told.is_empty() {
        page.wrapped("  sample: ", &told.join(", "));
    }
    if sampled.cut > 0 {
        page.wrapped(
            "  note: ",
            &format!(
                "units in which the run, or what could go on in it, ended before they were measured whole: {}",
                sampled.cut
            ),
        );
    }
    if let Some(more) = sampled.more_units {
        page.wrapped(
            "  note: ",
            &format!(
                "the time is known to no better than ± {:.0} %: for that, {} units more are needed (--sample-units {})",
                Sampled::WIDE_PERCENT,
                count(more),
                sampled.units + more
            ),
        );
    }
}
