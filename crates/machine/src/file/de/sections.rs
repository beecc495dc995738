//! The parts of a description, each read for itself, so that one wrong part does not hide another.

use std::cell::RefCell;

use serde::de::DeserializeOwned;

use super::error::{DeError, unknown};
use super::node::NodeDe;
use crate::error::{Location, Problem};
use crate::file::node::{Kind, Node};

/// Reads the parts of a tree and gathers what is wrong with them.
pub struct Sections<'a> {
    root: &'a Node,
    problems: RefCell<Vec<Problem>>,
}

/// What has a name beside it instead of in it.
pub trait Unnamed {
    /// Gives it its name.
    fn named(&mut self, name: &str);
}

impl<'a> Sections<'a> {
    /// The parts of `root`, which has these keys and no other.
    pub fn new(root: &'a Node, known: &[&str], problems: Vec<Problem>) -> Self {
        let mut problems = problems;
        for (name, node) in root.table().map_or(&[][..], |table| &table.entries) {
            if !known.contains(&name.as_str()) {
                problems.push(unknown("key", name, known).into_problem(&node.at, name));
            }
        }
        let problems = RefCell::new(problems);
        Self { root, problems }
    }

    /// The part at `key`; `None`: it is missing or wrong.
    pub fn required<T: DeserializeOwned>(&self, key: &'static str) -> Option<T> {
        match self.root.table().and_then(|table| table.get(key)) {
            Some(node) => self.part(node, key.into()),
            None => {
                let missing: DeError = serde::de::Error::missing_field(key);
                self.add(missing.into_problem(&self.root.at, ""));
                None
            }
        }
    }

    /// The parts that the table at `key` names, in their order, without those set to `"none"`.
    pub fn named<T: DeserializeOwned + Unnamed>(&self, key: &'static str) -> Vec<T> {
        let Some(node) = self.root.table().and_then(|table| table.get(key)) else {
            self.required::<String>(key);
            return Vec::new();
        };
        let Kind::Table(table) = &node.kind else {
            let what = format!("{} stands where a table of tables belongs", node.what());
            let help = format!("write [{key}.NAME]");
            self.add(DeError::new(what, help).into_problem(&node.at, key));
            return Vec::new();
        };
        let entries = table.entries.iter().filter(|(_, node)| !node.is_none());
        entries
            .filter_map(|(name, node)| {
                self.check_name(key, name, node);
                let mut part: T = self.part(node, format!("{key}.{name}"))?;
                part.named(name);
                Some(part)
            })
            .collect()
    }

    /// Adds a problem of `key` that only the parts together show.
    pub fn wrong(&self, key: &str, what: impl Into<String>, help: impl Into<String>) {
        self.add(Problem {
            at: self.root.near(key).at.clone(),
            key: key.into(),
            what: what.into(),
            help: help.into(),
        });
    }

    /// What was read.
    pub fn root(&self) -> &'a Node {
        self.root
    }

    /// Does the description say something of `key`, other than `"none"`?
    pub fn has(&self, key: &str) -> bool {
        self.root.has(key) && !self.root.near(key).is_none()
    }

    /// Is anything wrong so far?
    pub fn any_wrong(&self) -> bool {
        !self.problems.borrow().is_empty()
    }

    /// What is wrong, in the order of files and lines.
    pub fn into_problems(self) -> Vec<Problem> {
        let mut problems = self.problems.into_inner();
        let order = |at: &Location| (at.file.clone(), at.line);
        problems.sort_by_key(|problem| order(&problem.at));
        problems.dedup();
        problems
    }

    /// Names stand in `--set`, in results and in files without quotes.
    fn check_name(&self, key: &str, name: &str, node: &Node) {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if name.is_empty() || !name.chars().all(plain) {
            let help = "names are made of letters, digits, - and _";
            let error = DeError::new(format!("'{}' is no name", name.escape_debug()), help);
            self.add(error.into_problem(&node.at, key));
        }
    }

    fn part<T: DeserializeOwned>(&self, node: &'a Node, key: String) -> Option<T> {
        let from = NodeDe {
            node,
            key: key.clone(),
            variant: false,
            problems: &self.problems,
        };
        match T::deserialize(from) {
            Ok(part) => Some(part),
            Err(error) => {
                self.add(error.into_problem(&node.at, &key));
                None
            }
        }
    }

    fn add(&self, problem: Problem) {
        self.problems.borrow_mut().push(problem);
    }
}
