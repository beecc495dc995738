//! The memory: controller and device.

use super::file::{File, quoted};
use crate::assumptions::{CHANNELS_WHY, DRAM, DRAM_WHY, QUEUE_WHY};
use crate::calibration::{Calibration, Stays};
use crate::figure::number;
use crate::{Curve, Figure};

pub(super) fn memory(file: &mut File, host: &Calibration) {
    let peak = peak_gb_s(&host.curves).max(0.1);
    let channels = ((peak / DRAM.gb_s).ceil() as u32).next_power_of_two();
    let channel = peak / f64::from(channels);
    let last = host.latencies.last().map_or(0.0, |l| l.figure.value());
    let device = DRAM.t_rcd_ns + DRAM.t_cl_ns + 64.0 / channel;
    let read = (host.memory_latency.value() - last - device).max(0.0);

    file.line("\n[memories.dram]");
    file.number("channels", &channels.to_string(), "assumed", CHANNELS_WHY);
    file.text("interleave", "256 B", "assumed", CHANNELS_WHY);
    file.line("\n[memories.dram.controller]");
    let source = format!(
        "{} ns of {}, less {} ns of the last cache level and {} ns of activation, column access and burst",
        number(host.memory_latency.value()),
        host.memory_latency.source(),
        number(last),
        number(device)
    );
    file.stated("read_latency", &format!("{} ns", number(read)), &source);
    match write_back(host) {
        Some(figure) => file.measured("write_latency", &figure),
        None => file.text(
            "write_latency",
            &format!("{} ns", number(read)),
            "assumed",
            "as long as a read takes to the controller and back",
        ),
    }
    for (queue, entries) in [
        ("read_queue", 64),
        ("write_queue", 64),
        ("drain_high", 54),
        ("drain_low", 32),
    ] {
        file.number(queue, &entries.to_string(), "assumed", QUEUE_WHY);
    }
    file.line("persistent = false");

    file.line("\n[memories.dram.device]\nkind = \"dram\"");
    file.line(&format!("assumed = {}", quoted(DRAM_WHY)));
    file.line(&format!("banks = {}\nrow = \"8 KiB\"", DRAM.banks));
    for (key, ns) in [
        ("t_rcd", DRAM.t_rcd_ns),
        ("t_cl", DRAM.t_cl_ns),
        ("t_rp", DRAM.t_rp_ns),
        ("t_wr", DRAM.t_wr_ns),
        ("t_wtr", DRAM.t_wtr_ns),
        ("t_rtw", DRAM.t_rtw_ns),
    ] {
        file.line(&format!("{key} = \"{ns} ns\""));
    }
    let source = format!(
        "measured: {} GB/s to and from memory, the most of reading, writing, copying and non-temporal writing with \
         all CPUs, divided by {channels} channels",
        number(peak)
    );
    file.stated("bandwidth", &format!("{} GB/s", number(channel)), &source);
    let source = "the bandwidth is what was measured, so nothing is taken off";
    file.stated("efficiency", "100 %", source);
    file.line("policy = \"open\"");
}

/// From a line that leaves the caches until the controller has acknowledged it.
pub(super) fn write_back(host: &Calibration) -> Option<Figure> {
    let clean = host.clean.as_ref()?;
    // A line that does not stay where it is was brought back between two write-backs.
    if clean.stays.is_none_or(|stays| stays == Stays::Where) {
        return Some(clean.write_back.clone());
    }
    let back = clean.load_cleaned.value();
    let mut figure = clean.write_back.less(back);
    figure.how = format!("{}, less {} ns for its load", figure.how, number(back));
    Some(figure)
}

/// GB/s between caches and memory with all threads: a store reads its line before and writes it back after.
fn peak_gb_s(curves: &[Curve]) -> f64 {
    let most = |name: &str, factor: f64| {
        let curve = curves
            .iter()
            .find(|curve| curve.name == name && curve.over == "threads");
        let medians = curve
            .iter()
            .flat_map(|curve| &curve.points)
            .map(|point| point.summary.median);
        medians.fold(0.0, f64::max) * factor
    };
    most("read bandwidth", 1.0)
        .max(most("write bandwidth", 2.0))
        .max(most("copy bandwidth", 1.5))
        .max(most("non-temporal write bandwidth", 1.0))
}
