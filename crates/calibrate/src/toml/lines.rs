//! Lines under way at once, and how long each takes a buffer.

use super::file::File;
use crate::Figure;
use crate::assumptions::FILL_BUFFERS;
use crate::calibration::Calibration;

/// Lines under way at once: as many as loads or stores show, whichever show more. Each line that stores bring sends one
/// away in the end, so as many victims are under way, too.
pub(super) fn misses(host: &Calibration) -> Option<&Figure> {
    let both = host.fill_buffers.iter().chain(&host.store_lines);
    both.max_by(|a, b| a.value().total_cmp(&b.value()))
}

/// Fill buffers, measured or not.
pub(super) fn buffers(host: &Calibration) -> f64 {
    misses(host).map_or(FILL_BUFFERS.0, Figure::value).max(1.0)
}

/// How long a buffer is taken by a line of which one goes each `line`, with all buffers at work.
pub(super) fn hold(file: &mut File, host: &Calibration, key: &str, line: &Figure) {
    let mut figure = line.scaled(buffers(host).round(), "ns");
    figure.how = format!(
        "time of a line, times the {:.0} buffers: {}",
        buffers(host),
        line.how
    );
    file.measured(key, &figure);
}

/// Lines that the last private cache has under way: those of misses, or those of a thread that reads or writes memory
/// in order, where prefetches and victims come to them, whichever are more.
pub(super) fn lines_under_way(file: &mut File, host: &Calibration) {
    let latency = host.memory_latency.value();
    let in_order = host.curves.iter().filter(|curve| curve.over == "threads");
    let in_order = in_order
        .filter(|curve| ["read bandwidth", "write bandwidth"].contains(&curve.name.as_str()))
        .filter_map(|curve| {
            let one = curve.points.iter().find(|point| point.at == 1)?;
            let how = format!(
                "lines under way: latency of a load from memory over the time of a line, {}",
                curve.how
            );
            one.figure(|gb_s| latency / (64.0 / gb_s), how)
        });
    let all: Vec<Figure> = in_order.chain(misses(host).cloned()).collect();
    let most = all.iter().max_by(|a, b| a.value().total_cmp(&b.value()));
    if most.is_some() {
        file.whole("mshrs", most, FILL_BUFFERS);
    }
}
