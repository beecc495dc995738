//! No text makes the loader panic, and what it takes it takes again from its own output.
#![no_main]

use libfuzzer_sys::fuzz_target;
use prestore_machine::Machines;

fuzz_target!(|text: &str| {
    let machines = Machines::shipped();
    if let Ok(described) = machines.parse("any.toml", text) {
        let again = machines.parse("any.toml", &described.to_toml()).expect("its own output");
        assert_eq!(again.machine(), described.machine());
    }
});
