//! The programs of `workloads/pm` and `workloads/modes` survive a power cut at any time, and their checks see when one would not.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]
#![cfg(target_arch = "x86_64")]

#[path = "../common/mod.rs"]
mod common;

mod images;
mod modes;

use common::{no_clwb, no_pmemobj};

/// Those that flush and fence by themselves: what they do is all needed.
mod low_level {
    use super::*;
    use images::programs;

    programs! { skipped: no_clwb, from: None, clean: true, images: 400, with_defect: 400;
        pm_list ["--ops=250", "--keys=24"];
        pm_hash ["--ops=120", "--keys=40"];
        pm_swap ["--ops=60", "--elements=24"];
        pm_tatp ["--ops=400", "--subscribers=12"];
        pm_tpcc ["--ops=40", "--items=40"];
        pm_level ["--ops=400", "--keys=200"];
    }

    // So many that inner nodes split, too, and that power cuts fall into that.
    programs! { skipped: no_clwb, from: None, clean: true, images: 2000, with_defect: 400;
        pm_bptree ["--ops=1500", "--keys=900"];
    }
}

/// Those of libpmemobj, which does things in vain that are not theirs: it makes a pool in steps that it cannot recover from.
mod transactions {
    use super::*;
    use images::programs;

    programs! { skipped: no_pmemobj, from: Some("publish"), clean: true, images: 140, with_defect: 80;
        pm_tx_btree ["--ops=100", "--keys=60"];
        pm_tx_crit ["--ops=100", "--keys=40"];
        pm_tx_rbtree ["--ops=100", "--keys=40"];
        pm_tx_skip ["--ops=100", "--keys=40"];
        pm_tx_hash ["--ops=100", "--keys=40"];
    }
}
