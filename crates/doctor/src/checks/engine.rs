use crate::check::{Check, Remedy, Status};
use crate::facts::Engine;

/// The instrumentation engine: without it nothing is recorded.
pub(crate) fn engine(engine: &Engine) -> Check {
    match engine {
        Engine::Found { version, path } => Check::ok(
            "engine",
            format!("DynamoRIO {version} at {}", path.display()),
        ),
        Engine::NotFound { looked_in, fix } => {
            let places: Vec<String> = looked_in
                .iter()
                .map(|path| path.display().to_string())
                .collect();
            Check::lack(
                "engine",
                Status::Missing,
                "programs cannot be recorded",
                format!("libdynamorio.so is in none of: {}", places.join(", ")),
                Remedy::Run(fix.clone()),
            )
        }
    }
}
