//! One rule a verdict, and one a pitfall.

use super::model::{Configuration, Message, Rule};
use prestore_dirtbuster::{PitfallKind, Verdict};

struct Text {
    id: &'static str,
    name: &'static str,
    short: &'static str,
    full: &'static str,
    help: &'static str,
}

const RULES: [Text; 9] = [
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
    Text {
        id: "prestore/flush-of-clean-line",
        name: "FlushOfCleanLine",
        short: "Lines are flushed that are clean.",
        full: "The flushed lines were never written, or not since they were flushed last, so there \
               is nothing to write back; each flush takes its time all the same.",
        help: "Flush each line once, after its last write.",
    },
    Text {
        id: "prestore/flush-of-rewritten-line",
        name: "FlushOfRewrittenLine",
        short: "Lines are flushed that are written again at once.",
        full: "The lines are written again while they would still be cached, so each flush is a \
               write to memory that the next write makes useless, and that write may have to wait \
               for it.",
        help: "Flush after the last write of a line, or not at all.",
    },
    Text {
        id: "prestore/flush-without-fence",
        name: "FlushWithoutFence",
        short: "Lines are flushed, and no fence follows, though the program fences other flushes.",
        full: "Without a fence nobody knows when the flushed data is in memory.",
        help: "Where the data must be in memory before something else happens, add a store fence \
               (sfence) behind the last flush. Where the flush is to save time, ignore this.",
    },
    Text {
        id: "prestore/idle-fence",
        name: "IdleFence",
        short: "A fence is executed when there is nothing to order.",
        full: "Since the fence before, the thread has stored, flushed and written around the cache \
               nothing that this fence orders. On x86, ordinary stores need no store fence.",
        help: "Leave the fence out, or execute it only where something was written.",
    },
    Text {
        id: "prestore/partial-non-temporal-line",
        name: "PartialNonTemporalLine",
        short: "Non-temporal stores write parts of lines.",
        full: "Lines are sent out before all their bytes are written: each part is a write of its \
               own, and devices with larger units read the rest first.",
        help: "Write whole lines with non-temporal stores, only few lines at a time, and the ends \
               of an unaligned range with ordinary stores.",
    },
    Text {
        id: "prestore/non-temporal-of-near-data",
        name: "NonTemporalOfNearData",
        short: "Data that is used again at once is written around the cache.",
        full: "Lines written with non-temporal stores are read or written again when ordinary \
               stores would have left them near the core: they come from memory, or go there \
               each time.",
        help: "Write with ordinary stores what is used again soon; clean it where its way to \
               memory is to begin early.",
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

/// Index and id of the rule of a pitfall.
pub fn of_pitfall(kind: PitfallKind) -> (usize, &'static str) {
    let index = match kind {
        PitfallKind::FlushOfCleanLine => 3,
        PitfallKind::FlushOfRewrittenLine => 4,
        PitfallKind::FlushWithoutFence => 5,
        PitfallKind::IdleFence => 6,
        PitfallKind::PartialNonTemporalLine => 7,
        PitfallKind::NonTemporalOfNearData => 8,
    };
    (index, RULES[index].id)
}
