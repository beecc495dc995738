//! What was found in the files against what the manifest says of them.

use std::path::Path;

use super::error::Lost;
use super::index::StreamIndex;
use super::{Damage, DamageKind};
use crate::container::manifest::{RecordingState, ThreadEntry, Totals};
use crate::container::pieces::LogTotals;

/// What a stream lacks, or has too much, of what the manifest says. While recording runs (or was
/// killed) the manifest lags behind.
pub(super) fn stream(
    path: &Path,
    noted: &ThreadEntry,
    found: &StreamIndex,
    state: RecordingState,
) -> Option<Damage> {
    let damage = |bytes, what| Damage {
        path: path.to_owned(),
        offset: found.len,
        bytes,
        what,
    };
    let (had, has) = (&noted.totals, &found.totals);
    if has.blocks < had.blocks {
        let lost = Lost {
            blocks: had.blocks - has.blocks,
            of: had.blocks,
            words: had.words.saturating_sub(has.words),
            accesses: (had.events.accesses()).saturating_sub(has.events.accesses()),
            instructions: had.instructions.saturating_sub(has.instructions),
        };
        let bytes = had.bytes.saturating_sub(has.bytes);
        return Some(damage(bytes, DamageKind::Lost(lost)));
    }
    if state != RecordingState::Recording && has.blocks > had.blocks {
        let more = has.blocks - had.blocks;
        let what = format!("{more} stored blocks more than the manifest knows of");
        return Some(damage(0, DamageKind::Corrupt(what)));
    }
    let differs = found.noted_checksum != noted.checksum;
    (differs && found.damage.is_empty()).then(|| {
        let what = "its stored blocks are not those that the manifest knows of";
        damage(0, DamageKind::Corrupt(what.to_owned()))
    })
}

/// What a block log lacks of what the manifest says. `damaged`: so much was seen already.
pub(super) fn log(
    path: &Path,
    noted: &LogTotals,
    found: &LogTotals,
    state: RecordingState,
    damaged: bool,
) -> Option<Damage> {
    let damage = |bytes, what| Damage {
        path: path.to_owned(),
        offset: found.bytes,
        bytes,
        what,
    };
    if found.pieces < noted.pieces {
        let lost = Lost {
            blocks: noted.pieces - found.pieces,
            of: noted.pieces,
            ..Lost::default()
        };
        let bytes = noted.bytes.saturating_sub(found.bytes);
        return Some(damage(bytes, DamageKind::Lost(lost)));
    }
    let differs = state != RecordingState::Recording && found != noted;
    (differs && !damaged).then(|| {
        let what = "its pieces are not those that the manifest knows of";
        damage(0, DamageKind::Corrupt(what.to_owned()))
    })
}

/// What of the recording can be used, in words: which of its threads are `whole`, and whether it has `all_logs`, without
/// which a thread's words say little.
pub(super) fn usable(noted: &Totals, found: &Totals, whole: &[bool], all_logs: bool) -> String {
    let (of, accesses) = (noted.events.accesses(), found.events.accesses());
    let threads = whole.iter().filter(|whole| **whole).count();
    let all = whole.len();
    let most = if all_logs { "" } else { "at most " };
    if of > accesses || !all_logs {
        format!("{threads} of {all} threads whole, {most}{accesses} of {of} accesses")
    } else {
        format!("{threads} of {all} threads whole, {accesses} accesses")
    }
}
