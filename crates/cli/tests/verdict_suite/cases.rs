//! Programs that resemble the paper's applications, and what is to be said of each.

/// A program, and what is to be said of it.
pub(crate) struct Case {
    pub program: &'static str,
    pub args: &'static [&'static str],
    /// Arguments for a run several times as long.
    pub long: &'static [&'static str],
    /// Numbers of threads it can run with; one of its own choosing if empty.
    pub threads: &'static [u32],
    pub write_intensive: bool,
    /// Functions, with the verdicts that are right for what they write most.
    pub places: &'static [(&'static str, &'static [&'static str])],
}

const THREADS: &[u32] = &[1, 2, 8];
const SKIP: &[&str] = &["skip"];
const CLEAN: &[&str] = &["clean"];
const DEMOTE: &[&str] = &["demote"];
const ALONE: &[&str] = &["leave-alone"];

pub(crate) const CASES: &[Case] = &[
    // Multigrid: residual and inverse.
    Case {
        program: "stencil",
        args: &["--steps=10"],
        long: &["--steps=160"],
        threads: THREADS,
        write_intensive: true,
        places: &[("resid", CLEAN), ("psinv", SKIP)],
    },
    // The same in Fortran.
    Case {
        program: "stencil_f",
        args: &["--steps=10"],
        long: &["--steps=160"],
        threads: THREADS,
        write_intensive: true,
        places: &[("__sweeps_MOD_resid", CLEAN), ("__sweeps_MOD_psinv", SKIP)],
    },
    // Fourier transforms: copies and butterfly.
    Case {
        program: "fft",
        args: &["--rows=1024"],
        long: &["--rows=8192"],
        threads: &[],
        write_intensive: true,
        places: &[("copy_back", &["skip", "clean"]), ("fft_pass", ALONE)],
    },
    // Ranks: counted directly, and by way of buckets, many and few.
    Case {
        program: "rank",
        args: &["--keys=1M"],
        long: &["--keys=1M", "--iters=30"],
        threads: &[],
        write_intensive: true,
        places: &[("rank", ALONE)],
    },
    Case {
        program: "buckets",
        args: &["--keys=1M"],
        long: &["--keys=16M"],
        threads: THREADS,
        write_intensive: true,
        places: &[("distribute", ALONE)],
    },
    Case {
        program: "buckets",
        args: &["--keys=1M", "--buckets=4"],
        long: &["--keys=16M", "--buckets=4"],
        threads: THREADS,
        write_intensive: true,
        places: &[("distribute", SKIP)],
    },
    // Tridiagonal sweeps.
    Case {
        program: "lines",
        args: &[],
        long: &["--steps=40"],
        threads: THREADS,
        write_intensive: true,
        places: &[
            ("compute_rhs", SKIP),
            ("eliminate", ALONE),
            ("substitute", SKIP),
        ],
    },
    // Lower-upper solver with loops that flush.
    Case {
        program: "solver",
        args: &["--steps=2"],
        long: &["--steps=20"],
        threads: THREADS,
        write_intensive: false,
        places: &[],
    },
    // Embarrassingly parallel.
    Case {
        program: "pairs",
        args: &[],
        long: &["--batches=64"],
        threads: THREADS,
        write_intensive: false,
        places: &[],
    },
    // Conjugate gradients.
    Case {
        program: "sparse",
        args: &[],
        long: &["--iters=60"],
        threads: THREADS,
        write_intensive: false,
        places: &[],
    },
    // Hash table with values made up in place, and copied; and when it is mostly read.
    Case {
        program: "kv",
        args: &["--ops=200K"],
        long: &["--ops=2M"],
        threads: THREADS,
        write_intensive: true,
        places: &[("craft_value", SKIP)],
    },
    Case {
        program: "kv",
        args: &["--ops=200K", "--value=copied"],
        long: &["--ops=2M", "--value=copied"],
        threads: THREADS,
        write_intensive: true,
        places: &[
            ("copy_value", SKIP),
            ("craft_value", &["leave-alone", "demote"]),
        ],
    },
    Case {
        program: "kv",
        args: &["--ops=400K", "--keys=16K", "--workload=B"],
        long: &["--ops=4M", "--keys=16K", "--workload=B"],
        threads: THREADS,
        write_intensive: false,
        places: &[],
    },
    // Inboxes: shared messages, and private ones that are copied.
    Case {
        program: "ring",
        args: &["--messages=100K"],
        long: &["--messages=2M"],
        threads: &[],
        write_intensive: true,
        places: &[("fill_msg", DEMOTE)],
    },
    Case {
        program: "ring",
        args: &["--messages=100K", "--copy=yes", "--structures=64"],
        long: &["--messages=2M", "--copy=yes", "--structures=64"],
        threads: &[],
        write_intensive: true,
        places: &[("fill_msg", DEMOTE), ("copy_to_inbox", DEMOTE)],
    },
    // A trie.
    Case {
        program: "trie",
        args: &[],
        long: &["--ops=2M"],
        threads: THREADS,
        write_intensive: true,
        places: &[("craft_value", SKIP)],
    },
    // Tensors of two sizes.
    Case {
        program: "tensor",
        args: &[],
        long: &["--large-count=40", "--small-count=4M"],
        threads: &[],
        write_intensive: true,
        places: &[("TensorEvaluator<tensor::scalar_sum_op>::run", CLEAN)],
    },
];
