//! The stable JSON forms; their schemas are in `schemas/`.

use serde::Serialize;

/// `value` as indented JSON with a final newline.
///
/// # Errors
/// Only where a value cannot be JSON; the types of this crate always can.
pub fn to_json<T: Serialize>(value: &T) -> Result<String, serde_json::Error> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    Ok(text)
}
