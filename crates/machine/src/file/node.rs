//! The tree of a description: tables, lists and values.

use std::fmt;
use std::sync::Arc;

use crate::error::Location;

/// A part of a description, and where it stands.
#[derive(Clone, Debug)]
pub struct Node {
    /// Line of its key.
    pub at: Location,
    /// What it is.
    pub kind: Kind,
}

/// What a node is.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A value.
    Leaf(Leaf),
    /// Keys with values.
    Table(Table),
    /// Values without keys.
    List(Vec<Node>),
}

/// A value and where it comes from.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// The value.
    pub value: Value,
    /// Its source; every number has one.
    pub source: Option<Source>,
}

/// A value as it is written.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A word, a text, or a number with its unit.
    Text(String),
    /// A whole number.
    Whole(i64),
    /// A number with a decimal point.
    Real(f64),
    /// Yes or no.
    Flag(bool),
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The publication or data; of an assumption, the rationale.
    pub text: Arc<str>,
    /// Nobody has published it.
    pub assumed: bool,
}

/// Keys in the order of the file.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Keys and values; no key twice.
    pub entries: Vec<(String, Node)>,
    /// Takes the place of what is inherited instead of being laid over it.
    pub whole: bool,
}

impl Table {
    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&Node> {
        let entry = self.entries.iter().find(|(name, _)| name == key)?;
        Some(&entry.1)
    }

    /// Takes `key` out.
    pub fn remove(&mut self, key: &str) -> Option<Node> {
        let index = self.entries.iter().position(|(name, _)| name == key)?;
        Some(self.entries.remove(index).1)
    }
}

impl Node {
    /// The table that it is.
    pub fn table(&self) -> Option<&Table> {
        match &self.kind {
            Kind::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The text that it is.
    pub fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Leaf(Leaf {
                value: Value::Text(text),
                ..
            }) => Some(text),
            _ => None,
        }
    }

    /// Takes away what is inherited, `"none"`.
    pub fn is_none(&self) -> bool {
        self.text() == Some("none")
    }

    /// The node at `key` (`caches.L2.latency`), or the nearest table around where it would be.
    pub fn near(&self, key: &str) -> &Self {
        let mut node = self;
        for part in key.split('.') {
            match node.inner(part) {
                Some(inner) => node = inner,
                None => break,
            }
        }
        node
    }

    /// Is there something at `key`?
    pub fn has(&self, key: &str) -> bool {
        key.split('.').try_fold(self, Self::inner).is_some()
    }

    /// What `part` of a key leads to: `name`, or `name[0]` in a list.
    fn inner(&self, part: &str) -> Option<&Self> {
        let (name, index) = match part.split_once('[') {
            Some((name, rest)) => (name, Some(rest.trim_end_matches(']').parse().ok()?)),
            None => (part, None),
        };
        let node = self.table()?.get(name)?;
        match (&node.kind, index) {
            (_, None) => Some(node),
            (Kind::List(items), Some::<usize>(index)) => items.get(index),
            _ => None,
        }
    }

    /// `a text`, `a table`: what it is, for an error.
    pub fn what(&self) -> String {
        match &self.kind {
            Kind::Leaf(leaf) => match &leaf.value {
                Value::Text(text) => format!("'{text}'"),
                other => other.to_string(),
            },
            Kind::Table(_) => "a table".into(),
            Kind::List(_) => "a list".into(),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Whole(number) => write!(f, "{number}"),
            Self::Real(number) => write!(f, "{number}"),
            Self::Flag(flag) => write!(f, "{flag}"),
        }
    }
}
