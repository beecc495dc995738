//! Gains and losses in words.

/// Less than this is no change: simulations of one program differ by as much through a pre-store
/// that hits nothing.
const NO_CHANGE: f64 = 0.01;

/// Is there anything to gain?
pub fn gains(speedup: f64) -> bool {
    speedup >= 1.0 + NO_CHANGE
}

/// A speed-up for people: `1.83x faster`, `no change (1.00x)`, `0.75x: a loss, …`.
pub fn gain(speedup: f64) -> String {
    if gains(speedup) {
        format!("{speedup:.2}x faster")
    } else if speedup > 1.0 - NO_CHANGE {
        format!("no change ({speedup:.2}x)")
    } else {
        let slower = (1.0 / speedup - 1.0) * 100.0;
        format!("{speedup:.2}x: a loss, {slower:.0}% slower: leave it alone on this machine")
    }
}

#[cfg(test)]
mod tests {
    use super::gain;

    #[test]
    fn gains_and_losses_are_said() {
        assert_eq!(gain(1.834), "1.83x faster");
        assert_eq!(gain(1.004), "no change (1.00x)");
        assert_eq!(gain(0.996), "no change (1.00x)");
        assert_eq!(
            gain(0.5),
            "0.50x: a loss, 100% slower: leave it alone on this machine"
        );
    }
}
