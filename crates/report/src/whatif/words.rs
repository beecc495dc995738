//! Gains and losses in words, and the ways to write a change.

use prestore_whatif::Speedup;

/// A speed-up for people: `1.83x faster`, `no change (1.00x)`, `0.75x: a loss, …`, with the least and the most of the
/// simulations where they differ.
pub fn gain(s: Speedup) -> String {
    let spread = spread(s);
    if s.gains() {
        format!("{:.2}x faster{}", s.speedup, bracketed(spread))
    } else if s.loses() {
        let slower = (1.0 / s.speedup - 1.0) * 100.0;
        format!(
            "{:.2}x: a loss, {slower:.0}% slower{}: not this way on this machine",
            s.speedup,
            bracketed(spread)
        )
    } else {
        match spread {
            Some(spread) => format!("no clear change ({:.2}x, {spread})", s.speedup),
            None => format!("no change ({:.2}x)", s.speedup),
        }
    }
}

/// `1.71 to 1.90`; `None`: all as the median.
fn spread(s: Speedup) -> Option<String> {
    let (least, most) = (format!("{:.2}", s.least), format!("{:.2}", s.most));
    (least != most).then(|| format!("{least} to {most}"))
}

fn bracketed(spread: Option<String>) -> String {
    spread.map_or_else(String::new, |s| format!(" ({s})"))
}

/// `skip, built in a buffer and copied`.
pub fn change(op: &str, way: &str) -> String {
    match written(way) {
        Some(how) => format!("{op}, {how}"),
        None => op.to_owned(),
    }
}

/// What a way is, where an operation has several.
pub fn written(way: &str) -> Option<&'static str> {
    match way {
        "copy-call" => Some("by prestore_copy_skip"),
        "in-place" => Some("stores made non-temporal in place"),
        "buffer" => Some("built in a buffer, then prestore_copy_skip"),
        "writer" => Some("by prestore_writer"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(ratios: &[f64]) -> String {
        gain(Speedup::of(ratios))
    }

    #[test]
    fn gains_and_losses_are_said() {
        assert_eq!(of(&[1.834]), "1.83x faster");
        assert_eq!(of(&[1.004]), "no change (1.00x)");
        assert_eq!(of(&[0.996]), "no change (1.00x)");
        assert_eq!(
            of(&[0.5]),
            "0.50x: a loss, 100% slower: not this way on this machine"
        );
    }

    #[test]
    fn the_spread_stands_beside() {
        assert_eq!(of(&[1.8, 1.9, 1.71]), "1.80x faster (1.71 to 1.90)");
        assert_eq!(
            of(&[1.1, 0.97, 1.2]),
            "no clear change (1.10x, 0.97 to 1.20)"
        );
        assert_eq!(
            of(&[0.5, 0.4, 0.8]),
            "0.50x: a loss, 100% slower (0.40 to 0.80): not this way on this machine"
        );
    }

    #[test]
    fn a_change_says_how_it_is_written() {
        assert_eq!(change("clean", "call"), "clean");
        assert_eq!(change("skip", "writer"), "skip, by prestore_writer");
    }
}
