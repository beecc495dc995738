//! Ctrl-C: once for the program (the terminal sends it there too), twice to end the recording, a
//! third time to end this command as if it had not listened.

use std::sync::{Arc, Mutex, PoisonError};

use prestore_tracer::Interrupts;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::low_level::emulate_default_handler;

use crate::error::CliError;

static WATCHED: Mutex<Option<Arc<Interrupts>>> = Mutex::new(None);

/// Counts SIGINT and SIGTERM from the first call on instead of dying of them.
pub fn watch() -> Result<Arc<Interrupts>, CliError> {
    let mut watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(interrupts) = &*watched {
        return Ok(Arc::clone(interrupts));
    }
    let interrupts = Arc::new(Interrupts::default());
    let counted = Arc::clone(&interrupts);
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM])
        .map_err(|e| CliError::Failed(format!("signals cannot be watched: {e}")))?;
    std::thread::spawn(move || {
        for signal in signals.forever() {
            counted.add();
            match counted.count() {
                1 => eprintln!("prestore: waiting for the program to end; again to stop recording"),
                2 => eprintln!("prestore: recording is stopped; again to end at once"),
                // Fails only for signals without a default action.
                _ => drop(emulate_default_handler(signal)),
            }
        }
    });
    *watched = Some(Arc::clone(&interrupts));
    Ok(interrupts)
}
