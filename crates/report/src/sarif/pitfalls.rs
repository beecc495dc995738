//! Pitfalls as SARIF results.

use super::model::{Message, SarifResult};
use super::result::{WARNING_SHARE, location, whose};
use super::rules;
use crate::human::sentence;
use crate::pitfall::NamedPitfall;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// `pitfall` as a result; `None` where it has no source line. `occurrence` tells apart those of one
/// kind in one function, from 1.
pub fn result(pitfall: &NamedPitfall, occurrence: usize, cwd: Option<&str>) -> Option<SarifResult> {
    let (rule_index, rule_id) = rules::of_pitfall(pitfall.kind);
    pitfall.place.line?;
    let figures = json!({
        "kind": pitfall.kind,
        "executed": pitfall.executed,
        "affected": pitfall.affected,
        "cost_share": pitfall.cost_share,
    });
    let text = format!(
        "{} in {}. {}{}",
        sentence(pitfall.title()).trim_end_matches('.'),
        pitfall.place.function,
        sentence(&pitfall.reason),
        whose(pitfall.library.as_deref(), &pitfall.place),
    );
    Some(SarifResult {
        rule_id,
        rule_index,
        level: match pitfall.cost_share >= WARNING_SHARE && pitfall.library.is_none() {
            true => "warning",
            false => "note",
        },
        message: Message::new(text),
        locations: vec![location(&pitfall.place, None, cwd)],
        related_locations: Vec::new(),
        code_flows: Vec::new(),
        partial_fingerprints: BTreeMap::from([(
            "functionPitfall/v1",
            format!("{}:{rule_id}:{occurrence}", pitfall.place.function),
        )]),
        properties: match figures {
            Value::Object(map) => map,
            _ => Map::new(),
        },
    })
}
