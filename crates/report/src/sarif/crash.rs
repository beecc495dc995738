//! What a power cut may lose, as SARIF results.

use std::collections::{BTreeMap, HashMap};

use prestore_crash::FindingKind;
use serde_json::{Map, Value, json};

use super::log::{log, notifications};
use super::model::{Configuration, Invocation, Message, Rule, SarifLog, SarifResult};
use super::result::location;
use crate::crash::{CrashReport, NamedCrashFinding};
use crate::human::sentence;

/// Each kind's id, name, short and full description, help, level; in the order of the kinds.
const RULES: [(FindingKind, [&str; 6]); 5] = [
    (
        FindingKind::MissingFlush,
        [
            "prestore/missing-flush",
            "MissingFlush",
            "Data is stored to persistent memory and never flushed.",
            "The bytes are in a cache when the program ends, or its memory is freed: a power cut before \
             the line happens to be evicted loses them.",
            "Flush the line (clwb, clflushopt, pmem_persist) behind the last store to it, and fence.",
            "warning",
        ],
    ),
    (
        FindingKind::MissingFence,
        [
            "prestore/missing-fence",
            "MissingFence",
            "Data is flushed, and no fence of the thread follows.",
            "A flush is only begun by its instruction. Without a fence nobody knows when the data is in \
             memory, and later stores may be there before it.",
            "Add a store fence (sfence, pmem_drain) behind the last flush.",
            "warning",
        ],
    ),
    (
        FindingKind::Ordering,
        [
            "prestore/ordering",
            "WrongOrder",
            "Data is stored again between its flush and the fence, or is not persistent when a pointer to it is.",
            "The fence waits for what the flush took. What was stored there afterwards, and what a pointer that it makes \
             persistent points to, may be in memory or not.",
            "Store before the flush, or flush again before the fence; make data persistent before its pointers are stored.",
            "warning",
        ],
    ),
    (
        FindingKind::RedundantFlush,
        [
            "prestore/redundant-flush",
            "RedundantFlush",
            "A line is flushed of which nothing is to be flushed.",
            "Nothing was stored to the line since its last flush, or ever.",
            "Leave the flush out; if its address is wrong, flush the line that was meant.",
            "note",
        ],
    ),
    (
        FindingKind::RedundantFence,
        [
            "prestore/redundant-fence",
            "RedundantFence",
            "A store fence has nothing to wait for.",
            "Since its last fence the thread has flushed nothing and stored nothing to persistent memory.",
            "Leave the fence out.",
            "note",
        ],
    ),
];

/// `report` as a SARIF log with one run. Findings without a source line are not in it.
pub fn crash_to_sarif(report: &CrashReport) -> SarifLog {
    let cwd = report.run.cwd.as_deref();
    let mut seen: HashMap<(&str, FindingKind), usize> = HashMap::new();
    let results = report.findings.iter().filter_map(|f| {
        let n = seen.entry((&f.place.function, f.kind)).or_default();
        *n += 1;
        result(f, *n, cwd)
    });
    let results = results.collect();
    let invocation = Invocation {
        command_line: format!("prestore crash {}", report.run.again()),
        execution_successful: report.run.partial.is_none(),
        tool_execution_notifications: notifications(&report.run),
    };
    let properties = json!({
        "domain": report.domain,
        "image": report.image,
        "images": report.images,
        "findings_without_line": report.findings_without_line(),
    });
    log(rules(), invocation, cwd, results, map(properties))
}

fn rules() -> Vec<Rule> {
    let all = RULES.iter();
    all.map(|(_, [id, name, short, full, help, level])| Rule {
        id,
        name,
        short_description: Message::new(*short),
        full_description: Message::new(*full),
        help: Message::new(*help),
        default_configuration: Configuration { level },
    })
    .collect()
}

fn result(f: &NamedCrashFinding, occurrence: usize, cwd: Option<&str>) -> Option<SarifResult> {
    f.place.line?;
    let rule_index = RULES.iter().position(|(kind, _)| *kind == f.kind)?;
    let [rule_id, .., level] = RULES[rule_index].1;
    let near = [
        (&f.flush, "the flush"),
        (&f.fence, "the fence"),
        (&f.pointer, "the pointer"),
    ];
    let related = near.iter().filter_map(|(place, what)| {
        let place = place.as_ref().filter(|p| p.line.is_some())?;
        Some(location(place, Some(what), cwd))
    });
    let figures = json!({
        "kind": f.kind,
        "range": f.range,
        "count": f.count,
        "first": f.first,
    });
    let text = format!(
        "{} in {}. {}",
        sentence(f.title()).trim_end_matches('.'),
        f.place.function,
        sentence(&f.reason)
    );
    Some(SarifResult {
        rule_id,
        rule_index,
        level,
        message: Message::new(text),
        locations: vec![location(&f.place, None, cwd)],
        related_locations: related.collect(),
        code_flows: Vec::new(),
        partial_fingerprints: BTreeMap::from([(
            "functionCrash/v1",
            format!("{}:{rule_id}:{occurrence}", f.place.function),
        )]),
        properties: map(figures),
    })
}

fn map(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
