//! The instructions that a change by the library is simulated to execute, counted.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use std::path::Path;

use common::{advise_with, c_program, text, workload};

/// The vectors that every x86-64 processor has, for the library's copies and the C library's: with wider ones the
/// same copy takes other numbers of instructions on each host.
const SSE2: [&str; 2] = [
    "GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F,-AVX_Fast_Unaligned_Load,-SSSE3,-ERMS,-Prefer_ERMS,-Prefer_FSRM",
    "PRESTORE_FORCE_SKIP=movnt sse2",
];

/// Instructions of a workload's run, and stores of a function.
fn counted(name: &str, args: &[&str], function: &str) -> (f64, f64) {
    let program = workload(name).unwrap();
    let command = [&SSE2[..], &[text(&program)], args].concat();
    let json = advise_with(&["--scope", "count"], Path::new("env"), &command);
    let functions = json["functions"].as_array().unwrap();
    let stores = functions.iter().find(|f| f["function"] == function);
    (
        json["instructions"].as_f64().unwrap(),
        stores.map_or(0.0, |f| f["stores"].as_f64().unwrap()),
    )
}

/// What a change is simulated to execute is what the library executes.
#[test]
fn the_librarys_instructions_are_counted() {
    let costs = prestore_sim::Costs::LIBRARY;
    let near = |what: &str, counted: f64, said: u32| {
        let off = counted / f64::from(said) - 1.0;
        assert!(
            off.abs() < 0.2,
            "{what}: {counted} instructions, {said} in the model"
        );
    };
    // Values of 1 KiB: 16 lines, 128 words, of which 16 complete a line.
    let kv = ["--ops=5000", "--keys=1024", "--value-size=1024"];
    let of_kv = |op| counted("kv", &[&kv[..], &[op]].concat(), "craft_value");
    let (plain, stores) = of_kv("--op=none");
    let values = stores / 128.0;
    near(
        "clean",
        (of_kv("--op=clean").0 - plain) / values,
        costs.call + 16 * costs.line,
    );
    let put = 112 * costs.put + 16 * costs.put_line;
    near("writer", (of_kv("--op=skip").0 - plain) / values, put);
    // Elements of 1 KiB, copied.
    let listing1 = ["--iters=5000", "--elements=1024", "--size=1024"];
    let of_listing = |op| counted("listing1", &[&listing1[..], &[op]].concat(), "").0;
    let copied = (of_listing("--op=skip") - of_listing("--op=none")) / 5000.0;
    near("copy", copied, costs.copy + 16 * costs.copy_line);
}

/// A buffer's copy replaces no other: it costs all that it executes.
#[test]
fn a_copy_that_replaces_none_is_counted_whole() {
    if !is_x86_feature_detected!("avx") {
        return eprintln!("skipped: this processor has no AVX");
    }
    let library = workload("kv").unwrap().with_file_name("lib/libprestore.a");
    let include = format!("-I{}", text(&common::root().join("include")));
    let folder = tempfile::tempdir().unwrap();
    let source = r#"
        #include <prestore.h>
        #include <stdlib.h>
        static char from[4096] __attribute__((aligned(4096))), to[4096] __attribute__((aligned(4096)));
        int main(int count, char **args) {
            size_t size = atol(args[1]);
            for (long left = atol(args[2]); left > 0; left--)
                prestore_copy_skip(to, from, size);
            return 0;
        }
    "#;
    let flags = ["-x", "c", &include, "-x", "none"];
    let link = ["-ldl", "-lpthread", "-lm"];
    // Libraries stand behind what needs them.
    let linked = [
        "-Wl,--whole-archive",
        text(&library),
        "-Wl,--no-whole-archive",
    ];
    let program = c_program(
        folder.path(),
        "copies",
        source,
        &[&flags[..], &linked, &link].concat(),
    );
    let instructions = |size: u32, copies: u32| {
        let (size, copies) = (size.to_string(), copies.to_string());
        let command = [
            "PRESTORE_FORCE_SKIP=movnt_avx",
            text(&program),
            &size,
            &copies,
        ];
        let json = advise_with(&["--scope", "count"], Path::new("env"), &command);
        json["instructions"].as_f64().unwrap()
    };
    let costs = prestore_sim::Costs::LIBRARY;
    for lines in [16, 64] {
        let counted = (instructions(64 * lines, 2000) - instructions(64 * lines, 1000)) / 1000.0;
        let said = f64::from(costs.buffer + lines * costs.buffer_line);
        assert!(
            (counted / said - 1.0).abs() < 0.1,
            "{lines} lines: {counted} instructions, {said} in the model"
        );
    }
}
