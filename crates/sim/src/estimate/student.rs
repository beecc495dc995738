//! Student's distribution.

/// The standard normal distribution's quantile at 97.5 %.
const Z: f64 = 1.959_963_984_540_054;

/// What Student's t with `degrees` degrees of freedom exceeds on either side 5 times in 100: its quantile at 97.5 %.
/// One and two degrees have closed forms; beyond, the expansion around the normal distribution's (Abramowitz and Stegun,
/// 26.7.5), off by less than half a percent.
pub(super) fn two_sided_95(degrees: u64) -> f64 {
    const P: f64 = 0.95;
    let n = degrees as f64;
    match degrees {
        0 => f64::INFINITY,
        1 => (std::f64::consts::FRAC_PI_2 * P).tan(),
        2 => P * (2.0 / (1.0 - P * P)).sqrt(),
        _ => {
            let z2 = Z * Z;
            let g1 = Z * (z2 + 1.0) / 4.0;
            let g2 = Z * ((5.0 * z2 + 16.0) * z2 + 3.0) / 96.0;
            let g3 = Z * (((3.0 * z2 + 19.0) * z2 + 17.0) * z2 - 15.0) / 384.0;
            let g4 =
                Z * ((((79.0 * z2 + 776.0) * z2 + 1482.0) * z2 - 1920.0) * z2 - 945.0) / 92160.0;
            Z + g1 / n + g2 / n.powi(2) + g3 / n.powi(3) + g4 / n.powi(4)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::two_sided_95;

    #[test]
    fn as_the_tables_have_it() {
        let table = [
            (1, 12.706),
            (2, 4.303),
            (3, 3.182),
            (5, 2.571),
            (10, 2.228),
            (29, 2.045),
            (99, 1.984),
            (1_000_000, 1.960),
        ];
        for (degrees, t) in table {
            let found = two_sided_95(degrees);
            assert!((found - t).abs() < 0.005 * t, "{degrees}: {found}");
        }
    }
}
