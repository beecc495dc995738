//! Variables of the environment that look like switches of Prestore and are none.

use prestore_machine::nearest;

use crate::{config, notice};

const PREFIX: &str = "PRESTORE_";

/// What the command reads itself.
const OWN: [&str; 6] = [
    config::VARIABLE,
    "PRESTORE_MACHINE_PATH",
    "PRESTORE_ENGINE_DIR",
    "PRESTORE_CHECK_CODE",
    "PRESTORE_VERIFY",
    "PRESTORE_STOPS",
];

/// What the project's build and tests read; whoever sets them runs the command, too.
const OF_BUILDS: [&str; 6] = [
    "PRESTORE_SOAK_",
    "PRESTORE_WRITE_",
    "PRESTORE_TEST_",
    "PRESTORE_ENGINE_FLAVOUR",
    "PRESTORE_CRASH_IMAGES",
    "PRESTORE_RUSTC_WRAPPER",
];

/// Tells of each variable that begins as a switch does and is none: it changes nothing, which its user does not expect.
pub fn tell_of_unknown() {
    let mut names: Vec<String> = std::env::vars_os()
        .filter_map(|(name, _)| name.into_string().ok())
        .collect();
    names.sort_unstable();
    for text in names.iter().filter_map(|name| unknown(name)) {
        notice::tell(&text);
    }
}

fn unknown(name: &str) -> Option<String> {
    let rest = name.strip_prefix(PREFIX)?;
    let known = || OWN.into_iter().chain(prestore_doctor::switch_names());
    if known().any(|k| k == name) || OF_BUILDS.iter().any(|prefix| name.starts_with(prefix)) {
        return None;
    }
    // All begin alike; what tells them apart is behind that.
    let likely = nearest(rest, known().filter_map(|k| k.strip_prefix(PREFIX)));
    let hint = likely.map_or_else(
        || "docs/man/environment.md lists the switches".to_owned(),
        |likely| format!("did you mean {PREFIX}{likely}?"),
    );
    Some(format!(
        "the environment has {name}, which is no switch of Prestore and changes nothing; {hint}"
    ))
}

#[cfg(test)]
mod tests {
    use super::unknown;

    #[test]
    fn switches_and_what_is_not_ours_are_silent() {
        let silent = [
            "PRESTORE_NO_CLWB",
            "PRESTORE_MACHINE_PATH",
            "PRESTORE_SOAK_SEED",
            "PATH",
            "MY_PRESTORE_NO_CLWBS",
        ];
        for name in silent {
            assert_eq!(unknown(name), None, "{name}");
        }
    }

    #[test]
    fn the_likely_switch_is_named() {
        let text = unknown("PRESTORE_NO_CLWBS").unwrap_or_default();
        assert!(text.ends_with("did you mean PRESTORE_NO_CLWB?"), "{text}");
        let text = unknown("PRESTORE_XYZ").unwrap_or_default();
        assert!(text.contains("environment.md"), "{text}");
    }
}
