//! For programs; the schema is `schemas/machine-show.schema.json`.

use serde::Serialize;

use super::{Description, Entry, Written};

/// Version of the form.
const SCHEMA_VERSION: u32 = 1;

/// A machine as JSON.
#[derive(Debug, Serialize)]
pub struct DescriptionJson {
    schema_version: u32,
    name: String,
    description: String,
    file: String,
    values: Vec<ValueJson>,
}

#[derive(Debug, Serialize)]
struct ValueJson {
    key: String,
    value: AnyJson,
    unit: Option<String>,
    source: Option<String>,
    assumed: bool,
    file: String,
    line: Option<u32>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum AnyJson {
    Whole(i64),
    Real(f64),
    Word(String),
    Flag(bool),
}

impl Description {
    /// Its values, to be printed as JSON.
    pub fn to_json(&self) -> DescriptionJson {
        DescriptionJson {
            schema_version: SCHEMA_VERSION,
            name: self.machine().name.clone(),
            description: self.machine().description.clone(),
            file: self.file().into(),
            values: self.entries().into_iter().map(value).collect(),
        }
    }
}

fn value(entry: Entry) -> ValueJson {
    let (value, unit) = match entry.value {
        Written::Number(number, unit) => (number_json(number), unit),
        Written::Word(word) => (AnyJson::Word(word), None),
        Written::Flag(flag) => (AnyJson::Flag(flag), None),
    };
    ValueJson {
        key: entry.key,
        value,
        unit,
        assumed: entry.source.as_ref().is_some_and(|source| source.assumed),
        source: entry.source.map(|source| source.text.to_string()),
        file: entry.at.file.to_string(),
        line: entry.at.line,
    }
}

/// Counts without a decimal point.
fn number_json(number: f64) -> AnyJson {
    let whole = number as i64;
    if whole as f64 == number {
        AnyJson::Whole(whole)
    } else {
        AnyJson::Real(number)
    }
}
