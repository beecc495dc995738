//! What this host says: the operations that the programs have themselves, measured.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use prestore_bench::{Operation, Variant};
use prestore_measure::{Summary, median_interval, ratios};
use serde::{Deserialize, Serialize};

use super::{Place, keep, read};
use crate::cases::CASES;
use crate::common::level;

/// Pairs of runs.
const PAIRS: usize = 25;

/// An operation of a program at one place.
struct Native {
    /// The program and arguments of its case.
    program: &'static [&'static str],
    function: &'static str,
    op: &'static str,
    /// What both runs are given: more work than a recording needs.
    size: &'static [&'static str],
    /// What makes the program do the operation there.
    with: &'static [&'static str],
}

const fn native(
    program: &'static [&'static str],
    function: &'static str,
    op: &'static str,
    size: &'static [&'static str],
    with: &'static [&'static str],
) -> Native {
    Native {
        program,
        function,
        op,
        size,
        with,
    }
}

const STENCIL: &[&str] = &["stencil", "--steps=10"];
const FFT: &[&str] = &["fft", "--rows=1024"];
const KV: &[&str] = &["kv", "--ops=200K"];
const COPIED: &[&str] = &["kv", "--ops=200K", "--value=copied"];
const RING: &[&str] = &["ring", "--messages=100K"];

const LARGE_STENCIL: &[&str] = &["--steps=40"];
const LARGE_FFT: &[&str] = &["--rows=8K"];
const LARGE_LINES: &[&str] = &["--n=192", "--steps=2"];
const LARGE_KV: &[&str] = &["--ops=400K", "--keys=128K", "--spare-mb=256"];
const LARGE_COPIED: &[&str] = &[
    "--ops=400K",
    "--keys=128K",
    "--spare-mb=256",
    "--value=copied",
];
const LARGE_TRIE: &[&str] = &["--ops=400K"];
const LARGE_RING: &[&str] = &["--messages=400K"];
const LARGE_TENSOR: &[&str] = &["--large-count=4"];

/// Skip in the way that the simulator finds best of those that every architecture has: a buffer that is copied.
const NATIVES: &[Native] = &[
    native(
        STENCIL,
        "resid",
        "clean",
        LARGE_STENCIL,
        &["--op=clean", "--cleaned=residual"],
    ),
    native(
        STENCIL,
        "psinv",
        "clean",
        LARGE_STENCIL,
        &["--op=clean", "--cleaned=corrections"],
    ),
    native(
        STENCIL,
        "psinv",
        "skip",
        LARGE_STENCIL,
        &["--op=skip", "--skip=buffer"],
    ),
    native(FFT, "copy_back", "clean", LARGE_FFT, &["--op=clean"]),
    native(FFT, "copy_back", "skip", LARGE_FFT, &["--op=skip"]),
    native(
        &["lines"],
        "compute_rhs",
        "clean",
        LARGE_LINES,
        &["--op=clean", "--place=rhs"],
    ),
    native(
        &["lines"],
        "compute_rhs",
        "skip",
        LARGE_LINES,
        &["--op=skip", "--place=rhs"],
    ),
    native(
        &["lines"],
        "substitute",
        "clean",
        LARGE_LINES,
        &["--op=clean", "--place=solution"],
    ),
    native(
        &["lines"],
        "substitute",
        "skip",
        LARGE_LINES,
        &["--op=skip", "--place=solution"],
    ),
    native(KV, "craft_value", "clean", LARGE_KV, &["--op=clean"]),
    native(
        KV,
        "craft_value",
        "skip",
        LARGE_KV,
        &["--op=skip", "--value=copied"],
    ),
    native(COPIED, "copy_value", "clean", LARGE_COPIED, &["--op=clean"]),
    native(COPIED, "copy_value", "skip", LARGE_COPIED, &["--op=skip"]),
    native(RING, "fill_msg", "clean", LARGE_RING, &["--op=clean"]),
    native(RING, "fill_msg", "demote", LARGE_RING, &["--op=demote"]),
    native(
        &["trie"],
        "craft_value",
        "clean",
        LARGE_TRIE,
        &["--op=clean"],
    ),
    native(&["trie"], "craft_value", "skip", LARGE_TRIE, &["--op=skip"]),
    native(
        &["tensor"],
        "TensorEvaluator<tensor::scalar_sum_op>::run",
        "clean",
        LARGE_TENSOR,
        &["--op=clean"],
    ),
];

/// What was measured of one operation at one place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Measured {
    #[serde(flatten)]
    pub place: Place,
    pub op: String,
    /// The program's seconds over those with the operation in the run beside it: the median between
    /// the bounds of its 95% interval.
    pub gain: [f64; 3],
}

/// All that was measured on a host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Host {
    /// The processor's name.
    pub cpu: String,
    /// What the library does on it, by operation.
    pub instructions: BTreeMap<String, String>,
    pub measured: Vec<Measured>,
}

impl Host {
    /// What was measured of one operation there.
    pub fn of(&self, place: &Place, op: &str) -> Option<&Measured> {
        let mut all = self.measured.iter();
        all.find(|m| m.place == *place && m.op == op)
    }

    /// All that were measured.
    pub fn all() -> Vec<Self> {
        read("hosts.json")
    }
}

/// `seconds=` of what the program prints.
fn seconds(program: &Path, size: &[&str], with: &[&str]) -> f64 {
    let output = Command::new(program)
        .args(size)
        .args(with)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    let of = text
        .split_whitespace()
        .find_map(|w| w.strip_prefix("seconds="));
    of.and_then(|s| s.parse().ok())
        .unwrap_or_else(|| panic!("no seconds: {text}"))
}

/// The gain's median between its bounds.
fn gain(mut pair: impl FnMut() -> (f64, f64)) -> [f64; 3] {
    let (base, changed): (Vec<_>, Vec<_>) = (0..PAIRS).map(|_| pair()).unzip();
    let ratios = ratios(&base, &changed);
    let median = Summary::of(&ratios).unwrap().median;
    let [low, high] = median_interval(&ratios).unwrap();
    [low, median, high].map(|b| (b * 1000.0).round() / 1000.0)
}

fn measure(native: &Native) -> Option<Measured> {
    let case = CASES
        .iter()
        .find(|c| c.program == native.program[0] && *c.args == native.program[1..])
        .unwrap();
    let program = level("O2", case.program)?;
    let mut turn = 0;
    let gain = gain(|| {
        turn += 1;
        let run = |with| seconds(&program, native.size, with);
        // Who is first changes.
        if turn % 2 == 0 {
            let changed = run(native.with);
            (run(&[]), changed)
        } else {
            let base = run(&[]);
            (base, run(native.with))
        }
    });
    let measured = Measured {
        place: Place::of(case, native.function),
        op: native.op.to_owned(),
        gain,
    };
    println!("{measured:?}");
    Some(measured)
}

/// Virtual machines often hide the name; family and model tell the generation.
fn cpu() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |key: &str| {
        let fields = text.lines().filter_map(|l| l.split_once(':'));
        let mut values = fields.filter(|(k, _)| k.trim() == key);
        values.next().map_or("unknown", |(_, value)| value.trim())
    };
    let (name, family, model) = (field("model name"), field("cpu family"), field("model"));
    format!("{name} (family {family}, model {model})")
}

fn instructions() -> BTreeMap<String, String> {
    let operations = Variant::ALL.into_iter().filter_map(Operation::of);
    let named = operations.map(|o| (o.variant.name().to_owned(), o.instruction));
    named.collect()
}

/// Some minutes, on a machine that does nothing else.
#[test]
#[ignore = "long, and only on an idle machine: make verdicts-host"]
fn what_the_advice_does_on_this_host() {
    let host = Host {
        cpu: cpu(),
        instructions: instructions(),
        measured: NATIVES.iter().filter_map(measure).collect(),
    };
    let mut hosts = Host::all();
    hosts.retain(|h| h.cpu != host.cpu);
    hosts.push(host);
    keep("hosts.json", &hosts);
}

#[test]
fn every_operation_of_a_program_is_one_of_a_case() {
    for native in NATIVES {
        let known = CASES.iter().any(|c| {
            c.program == native.program[0]
                && *c.args == native.program[1..]
                && c.places.iter().any(|(f, _)| *f == native.function)
        });
        assert!(known, "{:?} {}", native.program, native.function);
    }
}

#[test]
fn noise_widens_the_bounds() {
    let mut next = 0;
    let mut pairs = |step: f64| {
        gain(|| {
            next += 1;
            (1.0 + step * f64::from(next % 5), 1.0)
        })
    };
    let ([low, middle, high], [lower, _, higher]) = (pairs(0.01), pairs(0.1));
    assert!(low <= middle && middle <= high && high - low <= 0.04);
    assert!(higher - lower > 0.05, "{lower} {higher}");
}
