//! The workloads' known answers on unchanged defaults (`workloads/README.md`).
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use std::path::PathBuf;

use common::{
    advice, advise, advise_with, c_program, finding, finding_at, findings, source_line, text,
    workload,
};
use serde_json::Value;

/// The one finding of `function` in `file`, at the line that has `text`.
#[track_caller]
fn at<'a>(report: &'a Value, function: &str, file: &str, text: &str) -> &'a Value {
    let found = finding_at(
        report,
        file,
        source_line(&format!("workloads/{file}"), text),
    );
    assert_eq!(found["function"], function);
    found
}

#[track_caller]
fn assert_verdict(finding: &Value, allowed: &[&str]) {
    let verdict = finding["verdict"].as_str().unwrap();
    assert!(allowed.contains(&verdict), "{finding:#}");
}

#[track_caller]
fn assert_reason(finding: &Value, part: &str) {
    assert!(
        finding["reason"].as_str().unwrap().contains(part),
        "{finding:#}"
    );
}

fn c_workload(name: &str) -> PathBuf {
    workload(name).unwrap_or_else(|| panic!("{name} was not built"))
}

fn size_of_context(context: &Value) -> u64 {
    context["bytes"].as_u64().unwrap()
}

const ELEMENT: &str = "memcpy(element, source, size);";

#[test]
fn elements_that_are_read_again_are_to_be_cleaned() {
    let report = advise(&c_workload("listing1"), &[]);
    let element = at(&report, "write_element", "listings/listing1.c", ELEMENT);
    assert_verdict(element, &["clean"]);
    assert_eq!(element["generic_writer"], true);
    assert_eq!(element["writer"], "memcpy");
    assert_eq!(findings(&report)[0], *element, "the largest is the first");
}

#[test]
fn elements_that_nobody_reads_are_to_be_skipped() {
    let report = advise(&c_workload("listing1"), &["--reread=no"]);
    let element = at(&report, "write_element", "listings/listing1.c", ELEMENT);
    assert_verdict(element, &["skip"]);
}

#[test]
fn a_line_rewritten_at_once_is_left_alone() {
    let report = advise(&c_workload("listing3"), &[]);
    assert_eq!(report["write_intensive"], true);
    let line = at(
        &report,
        "rewrite_line",
        "listings/listing3.c",
        "memset(data,",
    );
    assert_verdict(line, &["leave-alone"]);
    assert_reason(line, "written again after 10 instructions");
    assert!(advice(&report).is_empty(), "{report:#}");
}

#[test]
fn values_put_under_ycsb_a_are_to_be_skipped() {
    let report = advise(&c_workload("kv"), &["--workload=A"]);
    assert_eq!(report["write_intensive"], true);
    let value = at(&report, "craft_value", "kv/value.c", "value[i] = word;");
    assert_verdict(value, &["skip"]);
    assert_eq!(size_of_context(&value["contexts"][0]), 1024);
    let callers: Vec<_> = value["call_chain"].as_array().unwrap().iter().collect();
    assert_eq!(callers[0]["function"], "ycsb_put", "{value:#}");
    // The index writes a few hundredths of it: advice on the rest is about those at most.
    for other in advice(&report).into_iter().skip(1) {
        assert!(other["store_share"].as_f64() < Some(0.05), "{other:#}");
    }
}

#[test]
fn ycsb_b_c_and_d_get_no_advice() {
    let kv = c_workload("kv");
    for workload in ["B", "C", "D"] {
        let report = advise(&kv, &[&format!("--workload={workload}")]);
        assert_eq!(report["write_intensive"], false, "{workload}");
        assert!(advice(&report).is_empty(), "{workload}: {report:#}");
        assert_reason(finding(&report, "craft_value"), "not write-intensive");
    }
}

#[test]
fn messages_published_through_reused_slots_are_to_be_demoted() {
    let report = advise(&c_workload("ring"), &[]);
    let message = at(
        &report,
        "fill_msg",
        "ring/main.c",
        "message->payload[i] = word;",
    );
    assert_verdict(message, &["demote"]);
    // The last word is stored some instructions before the compare-and-swap.
    assert!(message["fence_distance"]["min"].as_u64().unwrap() < 100);
    assert_eq!(advice(&report).len(), 1, "{report:#}");
}

#[track_caller]
fn assert_sweeps(report: &Value, resid: &Value, psinv: &Value) {
    assert_eq!(report["write_intensive"], true);
    assert_verdict(resid, &["clean"]);
    assert_verdict(psinv, &["skip"]);
    assert!(psinv["store_share"].as_f64() > resid["store_share"].as_f64());
}

#[test]
fn residuals_are_to_be_cleaned_and_corrections_to_be_skipped() {
    let report = advise(&c_workload("stencil"), &[]);
    let resid = finding(&report, "resid");
    // A statement of two lines: either may carry the store.
    let first = source_line("workloads/stencil/sweeps.c", "rc[i1] = vc[i1]");
    let line = resid["line"].as_u64().unwrap() as u32;
    assert!((first..=first + 1).contains(&line), "{resid:#}");
    let psinv = at(&report, "psinv", "stencil/sweeps.c", "oc[i1] = corrected;");
    assert_sweeps(&report, resid, psinv);
}

#[test]
fn so_in_fortran() {
    let Some(program) = workload("stencil_f") else {
        return;
    };
    let report = advise(&program, &[]);
    let file = "workloads/stencil/sweeps_module.f90";
    let first = source_line(file, "r(i1, i2, i3) = v(i1, i2, i3)");
    let resid = finding(&report, "__sweeps_MOD_resid");
    let line = resid["line"].as_u64().unwrap() as u32;
    assert!((first..=first + 1).contains(&line), "{resid:#}");
    let store = source_line(file, "out(i1, i2, i3) = corrected");
    let psinv = finding_at(&report, "stencil/sweeps_module.f90", store);
    assert_sweeps(&report, resid, psinv);
}

#[test]
fn long_copies_are_worth_it_and_a_small_buffer_is_not() {
    let report = advise(&c_workload("fft"), &[]);
    let copy = at(&report, "copy_back", "fft/main.c", "xout[i] = scaled;");
    assert_verdict(copy, &["clean", "skip"]);
    for pass in findings(&report)
        .iter()
        .filter(|f| f["function"] == "fft_pass")
    {
        assert_verdict(pass, &["leave-alone"]);
    }
    assert_reason(finding(&report, "fft_pass"), "written again");
}

#[test]
fn random_counters_are_left_alone() {
    let report = advise(&c_workload("rank"), &[]);
    let rank = at(&report, "rank", "rank/rank.c", "key_buff[keys[i]]++;");
    assert_verdict(rank, &["leave-alone"]);
    assert_reason(rank, "Not sequential");
}

#[test]
fn a_template_for_operands_of_two_sizes_shows_both() {
    let report = advise(&c_workload("tensor"), &[]);
    let file = "tensor/tensor_evaluator.hpp";
    let store = source_line(&format!("workloads/{file}"), "std::memcpy(to, &packet");
    let sum = finding_at(&report, file, store);
    assert_eq!(findings(&report)[0], *sum, "the largest is the first");
    let inlined = sum["inlined"].to_string();
    assert!(
        inlined.contains("TensorEvaluator<tensor::scalar_sum_op>::run"),
        "{sum:#}"
    );
    assert_verdict(sum, &["clean"]);
    let sizes: Vec<u64> = sum["contexts"]
        .as_array()
        .unwrap()
        .iter()
        .map(size_of_context)
        .collect();
    assert!(sizes.contains(&240), "{sizes:?}");
    assert!(sizes.contains(&(16 << 20)), "{sizes:?}");
}

/// Smallest fence distance of the element's stores in listing 2.
fn fence_distance(reads: u64) -> u64 {
    let listing2 = c_workload("listing2");
    let report = advise(&listing2, &["--iters=100K", &format!("--reads={reads}")]);
    let element = at(
        &report,
        "write_element",
        "listings/listing2.c",
        "memset(element, byte",
    );
    element["fence_distance"]["min"].as_u64().unwrap()
}

/// Instructions of a repetition, counted without looking at any store.
fn instructions_a_repetition(reads: u64) -> u64 {
    let listing2 = c_workload("listing2");
    let run = |iters: &str| {
        let counts = advise_with(
            &["--scope", "count"],
            &listing2,
            &[iters, &format!("--reads={reads}")],
        );
        counts["instructions"].as_u64().unwrap()
    };
    // Two lengths, so that what comes before and after the repetitions cancels out.
    let hundred_k = run("--iters=200K") - run("--iters=100K");
    (hundred_k as f64 / f64::from(100 << 10)).round() as u64
}

#[test]
fn the_distance_to_a_fence_is_that_of_the_instructions_between() {
    let near = fence_distance(8);
    let far = fence_distance(64);
    let (short, long) = (instructions_a_repetition(8), instructions_a_repetition(64));
    assert_eq!(far - near, long - short);
    // After the last store come the reads; it has a part of the repetition behind it.
    assert!(near > 8 && near < short, "{near} of {short}");
    assert!(far > 64 && far < long, "{far} of {long}");
}

#[test]
fn messages_between_processes_are_judged_as_those_between_threads() {
    let folder = tempfile::tempdir().unwrap();
    let program = c_program(
        folder.path(),
        "messages",
        include_str!("programs/messages.c"),
        &["-pthread"],
    );
    let file = folder.path().join("ring");
    let line = source_line("crates/cli/tests/programs/messages.c", "/* message */");
    for args in [&["threads"][..], &["processes"], &["file", text(&file)]] {
        let report = advise(&program, args);
        let sent = finding_at(&report, "messages.c", line);
        assert_eq!(sent["function"], "send_message", "{args:?}");
        assert_verdict(sent, &["demote"]);
        assert_eq!(report["write_intensive"], true, "{args:?}: {report:#}");
    }
}

/// What a library keeps in its variables, which the loader has mapped.
#[test]
fn variables_of_libraries_are_no_allocations() {
    let folder = tempfile::tempdir().unwrap();
    let source = "#include <stdlib.h>\nint main(void) {\n    long sum = 0;\n    for (int i = 0; i < 300000; i++)\n        \
                  sum += random();\n    return sum == 0;\n}\n";
    let program = c_program(folder.path(), "random", source, &[]);
    let report = advise(&program, &[]);
    let kept = finding_at(&report, "random.c", 5);
    let allocations = kept["allocations"].as_array().unwrap();
    assert!(allocations.is_empty(), "{kept:#}");
}
