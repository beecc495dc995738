//! A machine as `prestore machine show` prints it: each value with its source.

mod json;
mod text;
mod toml;

use std::sync::Arc;

use crate::Machine;
use crate::error::Location;
use crate::file::{Kind, Node, Source, Value, join};
use crate::quantity::number_and_unit;

pub use json::DescriptionJson;

/// A machine and where each of its values comes from.
#[derive(Clone, Debug)]
pub struct Description {
    machine: Machine,
    file: Arc<str>,
    tree: Node,
}

/// A value of a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its key, `caches.L2.latency`: what `--set` takes.
    pub key: String,
    /// As it is written.
    pub value: Written,
    /// Its source; every number has one.
    pub source: Option<Origin>,
    /// The file that has the last word on it.
    pub at: Location,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Written {
    /// A number, with its unit if it is no count.
    Number(f64, Option<String>),
    /// A word, or a text.
    Word(String),
    /// Yes or no.
    Flag(bool),
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The publication or data; of an assumption, the rationale.
    pub text: Arc<str>,
    /// Nobody has published it.
    pub assumed: bool,
}

impl Description {
    pub(crate) fn new(machine: Machine, file: Arc<str>, tree: Node) -> Self {
        Self {
            machine,
            file,
            tree,
        }
    }

    /// The machine.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The machine alone.
    pub fn into_machine(self) -> Machine {
        self.machine
    }

    /// Its own file; of a shipped one its path in the source tree.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// All its values in the order of the files.
    pub fn entries(&self) -> Vec<Entry> {
        let mut entries = Vec::new();
        add(&self.tree, String::new(), &mut entries);
        entries
    }
}

fn add(node: &Node, key: String, entries: &mut Vec<Entry>) {
    match &node.kind {
        Kind::Table(table) => {
            for (name, inner) in &table.entries {
                add(inner, join(&key, name), entries);
            }
        }
        Kind::List(items) => {
            for (index, item) in items.iter().enumerate() {
                add(item, format!("{key}[{index}]"), entries);
            }
        }
        Kind::Leaf(leaf) => entries.push(Entry {
            key,
            value: written(&leaf.value),
            source: leaf.source.as_ref().map(origin),
            at: node.at.clone(),
        }),
    }
}

fn written(value: &Value) -> Written {
    match value {
        Value::Whole(number) => Written::Number(*number as f64, None),
        Value::Real(number) => Written::Number(*number, None),
        Value::Flag(flag) => Written::Flag(*flag),
        Value::Text(text) => match number_and_unit(text) {
            Some((number, unit)) => Written::Number(number, Some(unit.into())),
            None => Written::Word(text.clone()),
        },
    }
}

fn origin(source: &Source) -> Origin {
    Origin {
        text: source.text.clone(),
        assumed: source.assumed,
    }
}
