//! What the core keeps stores in: store buffer, write-combining buffers; and its string instructions.

use super::core::{cycles, is_x86};
use super::file::File;
use super::lines::{buffers, hold};
use super::memory::write_back;
use crate::Figure;
use crate::assumptions::{STORE_BUFFER, STORES_AHEAD};
use crate::calibration::Calibration;
use crate::figure::number;

pub(super) fn strings(file: &mut File, host: &Calibration) {
    if let (Some(strings), Some(clean)) = (&host.strings, &host.clean) {
        file.line("\n[core.strings]");
        let times = |what: &str, string: Option<&Figure>, stores: Option<&Figure>| {
            let ns = |figure: Option<&Figure>| figure.map_or("?".into(), |f| number(f.value()));
            format!(
                "measured: {what} in random order take {} ns by rep stosb and {} ns by single stores",
                ns(string),
                ns(stores)
            )
        };
        let source = times(
            "pieces of 4 KiB",
            Some(&strings.piece),
            Some(&strings.piece_by_stores),
        );
        file.number("unread", &strings.unread().to_string(), "source", &source);
        let (string, stores) = (&strings.cleaned, &strings.cleaned_by_stores);
        let source = times(
            "pieces of 256 B that are cleaned",
            string.as_ref(),
            stores.as_ref(),
        );
        let waits = strings.after_flushes(clean.write_back.value());
        file.number("after_flushes", &waits.to_string(), "source", &source);
    }
}

pub(super) fn store_buffer(file: &mut File, host: &Calibration) {
    file.line("\n[core.store_buffer]");
    file.whole("entries", host.store_buffer.as_ref(), STORE_BUFFER);
    file.whole("rfo_ahead", host.stores_ahead.as_ref(), STORES_AHEAD);
    if let (true, Some(early), Some(wait)) = (
        is_x86(host),
        host.stores_leave_when_granted(),
        host.fence_after_miss(),
    ) {
        let source = format!(
            "measured: a full fence waits {} ns for a store to a random line of memory, of which a load takes {} ns",
            number(wait),
            number(host.memory_latency.value())
        );
        file.number("leaves_when_granted", &early.to_string(), "source", &source);
    }
    if let Some(pair) = &host.forwarded_miss {
        let forwards = host.forwards_misses().to_string();
        file.number("forward_misses", &forwards, "source", &told(pair));
    }
    // As soon as from one store, or not: from L1 a load takes as long.
    let nearest = host.latencies.first().map_or(0.0, |l| l.figure.value());
    if let Some(merged) = host
        .merged
        .as_ref()
        .filter(|m| is_x86(host) && m.value() > 2.0 * nearest)
    {
        file.measured("merge", &cycles(host, merged));
    }
}

pub(super) fn write_combining(file: &mut File, host: &Calibration) {
    file.line("\n[core.write_combining]");
    let why = "as many as the fill buffers; whether they are those is measured";
    file.number("buffers", &format!("{:.0}", buffers(host)), "assumed", why);
    if let Some(beside) = &host.non_temporal_beside {
        let source = format!(
            "{} ({:.0}% of the shorter comes to the longer); {}; {}",
            told(&beside.both),
            beside.added() * 100.0,
            told(&beside.loads),
            told(&beside.stores)
        );
        let shares = beside.shares().to_string();
        file.number("shares_fill_buffers", &shares, "source", &source);
    }
    if let (Some(fenced), Some(back)) = (&host.non_temporal_fenced, write_back(host)) {
        let mut delay = fenced.less(back.value());
        delay.how = format!(
            "{}, less {} ns of a write-back",
            fenced.how,
            number(back.value())
        );
        file.measured("delay", &delay);
    }
    if let Some(line) = non_temporal_line(host) {
        hold(file, host, "hold", &line);
    }
    if let (Some(hit), Some(behind)) = (&host.non_temporal_hit, &host.non_temporal_behind) {
        let stay = host.non_temporal_hits_stay().to_string();
        let source = format!("{}; {}", told(hit), told(behind));
        file.number("hits_stay", &stay, "source", &source);
    }
}

/// Time of a line of non-temporal stores, where they are fastest.
fn non_temporal_line(host: &Calibration) -> Option<Figure> {
    let curves = host.curves.iter();
    let mut curve = curves.filter(|curve| curve.over == "bytes of a piece");
    let points = curve.next()?.points.iter();
    let best = points.max_by(|a, b| a.summary.median.total_cmp(&b.summary.median))?;
    let how = format!(
        "non-temporal stores to pieces of {} B in random order",
        best.at
    );
    best.figure(|gb_s| 64.0 / gb_s, how)
}

/// A figure and how it was measured, in a sentence.
pub(super) fn told(figure: &Figure) -> String {
    format!(
        "measured: {}: {} {}",
        figure.how,
        number(figure.value()),
        figure.unit
    )
}
