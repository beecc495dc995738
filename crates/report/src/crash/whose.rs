//! Whose code stores, flushes or fences: the program's, or a library's on its own account.

use std::collections::HashSet;

use prestore_crash::Spot;
use prestore_trace::SiteId;

use super::helper::{Helper, Helps, past_helpers};
use super::words::{in_a_sentence, where_is};
use crate::account::acting_library;
use crate::location::{caller_to_change, named};
use crate::place::NamedPlace;
use crate::resolve::{Resolver, SiteKind};
use crate::system::is_generic_library;

/// How names begin of functions of the C library that change a lock, which need not survive whoever calls them.
const LOCKS: [&str; 5] = ["pthread_", "lll_", "sem_", "mtx_", "cnd_"];

/// A place and whose it is.
pub(super) struct Owned {
    /// The program's line: its own code, or what calls the library.
    pub(super) place: NamedPlace,
    /// What that line calls to flush or fence, or to store and flush.
    pub(super) helper: Option<Helper>,
    /// The module of the library that acts on its own account; `None`: the program does.
    pub(super) library: Option<String>,
}

impl Owned {
    /// The program's line, and what it calls.
    pub(super) fn in_words(&self) -> String {
        let by = self.helper.as_ref().map_or(String::new(), |helper| {
            let file = helper.file.rsplit('/').next().unwrap_or(&helper.file);
            let function = in_a_sentence(&helper.function);
            format!(", by {function} ({file}:{})", helper.line)
        });
        format!("{}{by}", where_is(&self.place))
    }
}

/// Names `spot`. `helps`: helpers make it for others.
pub(super) fn owned(
    spot: &Spot,
    helps: Option<Helps>,
    generic: &HashSet<SiteId>,
    resolver: &mut dyn Resolver,
) -> Owned {
    let sites = std::iter::once(spot.site).chain(spot.calls.iter().copied());
    let frames: Vec<NamedPlace> = sites
        .map(|site| named(site, SiteKind::Instruction, resolver))
        .collect();
    let is_generic = |(i, frame): (usize, &NamedPlace)| match i {
        _ if is_lock(frame) => false,
        0 => generic.contains(&spot.site),
        _ => is_generic_library(&frame.module),
    };
    let acting = (frames.iter().enumerate()).position(|frame| !is_generic(frame));
    let caller = |from: usize| caller_to_change(&frames[from..]).map_or(0, |i| from + i);
    let (at, library) = match acting {
        Some(0) if frames[0].is_own() => (0, None),
        Some(j) if !frames[j].is_own() => {
            let outside = (j + 1..frames.len()).find(|&i| frames[i].is_own());
            (outside.map_or(j, caller), acting_library(&frames, j))
        }
        _ => (caller(1), None),
    };
    let (place, helper) = match helps {
        Some(helps) => past_helpers(&frames[at..], helps),
        None => (frames[at].clone(), None),
    };
    Owned {
        place,
        helper,
        library,
    }
}

fn is_lock(frame: &NamedPlace) -> bool {
    let name = frame.function.trim_start_matches('_');
    is_generic_library(&frame.module) && LOCKS.iter().any(|l| name.starts_with(l))
}
