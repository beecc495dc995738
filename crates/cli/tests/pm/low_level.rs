//! Those that flush and fence by themselves.

use super::common::no_clwb;
use super::{Case, survives, the_defect_is_seen};

const IMAGES: u32 = 400;

/// For each program: with one thread and with three it survives, and has no finding; without what it needs it does not.
macro_rules! programs {
    ($($program:ident $args:expr;)*) => {$(
        mod $program {
            use super::*;

            const CASE: Case = Case {
                name: stringify!($program),
                args: &$args,
                from: None,
                more: "12",
            };

            #[test]
            fn survives_every_power_cut() {
                if !no_clwb() {
                    survives(&CASE, &[], IMAGES, true);
                }
            }

            #[test]
            fn survives_every_power_cut_with_three_threads() {
                if !no_clwb() {
                    survives(&CASE, &["--threads=3"], IMAGES, true);
                }
            }

            #[test]
            fn its_check_sees_the_defect() {
                if !no_clwb() {
                    the_defect_is_seen(&CASE, IMAGES);
                }
            }
        }
    )*};
}

programs! {
    pm_list ["--ops=250", "--keys=24"];
    pm_hash ["--ops=120", "--keys=40"];
    pm_swap ["--ops=60", "--elements=24"];
    pm_tatp ["--ops=400", "--subscribers=12"];
    pm_tpcc ["--ops=40", "--items=40"];
    pm_level ["--ops=250", "--keys=100"];
    pm_bptree ["--ops=250", "--keys=100"];
}
