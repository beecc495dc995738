//! A finding as a SARIF result.

use super::model::{
    CodeFlow, Location, LogicalLocation, Message, PhysicalLocation, Region, SarifResult,
    ThreadFlow, ThreadFlowLocation,
};
use super::{rules, uri};
use crate::account::on_its_own_account;
use crate::finding::NamedFinding;
use crate::human::{percent, sentence};
use crate::place::NamedPlace;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// From this share of all writing, or of the time, on, advice is a warning; below, a note.
pub(super) const WARNING_SHARE: f64 = 0.1;

/// `finding` as a result; `None` where it advises nothing or has no source line. `occurrence`
/// tells apart findings of one function with one verdict, from 1.
pub fn result(finding: &NamedFinding, occurrence: usize, cwd: Option<&str>) -> Option<SarifResult> {
    let (rule_index, rule_id) = rules::index(finding.verdict)?;
    finding.place.line?;
    let vain = finding.gains_on_none_of();
    let of_program = finding.library.is_none();
    let pays = vain.is_none() && !finding.written_once;
    let level = if finding.write_share >= WARNING_SHARE && pays && of_program {
        "warning"
    } else {
        "note"
    };
    let verb = rule_id.rsplit('/').next().unwrap_or(rule_id);
    let there = match vain {
        Some(there) => Some(format!(
            "leave alone on {there}, where nothing tried gains; elsewhere "
        )),
        None if finding.written_once => {
            Some("leave alone in this run, which writes it once; else ".to_owned())
        }
        None => None,
    };
    let text = format!(
        "{}{verb}: {} does {} of the program's writing. {}{}",
        there.unwrap_or_default(),
        finding.name(),
        percent(finding.write_share),
        sentence(&finding.reason),
        whose(finding.library.as_deref(), &finding.place),
    );
    Some(SarifResult {
        rule_id,
        rule_index,
        level,
        message: Message::new(text),
        locations: vec![location(&finding.place, None, cwd)],
        related_locations: related(finding, cwd),
        code_flows: code_flows(finding, cwd),
        partial_fingerprints: BTreeMap::from([(
            "functionVerdict/v1",
            format!("{}:{verb}:{occurrence}", finding.place.function),
        )]),
        properties: properties(finding),
    })
}

/// To be added where a library does so on its own account, which the place calls.
pub(super) fn whose(library: Option<&str>, place: &NamedPlace) -> String {
    let called = library.filter(|l| *l != place.module);
    called.map_or_else(String::new, |l| format!(" {}.", on_its_own_account(l)))
}

pub(super) fn location(place: &NamedPlace, message: Option<&str>, cwd: Option<&str>) -> Location {
    let physical_location = match (&place.file, place.line) {
        (Some(file), Some(line)) => Some(PhysicalLocation {
            artifact_location: uri::artifact(file, cwd),
            region: Region { start_line: line },
        }),
        _ => None,
    };
    Location {
        physical_location,
        logical_locations: vec![LogicalLocation {
            name: place.function.clone(),
            kind: "function",
        }],
        message: message.map(Message::new),
    }
}

fn related(finding: &NamedFinding, cwd: Option<&str>) -> Vec<Location> {
    finding
        .allocations
        .iter()
        .filter(|a| a.place.line.is_some())
        .map(|a| location(&a.place, Some("data allocated here"), cwd))
        .collect()
}

/// Outermost call first, the place itself last. Viewers can follow only calls with a line; the
/// whole chain is in the properties.
fn code_flows(finding: &NamedFinding, cwd: Option<&str>) -> Vec<CodeFlow> {
    let callers = finding.callers();
    if !callers.iter().any(|c| c.line.is_some()) {
        return Vec::new();
    }
    let mut locations: Vec<ThreadFlowLocation> = callers
        .iter()
        .rev()
        .filter(|c| c.line.is_some())
        .map(|c| ThreadFlowLocation {
            location: location(c, Some("call"), cwd),
        })
        .collect();
    locations.push(ThreadFlowLocation {
        location: location(&finding.place, Some("write"), cwd),
    });
    vec![CodeFlow {
        message: Message::new("most frequent calling context"),
        thread_flows: vec![ThreadFlow { locations }],
    }]
}

fn properties(finding: &NamedFinding) -> Map<String, Value> {
    let chain: Vec<String> = finding
        .call_chain
        .iter()
        .map(|c| format!("{} ({})", c.function, c.module_offset()))
        .collect();
    let figures = json!({
        "finding": finding.number,
        "store_share": finding.store_share,
        "write_share": finding.write_share,
        "time_share": finding.time_share,
        "lines_to_memory": finding.lines_to_memory,
        "stretches": finding.stretches,
        "streams": finding.streams,
        "cache_limit": finding.cache_limit,
        "written_once": finding.written_once,
        "stores": finding.stores,
        "store_bytes": finding.store_bytes,
        "sequential_share": finding.sequential_share,
        "contexts": finding.contexts,
        "reread": finding.reread,
        "rewrite": finding.rewrite,
        "fence_distance": finding.fence_distance,
        "predicted": finding.predicted,
        "writer": finding.writer,
        "call_chain": chain,
    });
    match figures {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
