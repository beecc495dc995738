//! What `perf script` prints becomes samples.
#![allow(clippy::unwrap_used)] // helpers of tests, too

use std::io::{self, BufReader, Read};
use std::path::Path;

use prestore_trace::container::{Existing, ReadError, RecordingInfo, Trace};
use prestore_trace::import::{
    Frame, ImportError, SampleDirError, Samples, parse_perf_script, read_samples, write_samples,
};
use proptest::prelude::*;

fn fixture(name: &str) -> Samples {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let text = std::fs::read(dir.join(name)).unwrap();
    parse_perf_script(&text[..]).unwrap()
}

fn parse(text: &str) -> Samples {
    parse_perf_script(text.as_bytes()).unwrap()
}

#[test]
fn memory_samples_on_one_line() {
    let set = fixture("perf-mem-intel.txt");
    assert_eq!((set.samples.len(), set.skipped_lines), (4, 0));
    let load = &set.samples[0];
    assert_eq!(load.is_store, Some(false));
    assert_eq!((load.addr, load.weight), (Some(0x7f3a_1000_0040), Some(31)));
    let store = &set.samples[1];
    assert_eq!(store.is_store, Some(true));
    assert_eq!(
        (store.comm.as_str(), store.pid, store.period),
        ("store-loop", 4242, 1000)
    );
    assert_eq!(store.time_ns, Some(100_000_250_000));
    assert_eq!(store.addr, Some(0x7f3a_1000_0080));
    let at = Frame {
        ip: 0x40_1136,
        symbol: Some("fill".into()),
        offset: Some(0x10),
        module: Some("/home/user/store-loop".into()),
    };
    assert_eq!(store.at, at);
    assert_eq!(
        set.samples[3].at.symbol.as_deref(),
        Some("add"),
        "a name like a number"
    );
    assert_eq!(set.samples[3].at.ip, 0x40_1180);
}

#[test]
fn call_chains() {
    let set = fixture("perf-chains.txt");
    assert_eq!((set.samples.len(), set.skipped_lines), (3, 0));
    let first = &set.samples[0];
    assert_eq!(
        (first.comm.as_str(), first.pid, first.tid),
        ("kv server", 4300, 4302)
    );
    assert_eq!(first.addr, Some(0x7f3a_2000_0000));
    let name = "Table::put(std::string const&, unsigned long)";
    assert_eq!(first.at.symbol.as_deref(), Some(name));
    let callers: Vec<_> = first
        .callers
        .iter()
        .map(|f| f.symbol.as_deref().unwrap())
        .collect();
    assert_eq!(callers, ["run", "worker", "start_thread"]);
    assert_eq!(first.callers[0].module.as_deref(), Some("inlined"));
    assert_eq!(set.samples[2].callers[0].symbol, None);
}

#[test]
fn stores_by_function_and_context() {
    let profile = fixture("perf-chains.txt").store_profile();
    assert_eq!((profile.stores, profile.samples), (3500, 3));
    let put = &profile.functions[0];
    assert!((put.share - 3000.0 / 3500.0).abs() < 1e-9);
    assert_eq!(put.contexts[0].callers, ["run", "worker", "start_thread"]);
    assert_eq!(
        (put.contexts[0].stores, put.contexts[1].stores),
        (2000, 1000)
    );
    assert_eq!(profile.functions[1].symbol.as_deref(), Some("copy_page"));
    assert!(profile.limits[0].contains("estimates"));
}

#[test]
fn loads_are_no_stores() {
    let profile = fixture("perf-mem-intel.txt").store_profile();
    assert_eq!(profile.samples, 3);
    assert!(profile.limits.iter().any(|l| l.contains("no call chains")));
}

#[test]
fn events_that_are_no_accesses_are_said_to_be_left_out() {
    let set = fixture("perf-clock.txt");
    assert_eq!(set.samples[0].is_store, None);
    let profile = set.store_profile();
    assert_eq!(profile.stores, 0);
    assert!(
        profile
            .limits
            .iter()
            .any(|l| l.starts_with("2 samples do not say"))
    );
}

#[test]
fn lines_that_are_not_understood_are_named() {
    let set = fixture("perf-torn.txt");
    assert_eq!(set.samples.len(), 2);
    let lines: Vec<u64> = set.skipped.iter().map(|s| s.line).collect();
    assert_eq!(lines, [1, 2, 5, 7]);
    let limits = set.store_profile().limits;
    assert!(
        limits
            .iter()
            .any(|l| l.contains("4 lines") && l.contains("line 1:")),
        "{limits:?}"
    );
}

#[test]
fn fields_may_be_missing() {
    let no_address = parse("t 7 1.5: 10 cpu/mem-stores/P: 401136 fill+0x10 (/t)\n");
    assert_eq!(
        (no_address.samples[0].addr, no_address.samples[0].at.ip),
        (None, 0x40_1136)
    );
    let no_period = parse("t 7 1.5: mem-stores: 1000 401136 fill (/t)\n");
    let sample = &no_period.samples[0];
    assert_eq!((sample.period, sample.addr), (1, Some(0x1000)));
    assert_eq!(sample.at.ip, 0x40_1136);
}

#[test]
fn a_module_that_is_gone_is_a_module() {
    for (frame, symbol, module) in [
        (
            "fill+0x10 (/tmp/a b (deleted))",
            "fill",
            "/tmp/a b (deleted)",
        ),
        (
            "put(int) (/tmp/t (deleted))",
            "put(int)",
            "/tmp/t (deleted)",
        ),
        ("operator()(int)+0x1 (/t)", "operator()(int)", "/t"),
        ("fill (/tmp/odd)name)", "fill", "/tmp/odd)name"),
    ] {
        let set = parse(&format!("t 7 1.5: 10 mem-stores: 1000 401136 {frame}\n"));
        let at = &set.samples[0].at;
        let found = (at.symbol.as_deref(), at.module.as_deref());
        assert_eq!(found, (Some(symbol), Some(module)), "{frame}");
        assert_eq!(at.ip, 0x40_1136, "{frame}");
    }
}

#[test]
fn a_sample_cut_off_by_the_end_is_named() {
    let text = "t 7 1.5: 10 mem-stores: 1000 401136 fill (/t)\nt 7 1.6: 10 mem-stores:\n";
    let set = parse(text);
    assert_eq!(
        (set.samples.len(), set.skipped_lines, set.skipped[0].line),
        (1, 1, 3)
    );
}

#[test]
fn text_without_samples_is_an_error_that_says_what_is_expected() {
    let error = parse_perf_script(&b"hello\n"[..]).unwrap_err();
    assert!(matches!(error, ImportError::NoSamples { .. }));
    let message = error.to_string();
    assert!(
        message.contains("line 1") && message.contains("perf script -F"),
        "{message}"
    );
    assert!(parse_perf_script(&b""[..]).is_err());
}

/// Memory that a process reads, or a file of zeros, has no end of a line: it must not be kept in memory until there is one.
#[test]
fn a_line_without_an_end_is_an_error() {
    let endless = BufReader::new(io::repeat(0).take(1 << 28));
    let error = parse_perf_script(endless).unwrap_err();
    assert!(
        matches!(error, ImportError::LongLine { line: 1 }),
        "{error}"
    );
    let message = error.to_string();
    assert!(
        message.contains("line 1") && message.contains("perf script -F"),
        "{message}"
    );
    let sample = "t 7 1.5: 10 mem-stores: 1000 401136 fill (/t)\n";
    let behind = io::Cursor::new(sample).chain(io::repeat(b'x').take(1 << 28));
    let error = parse_perf_script(BufReader::new(behind)).unwrap_err();
    assert!(
        matches!(error, ImportError::LongLine { line: 2 }),
        "{error}"
    );
    // Names of C++ functions are long.
    let name = "f".repeat(500_000);
    let long = parse(&format!(
        "t 7 1.5: 10 mem-stores: 1000 401136 {name} (/t)\n"
    ));
    assert_eq!(long.samples[0].at.symbol.as_deref(), Some(name.as_str()));
}

#[test]
fn samples_are_kept_in_a_trace_directory_of_their_own_kind() {
    let dir = tempfile::tempdir().unwrap();
    let set = fixture("perf-chains.txt");
    write_samples(dir.path(), &set, RecordingInfo::default(), Existing::Keep).unwrap();
    assert_eq!(read_samples(dir.path()).unwrap(), set);
    let error = Trace::open(dir.path()).unwrap_err();
    assert!(matches!(error, ReadError::OnlySamples { .. }), "{error}");
    std::fs::write(dir.path().join("samples.jsonl"), "{}\n{").unwrap();
    let error = read_samples(dir.path()).unwrap_err();
    assert!(
        matches!(error, SampleDirError::Corrupt { line: 2, .. }),
        "{error}"
    );
}

/// Whole lines that are missing leave a file that reads well.
#[test]
fn samples_that_were_cut_or_changed_are_not_read_as_if_they_were_all() {
    let dir = tempfile::tempdir().unwrap();
    let set = fixture("perf-chains.txt");
    write_samples(dir.path(), &set, RecordingInfo::default(), Existing::Keep).unwrap();
    let file = dir.path().join("samples.jsonl");
    let whole = std::fs::read_to_string(&file).unwrap();
    let first = whole.lines().next().unwrap();
    for changed in [
        String::new(),
        format!("{first}\n"),
        whole.replacen(":4300", ":4301", 1),
        format!("{whole}{first}\n"),
    ] {
        assert_ne!(changed, whole);
        std::fs::write(&file, changed).unwrap();
        let error = read_samples(dir.path()).unwrap_err();
        assert!(
            matches!(error, SampleDirError::Changed { count: 3, .. }),
            "{error}"
        );
    }
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "[ \\ta-f0-9:./()|+x#\\nOPSTRE\u{e9}]{0,300}") {
        let _ = parse_perf_script(text.as_bytes());
    }
}
