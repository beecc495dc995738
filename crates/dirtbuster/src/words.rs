//! Figures in words, for reasons.

pub(crate) fn percent(share: f64) -> String {
    if share > 0.0 && share < 0.001 {
        "under 0.1%".to_owned()
    } else if share < 0.0995 {
        format!("{:.1}%", share * 100.0)
    } else {
        format!("{:.0}%", share * 100.0)
    }
}

/// A share that begins a sentence.
pub(crate) fn percent_first(share: f64) -> String {
    percent(share).replacen("under", "Under", 1)
}

pub(crate) fn of(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

/// A mean distance in words.
pub(crate) fn distance(mean: Option<f64>) -> String {
    match mean {
        None => "never".to_owned(),
        Some(d) if d >= 1e6 => format!("{:.1} M instructions", d / 1e6),
        Some(d) if d >= 1e4 => format!("{:.1} K instructions", d / 1e3),
        Some(d) => format!("{d:.0} instructions"),
    }
}

pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        b if b >= 10 << 20 => format!("{} MB", b >> 20),
        b if b >= 1 << 20 => format!("{:.1} MB", b as f64 / f64::from(1 << 20)),
        b if b >= 10 << 10 => format!("{} KB", b >> 10),
        b => format!("{b} B"),
    }
}

/// How many, with three digits or a decimal.
pub(crate) fn count(n: u64) -> String {
    match n {
        n if n >= 10_000_000 => format!("{:.1} M", n as f64 / 1e6),
        n if n >= 1_000_000 => format!("{:.2} M", n as f64 / 1e6),
        n if n >= 10_000 => format!("{:.1} K", n as f64 / 1e3),
        n => n.to_string(),
    }
}
