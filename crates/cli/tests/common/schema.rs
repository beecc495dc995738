//! JSON output against its schema.

use serde_json::Value;

use super::root;

/// `value` follows `schemas/SCHEMA`.
#[track_caller]
pub fn assert_valid(schema: &str, value: &Value) {
    let schema = std::fs::read_to_string(root().join("schemas").join(schema)).unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(value)
        .map(|e| format!("{}: {e}", e.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}\n{value:#}");
}
