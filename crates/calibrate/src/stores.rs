//! How many stores leave a cycle, how many lines they fetch at once, and how far ahead of their turn.

use crate::arch::{ADDS, full_fence, independent_stores, store};
use crate::buffer::{Buffer, LINE};
use crate::chase::random_line;
use crate::curve::Curve;
use crate::figure::{Figure, each};
use crate::{CalibrateError, Effort};

/// Stores to each of the lines.
const TO_A_LINE: [u64; 4] = [1, 2, 4, 8];
/// Lines stored to between two looks at the clock.
const LINES: u64 = 64;

/// Stores to one line in L1 that leave a cycle of `ghz`.
pub(crate) fn a_cycle(effort: Effort, ghz: f64) -> Result<Option<Figure>, CalibrateError> {
    let buffer = Buffer::new(LINE)?;
    // SAFETY: the buffer has a line.
    let runs = each(effort, |rounds| unsafe {
        independent_stores(buffer.start(), rounds)
    });
    let runs: Vec<f64> = runs.iter().map(|ns| ADDS as f64 / ns / ghz).collect();
    Ok(Figure::of(&runs, "", "stores to one line in L1 a cycle"))
}

/// Time of a line that is in no cache, over the number of stores to each.
pub(crate) fn missing(effort: Effort, memory: &Buffer) -> Curve {
    let mut curve = Curve {
        name: "stores to memory".into(),
        over: "stores to a line",
        unit: "ns",
        how: format!(
            "stores to random lines of {} MiB; time of a line",
            memory.size() >> 20
        ),
        points: Vec::new(),
    };
    let (mut next, lines) = (1u64, memory.lines() as u64);
    for stores in TO_A_LINE {
        let runs = each(effort, |times| {
            for _ in 0..times * LINES {
                let line = random_line(&mut next, lines);
                for word in 0..stores {
                    let at = line as usize * LINE + word as usize * 8;
                    // SAFETY: within a line of the buffer, aligned. Pointers of a chase are no longer needed.
                    unsafe { store(memory.start().add(at), 1) };
                }
            }
        });
        let runs: Vec<f64> = runs.iter().map(|ns| ns / LINES as f64).collect();
        curve.push(stores, &runs);
    }
    full_fence();
    curve
}

/// Lines that stores fetch at once: the latency of one over its time where there are plenty (Little's law).
pub(crate) fn lines_at_once(curve: &Curve, latency: &Figure) -> Option<Figure> {
    most(curve, latency, |_| 1, "lines under way")
}

/// How many stores ahead of the oldest fetch their lines: the lines under way times the stores to each.
pub(crate) fn ahead(curve: &Curve, latency: &Figure) -> Option<Figure> {
    most(
        curve,
        latency,
        |stores| stores,
        "stores whose lines are under way",
    )
}

fn most(
    curve: &Curve,
    latency: &Figure,
    weight: impl Fn(u64) -> u64,
    what: &str,
) -> Option<Figure> {
    let at_once = |ns: f64, stores: u64| latency.value() / ns * weight(stores) as f64;
    let points = curve.points.iter();
    let best = points.max_by(|a, b| {
        let of = |point: &&crate::curve::Point| at_once(point.summary.median, point.at);
        of(a).total_cmp(&of(b))
    })?;
    let how = format!(
        "{what}: latency of a load from memory over the time of a line with {} stores to each, the number that \
         is most",
        best.at
    );
    best.figure(|ns| at_once(ns, best.at), how)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_stores_at_once_follow_from_latency_and_time() {
        let mut curve = Curve {
            name: String::new(),
            over: "",
            unit: "ns",
            how: String::new(),
            points: Vec::new(),
        };
        // Forty lines at once, or eighty stores.
        for (stores, ns) in [(1, 2.5), (2, 2.5), (4, 5.0), (8, 10.0)] {
            curve.push(stores, &[ns]);
        }
        let latency = Figure::of(&[100.0], "ns", "").unwrap();
        assert_eq!(lines_at_once(&curve, &latency).unwrap().value(), 40.0);
        assert_eq!(ahead(&curve, &latency).unwrap().value(), 80.0);
    }
}
