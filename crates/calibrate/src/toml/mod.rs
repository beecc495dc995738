//! The machine file.

mod caches;
mod core;
mod file;
mod lines;
mod memory;
mod stores;

use self::caches::{caches, directory};
use self::core::core;
use self::file::{File, plain, quoted};
use self::memory::memory;
use crate::calibration::Calibration;

/// The host as a machine description (`docs/adding-a-machine.md`): each number with how it was measured and how far
/// the runs lie apart, or with why it is assumed.
pub fn to_toml(host: &Calibration) -> String {
    let mut file = File(String::new());
    file.line("# Written by `prestore machine calibrate`; measure again rather than edit.");
    for warning in &host.warnings {
        file.line(&format!("# {}", plain(warning)));
    }
    let description = format!("This host: {}, {} CPUs, as measured", host.cpu, host.cpus);
    file.line(&format!("description = {}", quoted(&description)));
    let line = host.caches.first().map_or(64, |cache| cache.line);
    file.stated(
        "line",
        &format!("{line} B"),
        "the system's description of the caches",
    );
    core(&mut file, host);
    caches(&mut file, host);
    directory(&mut file, host);
    memory(&mut file, host);
    file.line("\n[placement]\ndefault_memory = \"dram\"");
    file.0
}
