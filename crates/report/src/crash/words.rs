//! What is wrong with persistent memory, and what mends it, in words.

use prestore_crash::{Blame, Domain, FindingKind};

use crate::function_names::shortened;
use crate::human;
use crate::place::NamedPlace;

/// What is wrong, in a few words.
pub fn title(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::MissingFlush => "missing flush",
        FindingKind::MissingFence => "missing fence",
        FindingKind::Ordering => "written between flush and fence",
        FindingKind::RedundantFlush => "redundant flush",
        FindingKind::RedundantFence => "redundant fence",
    }
}

/// What was seen to be wrong with an image, in a few words.
pub fn seen_title(blame: &Blame) -> &'static str {
    match blame.kind {
        _ if blame.torn => "torn store",
        _ if blame.lost.is_empty() => "stored too early",
        FindingKind::Ordering if blame.flush.is_some() => "flushed too late",
        FindingKind::Ordering => "stored too late",
        kind => title(kind),
    }
}

/// Of data whose pointer is persistent too early.
pub const POINTED_TO: &str = "persistent pointer to data that is not";

/// Of what is stored in a transaction of which the undo log does not have what was there.
pub const NOT_ADDED: &str = "not added to the transaction";

/// One of `kind`'s things, and several.
pub fn things(kind: FindingKind) -> (&'static str, &'static str) {
    match kind {
        FindingKind::MissingFlush | FindingKind::MissingFence | FindingKind::Ordering => {
            ("store", "stores")
        }
        FindingKind::RedundantFlush => ("flush", "flushes"),
        FindingKind::RedundantFence => ("fence", "fences"),
    }
}

/// Sentences on what is wrong and what mends it.
pub fn reason(
    kind: FindingKind,
    domain: Domain,
    (flush, fence): (Option<&NamedPlace>, Option<&NamedPlace>),
    values: bool,
) -> String {
    let flush = flush.map(where_is);
    let fence = fence.map(where_is);
    match kind {
        FindingKind::MissingFlush => {
            let first = "what is stored here is never flushed: a power cut may lose it";
            let cure = match (&fence, &flush) {
                (Some(fence), _) => format!("flush its line before the fence at {fence}"),
                (None, Some(_)) => "flush its line behind the store, then fence".to_owned(),
                (None, None) => "flush its line and fence behind the store".to_owned(),
            };
            let near = flush.map_or(String::new(), |f| format!(" (the nearest flush is at {f})"));
            format!("{first}; {cure}{near}")
        }
        FindingKind::MissingFence => {
            let early = fence.map_or(String::new(), |f| {
                format!(" (the thread's last fence, at {f}, is before it)")
            });
            match (domain, flush) {
                (Domain::Adr, Some(flush)) => format!(
                    "what is stored here is flushed at {flush}, and no fence of that thread follows{early}: \
                     when it is in memory is not known; fence behind the flush"
                ),
                _ => format!(
                    "what is stored here around the caches waits for a fence that does not come{early}; \
                     fence behind the store"
                ),
            }
        }
        FindingKind::Ordering => format!(
            "this stores again what was flushed at {} before the fence at {}, which therefore does not \
             make it persistent: a power cut behind the fence may leave the old or the new data; \
             store before the flush, or flush again before the fence",
            flush.unwrap_or_default(),
            fence.unwrap_or_default()
        ),
        FindingKind::RedundantFlush => match (domain, flush) {
            (Domain::Eadr, _) => "the caches are in the persistent domain: no flush is of use".to_owned(),
            (_, Some(before)) => format!(
                "nothing was stored to the line since the flush or non-temporal store at {before}: this flush has \
                 nothing to write back; leave it out"
            ),
            (_, None) if values => {
                "nothing was ever stored to the line; leave the flush out, or flush the line that was meant".to_owned()
            }
            (_, None) => "the program itself has stored nothing to the line; if no system call has either (read, recv; a \
                          recording with --values knows), leave the flush out, or flush the line that was meant"
                .to_owned(),
        },
        FindingKind::RedundantFence => match fence {
            Some(before) => format!(
                "since the fence at {before} the thread has flushed nothing and stored nothing that is \
                 persistent; leave one of them out"
            ),
            None => "the thread has flushed nothing and stored nothing that is persistent by then; leave \
                     it out"
                .to_owned(),
        },
    }
}

/// Sentences on a line of which `count` of `of` flushes had nothing to write back, the first of them after the one at `before`.
pub fn redundant_at_times(count: u64, of: u64, before: Option<&NamedPlace>) -> String {
    let since = before.map_or("by then".to_owned(), |before| {
        format!("since the one at {}", where_is(before))
    });
    let needed = human::count(of - count);
    format!(
        "{} of {} flushes here had nothing to write back (to the line of the first of these, nothing was stored {since}), the \
         other {needed} had: do not leave it out, but flush only where something was stored",
        human::count(count),
        human::count(of),
    )
}

/// What is added where so many redundant flushes were of a line that another thread had stored to last.
pub fn of_another(count: u64) -> String {
    format!(
        ". Of these, {} flushed a line that another thread had stored to last: keep the flush if this thread persists what it reads \
         before it relies on it, since in another run it may come before the flush of the thread that stored",
        human::count(count)
    )
}

/// Sentences on data to which a pointer is persistent too early.
pub fn pointed_to(pointer: String, fence: Option<String>) -> String {
    let by = fence.map_or("msync".to_owned(), |f| format!("the fence at {f}"));
    format!(
        "what is stored here is not persistent yet when {by} makes persistent what is stored at {pointer}, a pointer to it: \
         a power cut behind that leaves the pointer without its data; flush the line and fence before the pointer is stored"
    )
}

/// Sentences on what is stored in the transaction that was begun at `begun`, and was not added to it.
pub fn not_added(kind: FindingKind, begun: &NamedPlace, values: bool) -> String {
    let begun = where_is(begun);
    let (missing, effect) = match kind {
        FindingKind::MissingFlush => (
            "and never flushed",
            "a power cut may lose it after the commit, or leave it before",
        ),
        _ => (
            "or not before this store",
            "a power cut before the commit may leave it, and it is not rolled back",
        ),
    };
    let unless = match values {
        true => "",
        false => {
            "; if it is added without a copy (POBJ_XADD_NO_SNAPSHOT), a recording with --values knows"
        }
    };
    format!(
        "what is stored here was not added to the transaction begun at {begun}, {missing}: {effect}; add it \
         (TX_ADD, pmemobj_tx_add_range) before the store{unless}"
    )
}

/// Sentences on an image that was seen to fail. `without`: what survived, or the fence that came, without the
/// store; is it a fence?
pub fn seen(
    blame: &Blame,
    domain: Domain,
    without: Option<&(NamedPlace, bool)>,
    (flush, fence): (Option<&NamedPlace>, Option<&NamedPlace>),
) -> String {
    let (flush, fence) = (flush.map(where_is), fence.map(where_is));
    if blame.lost.is_empty() {
        let later = flush.map_or(String::new(), |f| format!(" (its line is flushed at {f})"));
        return format!(
            "a power cut behind this store fails to recover although nothing is lost; store it only when what it \
             stands for is persistent{later}"
        );
    }
    if blame.torn {
        return "a power cut leaves this store in part, and recovery fails: only aligned 8 bytes survive \
                together; store a mark of 8 bytes when all of it is persistent"
            .to_owned();
    }
    if let (FindingKind::MissingFence, None, Some(fence)) = (blame.kind, without, &fence) {
        return format!(
            "a power cut before the fence at {fence} loses what is stored here, and recovery fails, though nothing that \
             was stored later has survived: recovery has to accept memory without it; if that is not ready yet, as it is \
             being set up, let the cuts begin behind it (--from)"
        );
    }
    let (before, what) = match without {
        Some((place, true)) => {
            let place = where_is(place);
            let what = format!("the fence at {place} has made persistent what relies on it");
            ("before that fence", what)
        }
        Some((place, false)) => {
            let what = format!("what is stored at {} has survived", where_is(place));
            ("before that store", what)
        }
        None => ("behind it", "the rest has survived".to_owned()),
    };
    let cure = match (blame.kind, &flush) {
        (FindingKind::MissingFence, Some(flush)) => {
            format!("fence behind its flush at {flush}, {before}")
        }
        (FindingKind::MissingFence, None) => format!("fence {before}"),
        (FindingKind::MissingFlush, _) => format!("flush its line and fence {before}"),
        (_, Some(flush)) => {
            let late = match &fence {
                Some(fence)
                    if fence == flush && without.is_some_and(|(w, _)| where_is(w) == *flush) =>
                {
                    "its own flush and fence, there too, come later".to_owned()
                }
                // A helper's are at the line that calls it.
                Some(fence) if fence == flush => {
                    format!("its own flush and fence, both at {flush}, come too late")
                }
                Some(fence) => {
                    format!("its own flush at {flush} and fence at {fence} come too late")
                }
                None => format!("its own flush at {flush} comes too late"),
            };
            // Two fences are named by then.
            let before = if without.is_some() {
                "before that"
            } else {
                before
            };
            let store = match blame.without.is_some_and(|w| w < blame.store) {
                true => "store, flush",
                false => "flush",
            };
            format!("{late}: {store} and fence it {before}")
        }
        (_, None) if domain == Domain::Eadr => format!("store it {before}"),
        (_, None) => format!("flush its line and fence {before}"),
    };
    format!("a power cut loses what is stored here, while {what}, and recovery fails; {cure}")
}

/// The characters that the names of functions may have within a sentence; the places in JSON and SARIF have them whole.
const LONGEST_NAME: usize = 60;

/// The name of a function within a sentence.
pub fn in_a_sentence(function: &str) -> String {
    shortened(function, LONGEST_NAME)
}

/// `function (file:line)`.
pub fn where_is(place: &NamedPlace) -> String {
    let file = place
        .file
        .as_deref()
        .map(|f| f.rsplit('/').next().unwrap_or(f));
    match (file, place.line) {
        (Some(file), Some(line)) => format!("{} ({file}:{line})", in_a_sentence(&place.function)),
        _ => place.module_offset(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prestore_crash::Piece;

    #[test]
    fn names_of_templates_fit_a_sentence() {
        let function = format!("Tree<{}>::put(int, long)", "Key<int>, ".repeat(20));
        let place = NamedPlace { function, ..at(7) };
        assert_eq!(where_is(&place), "Tree<...>::put(...) (put.c:7)");
    }

    #[test]
    fn what_an_image_shows_is_called_what_it_is() {
        let lost = vec![Piece {
            event: 0,
            offset: 64,
        }];
        let late = Blame {
            kind: FindingKind::Ordering,
            store: 0,
            events: 3,
            lost,
            without: Some(2),
            torn: false,
            flush: Some(2),
            fence: None,
        };
        assert_eq!(seen_title(&late), "flushed too late");
        let torn = Blame {
            torn: true,
            ..late.clone()
        };
        assert_eq!(seen_title(&torn), "torn store");
        let early = Blame {
            lost: Vec::new(),
            ..late.clone()
        };
        assert_eq!(seen_title(&early), "stored too early");
        let missing = Blame {
            kind: FindingKind::MissingFlush,
            flush: None,
            ..late
        };
        assert_eq!(seen_title(&missing), "missing flush");
    }

    fn at(line: u32) -> NamedPlace {
        NamedPlace {
            function: "put".to_owned(),
            file: Some("/home/ada/put.c".to_owned()),
            line: Some(line),
            ..NamedPlace::default()
        }
    }

    #[test]
    fn a_sentence_names_a_place_as_seldom_as_it_can() {
        let lost = vec![Piece {
            event: 0,
            offset: 64,
        }];
        let late = Blame {
            kind: FindingKind::Ordering,
            store: 0,
            events: 3,
            lost,
            without: Some(2),
            torn: false,
            flush: Some(4),
            fence: Some(5),
        };
        let said = |blame: &Blame, without: Option<(u32, bool)>, flush: u32, fence: u32| {
            let without = without.map(|(line, is_fence)| (at(line), is_fence));
            let near = (Some(&at(flush)), Some(&at(fence)));
            let said = seen(blame, Domain::Adr, without.as_ref(), near);
            said.split_once("while ").unwrap().1.to_owned()
        };
        assert_eq!(
            said(&late, Some((3, true)), 3, 3),
            "the fence at put (put.c:3) has made persistent what relies on it, and recovery fails; its own flush and fence, \
             there too, come later: flush and fence it before that"
        );
        assert_eq!(
            said(&late, Some((3, true)), 4, 4),
            "the fence at put (put.c:3) has made persistent what relies on it, and recovery fails; its own flush and fence, \
             both at put (put.c:4), come too late: flush and fence it before that"
        );
        assert_eq!(
            said(&late, Some((3, false)), 4, 5),
            "what is stored at put (put.c:3) has survived, and recovery fails; its own flush at put (put.c:4) and fence at \
             put (put.c:5) come too late: flush and fence it before that"
        );
        let unfenced = Blame {
            kind: FindingKind::MissingFence,
            ..late
        };
        assert_eq!(
            said(&unfenced, Some((3, false)), 4, 5),
            "what is stored at put (put.c:3) has survived, and recovery fails; fence behind its flush at put (put.c:4), \
             before that store"
        );
    }
}
