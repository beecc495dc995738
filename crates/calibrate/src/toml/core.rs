//! The core: its clock, window, instructions.

use super::file::{File, quoted};
use super::lines::{hold, misses};
use super::stores::{store_buffer, strings, told, write_combining};
use crate::Figure;
use crate::assumptions::{FILL_BUFFERS, PREFETCH_WHY, ROB};
use crate::calibration::{Calibration, Stays};
use crate::figure::number;

pub(super) fn core(file: &mut File, host: &Calibration) {
    let x86 = is_x86(host);
    file.line("\n[core]");
    file.number(
        "count",
        &host.cpus.to_string(),
        "source",
        "the CPUs that this process may use",
    );
    file.measured("clock", &host.clock);
    file.plain_measured("width", &host.width);
    file.whole("rob", host.reorder_buffer.as_ref(), ROB);
    file.plain_measured("loads_per_cycle", &host.loads_per_cycle);
    if x86 {
        file.plain_measured("stores_per_cycle", &host.stores_per_cycle);
    }
    file.whole("fill_buffers", misses(host), FILL_BUFFERS);
    file.line(&format!(
        "memory_model = \"{}\"",
        if x86 { "tso" } else { "weak" }
    ));
    file.measured("atomic", &cycles(host, &host.atomic));
    if let (true, Some(overlap), Some(missing)) =
        (x86, host.atomics_overlap(), &host.missing_atomics)
    {
        let source = told(missing);
        file.number("atomics_overlap", &overlap.to_string(), "source", &source);
    }
    file.measured("fence", &cycles(host, &host.fence));
    file.measured("store_fence", &cycles(host, &host.store_fence));
    cleans(file, host);
    demotions(file, host);
    strings(file, host);
    store_buffer(file, host);
    write_combining(file, host);
    prefetch(file);
}

pub(super) fn is_x86(host: &Calibration) -> bool {
    host.architecture == "x86_64"
}

/// A time in cycles of the host's clock.
pub(super) fn cycles(host: &Calibration, figure: &Figure) -> Figure {
    figure.scaled(host.clock.value(), "cycles")
}

/// What writes lines back.
fn cleans(file: &mut File, host: &Calibration) {
    match &host.clean {
        Some(clean) => {
            let stays = clean.stays.unwrap_or(Stays::Where);
            let source = match (&clean.load_absent, clean.stays) {
                (Some(absent), Some(_)) => format!(
                    "measured: a line is loaded in {} ns after {}, dirty in {} ns, from memory in {} ns",
                    number(clean.load_cleaned.value()),
                    clean.instruction,
                    number(clean.load_dirty.value()),
                    number(absent.value())
                ),
                _ => "the instruction is defined to keep the line".into(),
            };
            let retains = (stays == Stays::Where).to_string();
            file.number("clwb_retains", &retains, "source", &source);
            if stays == Stays::Shared {
                file.number("clwb_to_shared", "true", "source", &source);
            }
            file.measured("flush_issue", &cycles(host, &clean.issue));
            hold(file, host, "flush_hold", &clean.line);
        }
        None => {
            file.line("clwb_retains = true");
            let why = "there is no instruction that cleans and keeps a line";
            file.text("flush_issue", "1 cycle", "assumed", why);
        }
    }
    let mut flushes: Vec<&str> = host.flushes.iter().map(|flush| flush.instruction).collect();
    flushes.dedup();
    let flushes: Vec<String> = flushes.into_iter().map(quoted).collect();
    file.line(&format!("flushes = [{}]", flushes.join(", ")));
}

fn demotions(file: &mut File, host: &Calibration) {
    let demote = match (host.demote_active, is_x86(host)) {
        (false, _) => "nop",
        (true, true) => "to-shared-level",
        (true, false) => "from-write-buffer",
    };
    file.line(&format!("demote = \"{demote}\""));
    if let Some(demotions) = host.demotions.as_ref().filter(|_| host.demote_active) {
        hold(file, host, "demote_hold", demotions);
    }
}

fn prefetch(file: &mut File) {
    file.line("\n[core.prefetch]");
    file.line(&format!("assumed = {}", quoted(PREFETCH_WHY)));
    file.line("next_line = false\nstride_streams = 32\nstride_degree = 20\nstride_step = 2");
}
