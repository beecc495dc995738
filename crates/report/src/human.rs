//! Numbers for people. All prefixes are decimal: 1 K = 1000, 1 MB = 1 000 000 bytes.

/// Below this, a number is written out.
const EXACT_BELOW: u64 = 10_000;

/// `9999`, `23.8 K`, `812 M`.
pub fn count(n: u64) -> String {
    scaled(n, "")
}

/// `240 B`, `4096 B`, `16.2 MB`.
pub fn bytes(n: u64) -> String {
    scaled(n, "B")
}

fn scaled(n: u64, unit: &str) -> String {
    if n < EXACT_BELOW {
        return format!("{n} {unit}").trim_end().to_owned();
    }
    let mut value = n as f64;
    let mut prefix = "";
    for p in ["K", "M", "G", "T", "P", "E"] {
        value /= 1000.0;
        prefix = p;
        // 999.5 would print as 1000 at three digits.
        if value < 999.5 {
            break;
        }
    }
    format!("{} {prefix}{unit}", three_digits(value))
}

fn three_digits(value: f64) -> String {
    let digits = if value >= 99.95 {
        0
    } else if value >= 9.995 {
        1
    } else {
        2
    };
    format!("{value:.digits$}")
}

/// A distance in instructions: `2`, `2.4`, `23.8 K`, and `inf` where it never happened.
pub fn distance(mean: Option<f64>) -> String {
    match mean {
        None => "inf".to_owned(),
        Some(m) if !m.is_finite() => "inf".to_owned(),
        Some(m) if m < 9.95 => trim_zero(format!("{m:.1}")),
        Some(m) => count(m.round() as u64),
    }
}

/// A duration: `1.24 s`, `31.5 ms`, `420 ns`.
pub fn seconds(s: f64) -> String {
    let (factor, unit) = match s {
        s if s >= 1.0 => (1.0, "s"),
        s if s >= 1e-3 => (1e3, "ms"),
        s if s >= 1e-6 => (1e6, "us"),
        _ => (1e9, "ns"),
    };
    format!("{} {unit}", three_digits(s * factor))
}

/// A share of 0 to 1 as a percentage: `41.3%`, `100%`, `<0.1%`.
///
/// Only what is exactly none is `0%`, and only what rounds to all within half a tenth is `100%`.
pub fn percent(share: f64) -> String {
    let p = share * 100.0;
    if p > 0.0 && p < 0.05 {
        return "<0.1%".to_owned();
    }
    format!("{}%", trim_zero(format!("{p:.1}")))
}

/// Half of an interval, in percent, behind its value: ` ± 1.3 %`; nothing where there is none.
pub(crate) fn within(percent: Option<f64>) -> String {
    percent.map_or_else(String::new, |p| format!(" ± {p:.1} %"))
}

/// `1 store`, `23.8 K stores`.
pub(crate) fn some(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { many })
}

/// `part` of `whole`, 0 where there is no whole.
pub(crate) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

fn trim_zero(s: String) -> String {
    s.strip_suffix(".0").map(str::to_owned).unwrap_or(s)
}

/// `text` with a capital letter and a full stop.
pub(crate) fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first: String = chars
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .collect();
    let stop = if text.ends_with('.') { "" } else { "." };
    format!("{first}{}{stop}", chars.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_three_digits() {
        assert_eq!(count(0), "0");
        assert_eq!(count(9_999), "9999");
        assert_eq!(count(23_800), "23.8 K");
        assert_eq!(count(999_499), "999 K");
        assert_eq!(count(999_700), "1.00 M");
        assert_eq!(count(u64::MAX), "18.4 E");
        assert_eq!(bytes(240), "240 B");
        assert_eq!(bytes(16_200_000), "16.2 MB");
    }

    #[test]
    fn durations_find_their_unit() {
        assert_eq!(seconds(1.2345), "1.23 s");
        assert_eq!(seconds(0.0315), "31.5 ms");
        assert_eq!(seconds(2.5e-6), "2.50 us");
        assert_eq!(seconds(0.0), "0.00 ns");
    }

    #[test]
    fn a_distance_that_never_happened_is_inf() {
        assert_eq!(distance(None), "inf");
        assert_eq!(distance(Some(2.0)), "2");
        assert_eq!(distance(Some(2.37)), "2.4");
        assert_eq!(distance(Some(23_800.0)), "23.8 K");
    }

    #[test]
    fn a_small_share_is_not_none() {
        assert_eq!(percent(0.0), "0%");
        assert_eq!(percent(0.0001), "<0.1%");
        assert_eq!(percent(0.413), "41.3%");
        assert_eq!(percent(1.0), "100%");
    }
}
