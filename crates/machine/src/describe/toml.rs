//! As one file, with nothing inherited: to keep, or to begin a machine of one's own with.

use std::fmt::Write;

use toml::Value as Toml;

use super::Description;
use crate::file::{Kind, Leaf, Node, Value, join};

impl Description {
    /// The whole machine as a file of its own. It describes the same machine.
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        table(&self.tree, "", &mut text);
        text
    }
}

/// Names need no quotes: those of keys are known, and those of parts are checked.
///
/// Values first: what stands below the heading of an inner table belongs to that.
fn table(node: &Node, key: &str, text: &mut String) {
    let entries = node.table().map_or(&[][..], |table| &table.entries);
    for (name, inner) in entries.iter().filter(|(_, inner)| inner.table().is_none()) {
        let value = inline(inner);
        let at = inner.at.to_string().replace(char::is_control, " ");
        let _ = writeln!(text, "{name} = {value} # {at}");
    }
    for (name, inner) in entries.iter().filter(|(_, inner)| inner.table().is_some()) {
        let key = join(key, name);
        let _ = writeln!(text, "\n[{key}]");
        table(inner, &key, text);
    }
}

fn inline(node: &Node) -> String {
    match &node.kind {
        Kind::Leaf(leaf) => value(leaf),
        Kind::List(items) => {
            let items: Vec<String> = items.iter().map(inline).collect();
            format!("[{}]", items.join(", "))
        }
        Kind::Table(table) => {
            let entries = table.entries.iter();
            let entries: Vec<String> = entries
                .map(|(name, inner)| format!("{name} = {}", inline(inner)))
                .collect();
            format!("{{ {} }}", entries.join(", "))
        }
    }
}

fn value(leaf: &Leaf) -> String {
    let value = match &leaf.value {
        Value::Text(text) => Toml::String(text.clone()),
        Value::Whole(number) => Toml::Integer(*number),
        Value::Real(number) => Toml::Float(*number),
        Value::Flag(flag) => Toml::Boolean(*flag),
    };
    let Some(source) = &leaf.source else {
        return value.to_string();
    };
    let name = if source.assumed { "assumed" } else { "source" };
    let text = Toml::String(source.text.to_string());
    format!("{{ is = {value}, {name} = {text} }}")
}
