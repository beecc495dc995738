//! The log file around the results.

use super::model::{
    Driver, Invocation, Message, Notification, Rule, SarifLog, SarifResult, SarifRun, Tool,
};
use super::{pitfalls, result, rules, uri};
use crate::finding::NamedFinding;
use crate::human::count;
use crate::report::Report;
use crate::run::Run;
use prestore_dirtbuster::PitfallKind;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// `report` as a SARIF log with one run. Findings without a source line and those to be left alone
/// are not in it.
pub fn to_sarif(report: &Report) -> SarifLog {
    let cwd = report.run.cwd.as_deref();
    let mut results: Vec<SarifResult> = report
        .findings
        .iter()
        .filter_map(|f| result::result(f, occurrence(report, f), cwd))
        .collect();
    let mut seen: HashMap<(&str, PitfallKind), usize> = HashMap::new();
    results.extend(report.pitfalls.iter().filter_map(|p| {
        let n = seen.entry((&p.place.function, p.kind)).or_default();
        *n += 1;
        pitfalls::result(p, *n, cwd)
    }));
    log(
        rules::rules(),
        invocation(report),
        cwd,
        results,
        properties(report),
    )
}

/// A log with one run.
pub(super) fn log(
    rules: Vec<Rule>,
    invocation: Invocation,
    cwd: Option<&str>,
    results: Vec<SarifResult>,
    properties: Map<String, Value>,
) -> SarifLog {
    SarifLog {
        schema: SCHEMA,
        version: "2.1.0",
        runs: vec![SarifRun {
            tool: Tool {
                driver: Driver {
                    name: "prestore",
                    semantic_version: env!("CARGO_PKG_VERSION"),
                    rules,
                },
            },
            invocations: vec![invocation],
            original_uri_base_ids: cwd
                .map(|c| BTreeMap::from([(uri::SRCROOT, uri::base(c))]))
                .unwrap_or_default(),
            results,
            column_kind: "unicodeCodePoints",
            properties,
        }],
    }
}

/// Which finding of its function with its verdict `f` is, from 1, whatever order they are shown in.
fn occurrence(report: &Report, f: &NamedFinding) -> usize {
    let alike = |o: &&NamedFinding| {
        o.number <= f.number && o.verdict == f.verdict && o.place.function == f.place.function
    };
    report.findings.iter().filter(alike).count()
}

fn invocation(report: &Report) -> Invocation {
    let run = &report.run;
    let intensity = Notification {
        level: "note",
        message: Message::new(report.write_intensity()),
    };
    let mut all = vec![intensity];
    all.extend(notifications(run));
    Invocation {
        command_line: format!("prestore advise {}", run.again()),
        execution_successful: run.partial.is_none(),
        tool_execution_notifications: all,
    }
}

/// What a reader of the results must know of the run.
pub(super) fn notifications(run: &Run) -> Vec<Notification> {
    let mut notifications = Vec::new();
    let mut notify = |level, text: String| {
        notifications.push(Notification {
            level,
            message: Message::new(text),
        });
    };
    if let Some(why) = &run.partial {
        notify("warning", format!("partial: {why}"));
    }
    if run.dropped_events > 0 {
        let lost = count(run.dropped_events);
        notify(
            "warning",
            format!("{lost} events were dropped: figures are lower bounds"),
        );
    }
    for note in &run.notes {
        notify("note", note.clone());
    }
    notifications
}

fn properties(report: &Report) -> Map<String, Value> {
    let run = json!({
        "write_intensive": report.write_intensive,
        "totals": report.totals,
        "engine": report.run.engine,
        "scope": report.run.scope,
        "exactness": report.run.exactness,
        "dropped_events": report.run.dropped_events,
        "advice_without_line": report.advice_without_line(),
    });
    match run {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
