//! One file: its text becomes a tree in which each number has its source.

use std::sync::Arc;

use toml::de::{DeTable, DeValue};

use super::node::{Kind, Leaf, Node, Source, Table, Value};
use crate::error::{Location, Problem};
use crate::quantity::number_and_unit;

/// Keys that say where the values of a table come from.
const SOURCE_KEYS: [&str; 2] = ["source", "assumed"];

/// Reads the text of a description. What is wrong is added to `problems`; what is not is returned.
pub fn read(file: &Arc<str>, text: &str, problems: &mut Vec<Problem>) -> Node {
    let mut reader = Reader {
        file,
        text,
        numbered: true,
        problems,
    };
    let (document, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let at = reader.at(error.span().map_or(0, |span| span.start));
        let what = error.message().replace('\n', ", ");
        reader.problem(&at, "", what, "this is not TOML (toml.io)");
    }
    reader.table(document.get_ref(), reader.at(0), "", None)
}

/// Reads a value that the user gave for one run: TOML, or a text without quotes.
pub fn read_value(file: &Arc<str>, text: &str, source: &Source) -> Node {
    let document = format!("value = {text}");
    let at = Location {
        file: file.clone(),
        line: None,
    };
    let mut problems = Vec::new();
    let mut reader = Reader {
        file,
        text: &document,
        numbered: false,
        problems: &mut problems,
    };
    let parsed = DeTable::parse(&document).ok();
    let value = parsed
        .as_ref()
        .and_then(|table| table.get_ref().get("value"));
    let node =
        value.map(|value| reader.sourced(value.get_ref(), at.clone(), "", Some(source), None));
    match node {
        Some(node) if problems.is_empty() => node,
        _ => Node {
            at,
            kind: Kind::Leaf(Leaf {
                value: Value::Text(text.into()),
                source: Some(source.clone()),
            }),
        },
    }
}

struct Reader<'a> {
    file: &'a Arc<str>,
    text: &'a str,
    /// Do its lines mean anything to the user?
    numbered: bool,
    problems: &'a mut Vec<Problem>,
}

impl Reader<'_> {
    fn at(&self, offset: usize) -> Location {
        let before = &self.text.as_bytes()[..offset.min(self.text.len())];
        let breaks = before.iter().filter(|byte| **byte == b'\n').count();
        Location {
            file: self.file.clone(),
            line: self
                .numbered
                .then(|| u32::try_from(breaks).unwrap_or(u32::MAX - 1) + 1),
        }
    }

    fn problem(&mut self, at: &Location, key: &str, what: impl Into<String>, help: &str) {
        self.problems.push(Problem {
            at: at.clone(),
            key: key.into(),
            what: what.into(),
            help: help.into(),
        });
    }

    /// A table, or the value that a table with the key `is` describes. `source`: of the table around.
    fn table(&mut self, table: &DeTable, at: Location, key: &str, source: Option<&Source>) -> Node {
        let own = self.own_source(table, &at, key);
        let source = own.as_ref().or(source);
        if let Some(value) = table.get("is") {
            for (name, _) in table.iter() {
                let name = name.get_ref();
                if name != "is" && !SOURCE_KEYS.contains(&name.as_ref()) {
                    let what = format!("unknown key '{name}' beside `is`");
                    self.problem(&at, key, what, "a value has `is` and `source` or `assumed`");
                }
            }
            return self.sourced(value.get_ref(), at, key, own.as_ref(), source);
        }
        let mut keys: Vec<_> = table.iter().collect();
        keys.sort_by_key(|(name, _)| name.span().start);
        let mut entries = Vec::with_capacity(keys.len());
        for (name, value) in keys {
            let text = name.get_ref().to_string();
            if SOURCE_KEYS.contains(&text.as_str()) {
                continue;
            }
            let inner = join(key, &text);
            let node = self.value(value.get_ref(), self.at(name.span().start), &inner, source);
            entries.push((text, node));
        }
        let kind = Kind::Table(Table {
            entries,
            whole: false,
        });
        Node { at, kind }
    }

    fn own_source(&mut self, table: &DeTable, at: &Location, key: &str) -> Option<Source> {
        let mut found = None;
        for name in SOURCE_KEYS {
            let Some(value) = table.get(name) else {
                continue;
            };
            let at = Location {
                line: self.at(value.span().start).line,
                ..at.clone()
            };
            let text = value.get_ref().as_str().unwrap_or_default();
            if text.trim().is_empty() {
                let help = "write as text where the value comes from";
                self.problem(&at, &join(key, name), "is not a text", help);
            }
            if found.is_some() {
                let help = "give the one that holds";
                self.problem(&at, key, "has both `source` and `assumed`", help);
            }
            found = Some(Source {
                text: text.into(),
                assumed: name == "assumed",
            });
        }
        found
    }

    fn value(&mut self, value: &DeValue, at: Location, key: &str, source: Option<&Source>) -> Node {
        self.sourced(value, at, key, None, source)
    }

    /// A value with a source of its `own` perhaps, in a table with a `source` perhaps.
    fn sourced(
        &mut self,
        value: &DeValue,
        at: Location,
        key: &str,
        own: Option<&Source>,
        source: Option<&Source>,
    ) -> Node {
        let value = match value {
            DeValue::Table(table) => return self.table(table, at, key, own.or(source)),
            DeValue::Array(items) => {
                let items = items
                    .iter()
                    .enumerate()
                    .map(|(index, item)| {
                        let at = self.at(item.span().start);
                        let key = format!("{key}[{index}]");
                        self.sourced(item.get_ref(), at, &key, own, source)
                    })
                    .collect();
                let kind = Kind::List(items);
                return Node { at, kind };
            }
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Integer(number) => {
                match i64::from_str_radix(number.as_str(), number.radix()) {
                    Ok(number) => Value::Whole(number),
                    Err(_) => {
                        self.problem(&at, key, "is too large a number", "numbers have 64 bits");
                        Value::Whole(0)
                    }
                }
            }
            DeValue::Float(number) => match number.as_str().parse::<f64>() {
                Ok(number) if number.is_finite() => Value::Real(number),
                _ => {
                    self.problem(&at, key, "is not a finite number", "give its value");
                    Value::Real(0.0)
                }
            },
            DeValue::Boolean(flag) => Value::Flag(*flag),
            DeValue::Datetime(_) => {
                self.problem(&at, key, "is a date", "nothing here is a date: use quotes");
                Value::Text(String::new())
            }
        };
        let number = match &value {
            Value::Whole(_) | Value::Real(_) => true,
            Value::Text(text) => number_and_unit(text).is_some(),
            Value::Flag(_) => false,
        };
        // The source of a table is that of its numbers; a word has one only if it says so.
        let source = own.or(source.filter(|_| number));
        if number && source.is_none() {
            let what = format!("{value} has no source");
            let help = "write { is = …, source = \"where it is published\" } (or assumed = \"why\"), or \
                        give the table around it a `source`";
            self.problem(&at, key, what, help);
        }
        let source = source.cloned();
        let kind = Kind::Leaf(Leaf { value, source });
        Node { at, kind }
    }
}

/// `a.b`.
pub fn join(outer: &str, inner: &str) -> String {
    if outer.is_empty() {
        inner.into()
    } else {
        format!("{outer}.{inner}")
    }
}
