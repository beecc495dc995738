//! Placement as it is written: memories by name.

use serde::Deserialize;

use crate::file::Sections;
use crate::nearest::nearest;
use crate::quantity::Size;
use crate::{Memory, MemoryType, PageMapping, Placement, PlacementRule, RangeSelector, TypeRule};

/// `[placement]`.
#[derive(Debug, Deserialize)]
pub struct PlacementForm {
    default_memory: String,
    #[serde(default)]
    rules: Vec<RuleForm>,
    #[serde(default)]
    types: Vec<TypeForm>,
    #[serde(default)]
    pages: PagesForm,
}

/// One of `placement.rules`.
#[derive(Debug, Deserialize)]
struct RuleForm {
    of: SelectorForm,
    memory: String,
}

/// One of `placement.types`.
#[derive(Debug, Deserialize)]
struct TypeForm {
    of: SelectorForm,
    #[serde(rename = "type")]
    memory_type: MemoryType,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum SelectorForm {
    Addresses { first: u64, last: u64 },
    AllocationsFrom { size: Size },
    AllocationSite { site: String },
    Stacks,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum PagesForm {
    #[default]
    Identity,
    Shuffled {
        page: Size,
    },
}

impl PlacementForm {
    /// With indices into `memories`; a name that is not there is a problem.
    pub fn resolve(self, memories: &[Memory], parts: &Sections) -> Placement {
        let index = |name: &str, key: &str| {
            let found = memories.iter().position(|memory| memory.name == name);
            found.unwrap_or_else(|| {
                unknown_memory(name, key, parts);
                0
            })
        };
        Placement {
            default_memory: index(&self.default_memory, "placement.default_memory"),
            rules: self
                .rules
                .into_iter()
                .enumerate()
                .map(|(i, rule)| PlacementRule {
                    memory: index(&rule.memory, &format!("placement.rules[{i}].memory")),
                    of: rule.of.into(),
                })
                .collect(),
            types: (self.types.into_iter())
                .map(|rule| TypeRule {
                    of: rule.of.into(),
                    memory_type: rule.memory_type,
                })
                .collect(),
            pages: match self.pages {
                PagesForm::Identity => PageMapping::Identity,
                PagesForm::Shuffled { page } => PageMapping::Shuffled(page),
            },
        }
    }
}

/// A memory that is described but wrong has its own problem; this one is about names.
fn unknown_memory(name: &str, key: &str, parts: &Sections) {
    let described = parts.root().near("memories").table();
    let names: Vec<&str> = described
        .iter()
        .flat_map(|table| &table.entries)
        .filter(|(_, node)| !node.is_none())
        .map(|(name, _)| name.as_str())
        .collect();
    if names.contains(&name) {
        return;
    }
    let help = match nearest(name, names.iter().copied()) {
        Some(nearest) => format!("did you mean '{nearest}'?"),
        None => format!("its memories are {}", names.join(", ")),
    };
    parts.wrong(key, format!("the machine has no memory '{name}'"), help);
}

impl From<SelectorForm> for RangeSelector {
    fn from(form: SelectorForm) -> Self {
        match form {
            SelectorForm::Addresses { first, last } => Self::Addresses(first, last),
            SelectorForm::AllocationsFrom { size } => Self::AllocationsFrom(size),
            SelectorForm::AllocationSite { site } => Self::AllocationSite(site),
            SelectorForm::Stacks => Self::Stacks,
        }
    }
}
