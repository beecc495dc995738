//! The machine file.

use std::fmt::Write;

use crate::assumptions::{
    CHANNELS_WHY, DRAM, DRAM_WHY, FILL_BUFFERS, INCLUSION_WHY, PREFETCH_WHY, QUEUE_WHY,
    REPLACEMENT_WHY, ROB, SNOOP, STORE_BUFFER, STORES_AHEAD,
};
use crate::calibration::{Calibration, Stays};
use crate::figure::number;
use crate::measure::FAR_LESS;
use crate::{CacheInfo, CacheSharing, Curve, Figure};

/// The host as a machine description (`docs/adding-a-machine.md`): each number with how it was measured and how far
/// the runs lie apart, or with why it is assumed.
pub fn to_toml(host: &Calibration) -> String {
    let mut file = File(String::new());
    file.line("# Written by `prestore machine calibrate`; measure again rather than edit.");
    for warning in &host.warnings {
        file.line(&format!("# {}", plain(warning)));
    }
    let description = format!("This host: {}, {} CPUs, as measured", host.cpu, host.cpus);
    file.line(&format!("description = {}", quoted(&description)));
    let line = host.caches.first().map_or(64, |cache| cache.line);
    file.stated(
        "line",
        &format!("{line} B"),
        "the system's description of the caches",
    );
    core(&mut file, host);
    caches(&mut file, host);
    directory(&mut file, host);
    memory(&mut file, host);
    file.line("\n[placement]\ndefault_memory = \"dram\"");
    file.0
}

fn core(file: &mut File, host: &Calibration) {
    let cycles = |figure: &Figure| figure.scaled(host.clock.value(), "cycles");
    let x86 = host.architecture == "x86_64";
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
    file.measured("atomic", &cycles(&host.atomic));
    file.measured("fence", &cycles(&host.fence));
    file.measured("store_fence", &cycles(&host.store_fence));
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
            file.measured("flush_issue", &cycles(&clean.issue));
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
    let demote = match (host.demote_active, x86) {
        (false, _) => "nop",
        (true, true) => "to-shared-level",
        (true, false) => "from-write-buffer",
    };
    file.line(&format!("demote = \"{demote}\""));

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

    file.line("\n[core.store_buffer]");
    file.whole("entries", host.store_buffer.as_ref(), STORE_BUFFER);
    file.whole("rfo_ahead", host.stores_ahead.as_ref(), STORES_AHEAD);
    if let Some(pair) = &host.forwarded_miss {
        let forwards = host.forwards_misses().to_string();
        file.number("forward_misses", &forwards, "source", &told(pair));
    }
    // As soon as from one store, or not: from L1 a load takes as long.
    let nearest = host.latencies.first().map_or(0.0, |l| l.figure.value());
    if let Some(merged) = host
        .merged
        .as_ref()
        .filter(|m| x86 && m.value() > 2.0 * nearest)
    {
        file.measured("merge", &cycles(merged));
    }
    file.line("\n[core.write_combining]");
    let why = "on x86 they are the fill buffers";
    file.number("buffers", &format!("{:.0}", buffers(host)), "assumed", why);
    if let Some(line) = non_temporal_line(host) {
        hold(file, host, "hold", &line);
    }
    if let (Some(hit), Some(behind)) = (&host.non_temporal_hit, &host.non_temporal_behind) {
        let stay = host.non_temporal_hits_stay().to_string();
        let source = format!("{}; {}", told(hit), told(behind));
        file.number("hits_stay", &stay, "source", &source);
    }
    file.line("\n[core.prefetch]");
    file.line(&format!("assumed = {}", quoted(PREFETCH_WHY)));
    file.line("next_line = false\nstride_streams = 32\nstride_degree = 8\nstride_step = 2");
}

/// Fill buffers, measured or not.
fn buffers(host: &Calibration) -> f64 {
    misses(host).map_or(FILL_BUFFERS.0, Figure::value).max(1.0)
}

/// How long a buffer is taken by a line of which one goes each `line`, with all buffers at work.
fn hold(file: &mut File, host: &Calibration, key: &str, line: &Figure) {
    let mut figure = line.scaled(buffers(host).round(), "ns");
    figure.how = format!(
        "time of a line, times the {:.0} buffers: {}",
        buffers(host),
        line.how
    );
    file.measured(key, &figure);
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
fn told(figure: &Figure) -> String {
    format!(
        "measured: {}: {} {}",
        figure.how,
        number(figure.value()),
        figure.unit
    )
}

fn caches(file: &mut File, host: &Calibration) {
    let last = host.caches.len().saturating_sub(1);
    for (index, (cache, latency)) in host.caches.iter().zip(&host.latencies).enumerate() {
        file.line(&format!("\n[caches.{}]", cache.name()));
        let nearer = index
            .checked_sub(1)
            .and_then(|nearer| host.caches.get(nearer));
        let size = effective_size(cache, nearer, latency.seen_bytes);
        let source = if size == cache.size {
            "the system's description of the caches".to_owned()
        } else {
            let whole = cache.size >> 10;
            format!(
                "the system says {whole} KiB, most of which pointer chases do not find: neighbours use it"
            )
        };
        file.stated("size", &format!("{} KiB", size >> 10), &source);
        let source = "the system's description of the caches";
        file.number("ways", &cache.ways.to_string(), "source", source);
        file.measured(
            "latency",
            &latency.figure.scaled(host.clock.value(), "cycles"),
        );
        let shared = is_shared(cache);
        file.line(if shared {
            "scope = \"shared\""
        } else {
            "scope = \"private\""
        });
        file.line("write = \"back\"");
        let last_private = !shared && host.caches.get(index + 1).is_none_or(is_shared);
        if last_private {
            lines_under_way(file, host);
        }
        if index > 0 {
            let victims = index == last && index > 1;
            let inclusion = if victims {
                "non-inclusive-victim"
            } else {
                "non-inclusive"
            };
            file.line(&format!("# {INCLUSION_WHY}."));
            file.line(&format!("inclusion = \"{inclusion}\""));
        }
        if shared {
            file.line("hash = \"xor-fold\"");
            file.number("slices", "1", "assumed", "slices cannot be seen");
        }
        file.line(&format!("# {REPLACEMENT_WHY}."));
        if index == last && index > 0 {
            let why = "evictions of shared caches look random (P0, section 4)";
            file.line(&format!(
                "replacement = {{ kind = \"qlru\", hit = 0, insert = 1, distant = \"25 %\", assumed = {} }}",
                quoted(why)
            ));
        } else {
            file.line("replacement = \"lru\"");
        }
    }
}

/// Lines that the last private cache has under way: those of misses, or those of a thread that reads or writes memory
/// in order, where prefetches and victims come to them, whichever are more.
fn lines_under_way(file: &mut File, host: &Calibration) {
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

fn is_shared(cache: &CacheInfo) -> bool {
    cache.sharing == CacheSharing::Shared
}

/// Lines under way at once: as many as loads or stores show, whichever show more. Each line that stores bring sends one
/// away in the end, so as many victims are under way, too.
fn misses(host: &Calibration) -> Option<&Figure> {
    let both = host.fill_buffers.iter().chain(&host.store_lines);
    both.max_by(|a, b| a.value().total_cmp(&b.value()))
}

/// Bytes that this host gets of a cache: all, or where far less is seen the next power-of-two part of it, which is not
/// less than the nearer cache has.
fn effective_size(cache: &CacheInfo, nearer: Option<&CacheInfo>, seen: Option<u64>) -> u64 {
    let Some(seen) = seen.filter(|seen| *seen < cache.size / FAR_LESS) else {
        return cache.size;
    };
    let least = seen.max(nearer.map_or(0, |nearer| nearer.size));
    let mut size = cache.size;
    while size > least && size.is_multiple_of(2 * u64::from(cache.ways) * cache.line) {
        size /= 2;
    }
    size
}

fn directory(file: &mut File, host: &Calibration) {
    file.line("\n[directory]\nhome = \"on-chip\"");
    match &host.read_written {
        Some(figure) => file.measured("snoop", &figure.scaled(host.clock.value(), "cycles")),
        None => {
            let last = host
                .latencies
                .last()
                .map_or(40.0, |l| l.figure.value() * host.clock.value());
            file.text(
                "snoop",
                &format!("{} cycles", number(last * SNOOP.0)),
                "assumed",
                SNOOP.1,
            );
        }
    }
}

fn memory(file: &mut File, host: &Calibration) {
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
    match &host.clean {
        // A line that does not stay where it is was brought back between two write-backs.
        Some(clean) if clean.stays.is_some_and(|stays| stays != Stays::Where) => {
            let back = clean.load_cleaned.value();
            let mut figure = clean.write_back.less(back);
            figure.how = format!("{}, less {} ns for its load", figure.how, number(back));
            file.measured("write_latency", &figure);
        }
        Some(clean) => file.measured("write_latency", &clean.write_back),
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

/// A file in the making.
struct File(String);

impl File {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.0, "{text}");
    }

    /// A number without unit, or a flag.
    fn number(&mut self, key: &str, value: &str, because: &str, text: &str) {
        self.line(&format!(
            "{key} = {{ is = {value}, {because} = {} }}",
            quoted(text)
        ));
    }

    /// A number with its unit.
    fn text(&mut self, key: &str, value: &str, because: &str, text: &str) {
        self.number(key, &quoted(value), because, text);
    }

    fn stated(&mut self, key: &str, value: &str, source: &str) {
        self.text(key, value, "source", source);
    }

    fn measured(&mut self, key: &str, figure: &Figure) {
        let value = format!("{} {}", number(figure.value()), figure.unit);
        self.text(key, &value, "source", &figure.source());
    }

    fn plain_measured(&mut self, key: &str, figure: &Figure) {
        self.number(
            key,
            &format!("{:.2}", figure.value()),
            "source",
            &figure.source(),
        );
    }

    /// A count of things: measured, or assumed where it could not be.
    fn whole(&mut self, key: &str, figure: Option<&Figure>, (assumed, why): (f64, &str)) {
        match figure {
            Some(figure) => {
                let value = format!("{:.0}", figure.value().max(1.0));
                self.number(key, &value, "source", &figure.source());
            }
            None => self.number(key, &format!("{assumed:.0}"), "assumed", why),
        }
    }
}

fn quoted(text: &str) -> String {
    format!(
        "\"{}\"",
        plain(text).replace('\\', "\\\\").replace('"', "\\\"")
    )
}

/// In one line.
fn plain(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}
