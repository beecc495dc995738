//! No text makes the importer panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use prestore_trace::import::parse_perf_script;

fuzz_target!(|data: &[u8]| {
    if let Ok(samples) = parse_perf_script(data) {
        let profile = samples.store_profile();
        assert!(profile.samples <= samples.samples.len() as u64);
    }
});
