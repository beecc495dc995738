//! One rule a verdict.

use super::model::{Configuration, Message, Rule};
use prestore_dirtbuster::Verdict;

struct Text {
    id: &'static str,
    name: &'static str,
    short: &'static str,
    full: &'static str,
    help: &'static str,
}

const RULES: [Text; 3] = [
    Text {
        id: "prestore/demote",
        name: "DemoteBeforeFence",
        short: "Data is written shortly before a fence, and written again: demote it.",
        full: "The writes are followed by a fence or an atomic instruction that must wait until \
               they are visible, and the same lines are written again later. Demoting moves them \
               to a shared cache level early and keeps them cached.",
        help: "After the data is written and before the fence, add prestore(data, size, demote); \
               on x86 this is cldemote on each cache line. It is a hint and does nothing on \
               processors without the instruction.",
    },
    Text {
        id: "prestore/clean",
        name: "CleanAfterWriting",
        short: "Data is written sequentially, and read again: clean it.",
        full: "The writes are sequential and their lines are read, not rewritten, later. Cleaning \
               starts the write-back in the order of writing, so that the memory sees whole \
               blocks, and keeps the lines cached for the reads.",
        help: "After the data is written, add prestore(data, size, clean); on x86 this is clwb on \
               each cache line. Do not do so where lines are soon rewritten: each clean is a \
               write to memory.",
    },
    Text {
        id: "prestore/skip",
        name: "SkipTheCache",
        short: "Data is written sequentially, and not used again: skip the cache.",
        full: "The writes are sequential and their lines are neither read nor written again while \
               they would stay cached. Writing around the cache saves the read for ownership and \
               leaves the cache to other data.",
        help: "Write with non-temporal stores of whole cache lines, and fence before others may \
               read the data. Where that is hard to write, clean the data after writing it.",
    },
];

/// The rules, in the order that [`index`] refers to.
pub fn rules() -> Vec<Rule> {
    RULES
        .iter()
        .map(|r| Rule {
            id: r.id,
            name: r.name,
            short_description: Message::new(r.short),
            full_description: Message::new(r.full),
            help: Message::new(r.help),
            default_configuration: Configuration { level: "note" },
        })
        .collect()
}

/// Index and id of the rule of `verdict`; leaving alone is nothing to report.
pub fn index(verdict: Verdict) -> Option<(usize, &'static str)> {
    let index = match verdict {
        Verdict::Demote => 0,
        Verdict::Clean => 1,
        Verdict::Skip => 2,
        Verdict::LeaveAlone => return None,
    };
    RULES.get(index).map(|r| (index, r.id))
}
