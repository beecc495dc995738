//! Output against its published schemas.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::schema::{assert_valid, sarif_schema};
use prestore_dirtbuster::Findings;
use prestore_report::{Report, Run, SiteKind, SiteStores, StoresByFunction, to_json, to_sarif};
use prestore_trace::SiteId;
use serde_json::{Value, json};
use std::path::Path;

fn schema(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../schemas")
        .join(name);
    common::schema::read(&path)
}

fn value<T: serde::Serialize>(t: &T) -> Value {
    serde_json::from_str(&to_json(t).unwrap()).unwrap()
}

fn stores() -> StoresByFunction {
    let counts = vec![SiteStores {
        site: SiteId(10),
        call_chain: vec![SiteId(11), SiteId(12)],
        chain_kind: SiteKind::Instruction,
        stores: 100,
    }];
    StoresByFunction::new(counts, None, common::run(), &mut common::symbols())
}

#[test]
fn advice_is_as_its_schema_says() {
    let schema = schema("advise.schema.json");
    assert_valid(&schema, &value(&common::report()));
    let nothing = Report::new(
        &Findings::default(),
        Run::default(),
        0.1,
        &mut common::symbols(),
    );
    assert_valid(&schema, &value(&nothing));
}

#[test]
fn the_schema_refuses_a_report_without_a_promised_key() {
    let schema = schema("advise.schema.json");
    let validator = jsonschema::validator_for(&schema).unwrap();
    let whole = value(&common::report());
    for key in [
        "function",
        "file",
        "line",
        "verdict",
        "reason",
        "store_share",
        "sequential_share",
        "contexts",
        "fence_distance",
        "predicted",
    ] {
        let mut without = whole.clone();
        without["findings"][0].as_object_mut().unwrap().remove(key);
        assert!(!validator.is_valid(&without), "{key} is not required");
    }
    let mut wrong = whole;
    wrong["findings"][0]["verdict"] = json!("flush");
    assert!(!validator.is_valid(&wrong));
}

#[test]
fn promised_values_are_spelt_as_promised() {
    let v = value(&common::report());
    let f = &v["findings"][0];
    assert_eq!(f["verdict"], "clean");
    assert_eq!(v["findings"][3]["verdict"], "leave-alone");
    assert_eq!(f["contexts"][0]["reread"], 2.0);
    assert_eq!(f["contexts"][0]["rewrite"], Value::Null);
    assert_eq!(f["predicted"], json!([]));
    assert_eq!(
        v["findings"][1]["fence_distance"],
        json!({"min": 12, "median": 23_800})
    );
    assert_eq!(v["findings"][2]["file"], Value::Null);
    assert_eq!(v["dropped_events"], 0);
    insta::assert_snapshot!(to_json(&common::report().findings[1]).unwrap());
}

#[test]
fn a_report_can_be_read_back() {
    let report = common::report();
    let back: Report = serde_json::from_str(&to_json(&report).unwrap()).unwrap();
    assert_eq!(back, report);
}

#[test]
fn stores_are_as_their_schema_says() {
    let v = value(&stores());
    assert_valid(&schema("stores.schema.json"), &v);
    assert_eq!(v["functions"][0]["callers"][0]["function"], "put");
}

#[test]
fn the_doctor_schema_is_a_schema() {
    let schema = schema("doctor.schema.json");
    assert_valid(
        &schema,
        &json!({"schema_version": 1, "checks": [
            {"name": "clwb", "status": "ok", "detail": "present", "cause": null, "fix": null}
        ]}),
    );
    let validator = jsonschema::validator_for(&schema).unwrap();
    assert!(!validator.is_valid(&json!({"schema_version": 1, "checks": [
        {"name": "clwb", "status": "broken", "detail": "", "cause": null, "fix": null}
    ]})));
}

#[test]
fn sarif_is_as_the_standard_says() {
    let schema = sarif_schema();
    assert_valid(&schema, &value(&to_sarif(&common::report())));
    let nothing = Report::new(
        &Findings::default(),
        Run::default(),
        0.1,
        &mut common::symbols(),
    );
    assert_valid(&schema, &value(&to_sarif(&nothing)));
}

#[test]
fn sarif_has_advice_with_lines_only() {
    let report = common::report();
    let v = value(&to_sarif(&report));
    let results = v["runs"][0]["results"].as_array().unwrap();
    let rules: Vec<_> = results
        .iter()
        .map(|r| r["ruleId"].as_str().unwrap())
        .collect();
    let pitfall = "prestore/flush-of-rewritten-line";
    assert_eq!(rules, ["prestore/clean", "prestore/skip", pitfall]);
    assert_eq!(report.advice_without_line(), 1);
    assert_eq!(v["runs"][0]["properties"]["advice_without_line"], 1);
    for r in results {
        let place = &r["locations"][0]["physicalLocation"];
        assert!(place["region"]["startLine"].as_u64().unwrap() > 0);
        assert_eq!(place["artifactLocation"]["uriBaseId"], "SRCROOT");
    }
    insta::assert_snapshot!(to_json(&results[0]).unwrap());
}

#[test]
fn sarif_tells_findings_of_one_function_apart() {
    let mut findings = common::findings();
    findings.findings.push(findings.findings[0].clone());
    let report = Report::new(&findings, common::run(), 0.1, &mut common::symbols());
    let v = value(&to_sarif(&report));
    let results = v["runs"][0]["results"].as_array().unwrap();
    assert_ne!(
        results[0]["partialFingerprints"],
        results[2]["partialFingerprints"]
    );
}
