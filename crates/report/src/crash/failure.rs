//! Images that a checker refused, with names.

use std::collections::HashSet;

use prestore_crash::{Blame, Domain, FindingKind, Happening, Logged, Spot};
use prestore_trace::SiteId;
use serde::Serialize;

use super::helper::Helps;
use super::whose::{Owned, owned};
use super::{CrashReport, NamedCrashFinding, helps, words};
use crate::place::NamedPlace;
use crate::resolve::Resolver;

/// The first image that the checker refused, reduced to what has to be lost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NamedFailure {
    /// How many images were tried before it.
    pub number: u64,
    /// Where the reduced image is.
    pub file: String,
    /// How the check ended, in words.
    pub ended: String,
    /// What it printed, the end of it.
    pub output: String,
    /// Stores, flushes and fences of the image that had happened when the power was cut.
    pub events: u64,
    /// The last of them.
    pub cut: Option<NamedPlace>,
    /// What was lost: nothing where recovery fails with all that was stored by then.
    pub lost: Vec<LostStore>,
    /// The latest that survived, and must not without what was lost.
    pub survived: Option<NamedPlace>,
}

/// A store, or a part of it, that was lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LostStore {
    /// The store; none: the kernel.
    pub place: Option<NamedPlace>,
    /// First byte, from the image's beginning.
    pub offset: u64,
    /// Bytes from there that hold all that was lost of it.
    pub bytes: u64,
}

/// What is told of the first failure beside why.
#[derive(Clone, Copy, Debug)]
pub struct Refused<'a> {
    /// How many images were tried before it.
    pub number: u64,
    /// Where the reduced image is.
    pub file: &'a str,
    /// How the check ended.
    pub ended: &'a str,
    /// What it printed.
    pub output: &'a str,
    /// Why.
    pub blame: &'a Blame,
}

/// Names events of a log.
pub struct Names<'a> {
    /// The log.
    pub logged: &'a Logged,
    /// Sites that stand for their callers.
    pub generic: &'a HashSet<SiteId>,
    /// Who knows names.
    pub resolver: &'a mut dyn Resolver,
}

impl Names<'_> {
    fn of(&mut self, event: usize) -> Option<NamedPlace> {
        let happening = &self.logged.log.events()[event].happening;
        let passes = !matches!(happening, Happening::Store { .. });
        self.owned(event, passes.then_some(Helps::Persist))
            .map(|owned| owned.place)
    }

    fn owned(&mut self, event: usize, helps: Option<Helps>) -> Option<Owned> {
        let spot: &Spot = self.logged.spot(event)?;
        Some(owned(spot, helps, self.generic, self.resolver))
    }
}

impl CrashReport {
    /// Images were checked: what stands only for what might be lost gives way to what was seen to be wrong.
    /// `image`: its place in [`CrashReport::image`].
    pub fn images_checked(&mut self, tried: u64, failed: u64, complete: bool) {
        self.images.tried = tried;
        self.images.failed = failed;
        self.images.complete = complete;
        let before = self.findings.len();
        let of_use = [FindingKind::RedundantFlush, FindingKind::RedundantFence];
        self.findings.retain(|f| of_use.contains(&f.kind));
        self.libraries.retain(|l| of_use.contains(&l.kind));
        let left_out = before - self.findings.len();
        if left_out > 0 {
            let findings = if left_out == 1 { "finding" } else { "findings" };
            self.run.notes.push(format!(
                "{left_out} {findings} without --check (stores that are not, or not in time, made persistent) \
                 count here only where an image fails: recovery may not need the data"
            ));
        }
    }

    /// Adds the first failure.
    pub fn first_refused(&mut self, refused: Refused<'_>, names: &mut Names<'_>) {
        let blame = refused.blame;
        let pad = names.logged.pad as u64;
        let mut lost: Vec<(u32, LostStore)> = Vec::new();
        for piece in &blame.lost {
            let offset = piece.offset.saturating_sub(pad);
            match lost.iter_mut().find(|(event, _)| *event == piece.event) {
                Some((_, known)) => {
                    let end = (known.offset + known.bytes).max(offset + 8);
                    known.offset = known.offset.min(offset);
                    known.bytes = end - known.offset;
                }
                None => lost.push((
                    piece.event,
                    LostStore {
                        place: names.of(piece.event as usize),
                        offset,
                        bytes: 8,
                    },
                )),
            }
        }
        self.first_failure = Some(NamedFailure {
            number: refused.number,
            file: refused.file.to_owned(),
            ended: refused.ended.to_owned(),
            output: refused.output.to_owned(),
            events: blame.events as u64,
            cut: blame.events.checked_sub(1).and_then(|e| names.of(e)),
            lost: lost.into_iter().map(|(_, l)| l).collect(),
            survived: blame.without.and_then(|e| names.of(e)),
        });
    }

    /// Adds why images failed.
    pub fn blamed(&mut self, blame: &Blame, domain: Domain, names: &mut Names<'_>) {
        let at = names.owned(blame.store, helps(blame.kind));
        let (Some(at), Some(first)) = (at, names.logged.first(blame.store)) else {
            self.run.notes.push(
                "an image fails for what a system call wrote, which has no place in the program"
                    .to_owned(),
            );
            return;
        };
        let flush = blame.flush.and_then(|e| names.of(e));
        let fence = blame.fence.and_then(|e| names.of(e));
        let without = blame.without.and_then(|e| {
            let fence = !matches!(
                names.logged.log.events()[e].happening,
                Happening::Store { .. }
            );
            names.of(e).map(|place| (place, fence))
        });
        let finding = NamedCrashFinding {
            kind: blame.kind,
            reason: words::seen(
                blame,
                domain,
                without.as_ref(),
                (flush.as_ref(), fence.as_ref()),
            ),
            place: at.place,
            helper: at.helper,
            range: Some(names.logged.name.clone()),
            of: None,
            of_another: 0,
            count: 1,
            first,
            flush,
            fence,
            pointer: None,
            transaction: None,
            seen: Some(words::seen_title(blame)),
        };
        match self.findings.iter_mut().find(|f| f.is_at(&finding)) {
            Some(known) => known.join(finding),
            None => self.findings.push(finding),
        }
        self.findings
            .sort_by_key(|f| (f.kind, std::cmp::Reverse(f.count)));
    }
}
