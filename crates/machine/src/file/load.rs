//! One machine from all the files it is made of.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::merge::merge;
use super::node::{Kind, Node};
use super::read::read;
use super::search::{Found, Search, What};
use super::set::setting;
use crate::error::{Location, MachineError, Problem};

/// A machine's tree, all that it inherits in it.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The name it goes by.
    pub name: String,
    /// Its own file.
    pub file: Arc<str>,
    /// The tree; no `inherits` in it, devices in place of their names.
    pub tree: Node,
    /// What is wrong so far.
    pub problems: Vec<Problem>,
    /// Is a file that it is made of missing? Then much else seems to be missing too.
    pub incomplete: bool,
}

/// Files that inherit from each other in a row; more must be a mistake.
const DEEPEST: usize = 16;

/// Loads `found`, and lays `settings` (`core.count=10`) over it.
///
/// # Errors
///
/// A setting is not KEY=VALUE. All else that is wrong is in [`Loaded::problems`].
pub fn load(search: &Search, found: Found, settings: &[&str]) -> Result<Loaded, MachineError> {
    let settings: Vec<Node> = settings
        .iter()
        .map(|text| setting(text))
        .collect::<Result<_, _>>()?;
    let mut loader = Loader {
        search,
        problems: Vec::new(),
        incomplete: false,
        chain: Vec::new(),
    };
    let mut tree = loader.file(What::Machine, &found);
    for mut over in settings {
        loader.expand_memories(&mut over, &found);
        tree = merge(tree, over);
    }
    Ok(Loaded {
        name: found.name,
        file: found.file,
        tree,
        problems: loader.problems,
        incomplete: loader.incomplete,
    })
}

struct Loader<'a> {
    search: &'a Search,
    problems: Vec<Problem>,
    incomplete: bool,
    /// Files on the way from the machine to the one being read.
    chain: Vec<PathBuf>,
}

impl Loader<'_> {
    /// The tree of a file and all it inherits.
    fn file(&mut self, what: What, found: &Found) -> Node {
        self.chain.push(identity(found));
        let mut tree = read(&found.file, &found.text, &mut self.problems);
        match what {
            What::Machine => self.expand_memories(&mut tree, found),
            What::Device => self.expand_inside(&mut tree, found),
        }
        let tree = self.inherit(what, tree, found);
        self.chain.pop();
        tree
    }

    /// Lays `tree` over what its key `inherits` names.
    fn inherit(&mut self, what: What, mut tree: Node, found: &Found) -> Node {
        let Kind::Table(table) = &mut tree.kind else {
            return tree;
        };
        let Some(name) = table.remove("inherits") else {
            return tree;
        };
        match self.named(what, &name, found) {
            Some(base) => merge(base, tree),
            None => {
                self.incomplete = true;
                tree
            }
        }
    }

    /// The tree that `name`, a node of `by`, names.
    fn named(&mut self, what: What, name: &Node, by: &Found) -> Option<Node> {
        let Some(text) = name.text() else {
            let what = format!("{} is not a name", name.what());
            self.problem(&name.at, "inherits", what, "give the name of a file");
            return None;
        };
        let found = match self.search.find(what, text, Some(by)) {
            Ok(found) => found,
            Err(error) => {
                self.problem(&name.at, "", error.to_string(), "");
                return None;
            }
        };
        if self.chain.contains(&identity(&found)) || self.chain.len() >= DEEPEST {
            let what = format!("'{text}' is made of itself, by way of {}", by.file);
            self.problem(&name.at, "", what, "take one of the `inherits` out");
            return None;
        }
        Some(self.file(what, &found))
    }

    /// Puts devices in place of their names in all memories of a machine.
    fn expand_memories(&mut self, tree: &mut Node, found: &Found) {
        let Some(memories) = inner(tree, "memories") else {
            return;
        };
        let Kind::Table(memories) = &mut memories.kind else {
            return;
        };
        for (_, memory) in &mut memories.entries {
            if let Some(device) = inner(memory, "device") {
                self.expand(device, found);
            }
        }
    }

    /// A device's name, or a table that inherits from one, becomes the whole device.
    fn expand(&mut self, device: &mut Node, found: &Found) {
        if device.is_none() {
            return;
        }
        if device.text().is_some() {
            match self.named(What::Device, device, found) {
                Some(tree) => *device = replacing(tree),
                None => self.incomplete = true,
            }
            return;
        }
        self.expand_inside(device, found);
        if device.has("inherits") {
            *device = replacing(self.inherit(What::Device, device.clone(), found));
        }
    }

    /// What a device names: the memory behind a link. Its description is for readers of the file.
    fn expand_inside(&mut self, device: &mut Node, found: &Found) {
        if let Some(backing) = inner(device, "backing") {
            self.expand(backing, found);
        }
        if let Kind::Table(table) = &mut device.kind {
            table.remove("description");
        }
    }

    fn problem(&mut self, at: &Location, key: &str, what: String, help: &str) {
        self.problems.push(Problem {
            at: at.clone(),
            key: key.into(),
            what,
            help: help.into(),
        });
    }
}

fn inner<'a>(node: &'a mut Node, key: &str) -> Option<&'a mut Node> {
    let Kind::Table(table) = &mut node.kind else {
        return None;
    };
    let entry = table.entries.iter_mut().find(|(name, _)| name == key)?;
    Some(&mut entry.1)
}

fn replacing(mut node: Node) -> Node {
    if let Kind::Table(table) = &mut node.kind {
        table.whole = true;
    }
    node
}

/// What tells files apart, however they are named.
fn identity(found: &Found) -> PathBuf {
    let path = Path::new(&*found.file);
    match found.folder {
        Some(_) => fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()),
        // No real file is below a colon.
        None => Path::new("shipped:").join(path),
    }
}
