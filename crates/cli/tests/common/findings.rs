//! Looking into the JSON of `prestore advise`.

use serde_json::Value;

/// All findings, largest share of the stores first.
pub fn findings(report: &Value) -> &[Value] {
    report["findings"].as_array().unwrap()
}

/// The findings that advise something.
pub fn advice(report: &Value) -> Vec<&Value> {
    let all = findings(report).iter();
    all.filter(|f| f["verdict"] != "leave-alone").collect()
}

/// The largest finding in the function of this name.
#[track_caller]
pub fn finding<'a>(report: &'a Value, function: &str) -> &'a Value {
    let found = findings(report).iter().find(|f| f["function"] == function);
    found.unwrap_or_else(|| panic!("no finding in {function}: {report:#}"))
}

/// The largest finding at this place.
#[track_caller]
pub fn finding_at<'a>(report: &'a Value, file: &str, line: u32) -> &'a Value {
    let here = |f: &&Value| {
        f["line"] == line && f["file"].as_str().is_some_and(|name| name.ends_with(file))
    };
    let found = findings(report).iter().find(here);
    found.unwrap_or_else(|| panic!("no finding at {file}:{line}: {report:#}"))
}
