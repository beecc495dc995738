//! Ctrl-C: once for the program (the terminal sends it there too), twice to end the recording.

use std::sync::Arc;

use prestore_tracer::Interrupts;
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::error::CliError;

/// Counts SIGINT and SIGTERM from now on instead of dying of them.
pub fn watch() -> Result<Arc<Interrupts>, CliError> {
    let interrupts = Arc::new(Interrupts::default());
    let counted = Arc::clone(&interrupts);
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM])
        .map_err(|e| CliError::Failed(format!("signals cannot be watched: {e}")))?;
    std::thread::spawn(move || {
        for _ in signals.forever() {
            counted.add();
            if counted.count() == 1 {
                eprintln!("prestore: waiting for the program to end; again to stop recording");
            }
        }
    });
    Ok(interrupts)
}
