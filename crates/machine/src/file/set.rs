//! A value that the user sets for one run: `core.count=10`.

use std::sync::Arc;

use super::node::{Kind, Node, Source, Table};
use super::read::read_value;
use crate::error::{Location, MachineError};

/// The tree of `KEY=VALUE`, to be laid over a machine. The value is written as in a file; a text needs
/// no quotes.
pub fn setting(text: &str) -> Result<Node, MachineError> {
    let wrong = || MachineError::Setting(text.into());
    let (key, value) = text.split_once('=').ok_or_else(wrong)?;
    let (key, value) = (key.trim(), value.trim());
    if value.is_empty() || key.split('.').any(|part| part.trim().is_empty()) {
        return Err(wrong());
    }
    let at = Location {
        file: format!("--set {text}").into(),
        line: None,
    };
    let source = Source {
        text: Arc::from("the command line"),
        assumed: false,
    };
    let mut node = read_value(&at.file, value, &source);
    for part in key.rsplit('.') {
        let table = Table {
            entries: vec![(part.trim().to_owned(), node)],
            whole: false,
        };
        node = Node {
            at: at.clone(),
            kind: Kind::Table(table),
        };
    }
    Ok(node)
}
