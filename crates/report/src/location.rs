//! From sites to a named finding: which line stands for it.

use crate::account::{library_between, library_of};
use crate::finding::{Allocation, Context, InstructionShare, LineStores, NamedFinding};
use crate::human::share;
use crate::place::NamedPlace;
use crate::resolve::{Place, Resolver, SiteKind};
use prestore_dirtbuster::Finding;
use prestore_trace::SiteId;

/// Library functions that write for others, by the name users call them.
const GENERIC: [&str; 13] = [
    "memcpy", "memmove", "memset", "mempcpy", "memccpy", "bcopy", "bzero", "strcpy", "stpcpy",
    "strncpy", "strcat", "wmemset", "wmemcpy",
];

/// Names everything in `finding`, the `number`th of the analysis.
pub fn name(number: usize, finding: &Finding, resolver: &mut dyn Resolver) -> NamedFinding {
    let sites: Vec<InstructionShare> = finding
        .sites
        .iter()
        .map(|s| InstructionShare {
            place: named(s.site, SiteKind::Instruction, resolver),
            stores: s.stores,
        })
        .collect();
    let writers = writers(finding, &sites);
    let call_chain = named_chain(&writers, &finding.call_chain, finding.entered, resolver);

    let index = if finding.generic_writer {
        caller_to_change(&call_chain)
    } else {
        None
    };
    let lines = match index {
        Some(i) => call_line(&call_chain[i], finding.stores),
        None => LineStores::from_places(sites.iter().map(|s| (&s.place, s.stores))),
    };
    let place = match index {
        Some(i) => call_chain[i].clone(),
        None => most_stored(&sites, &lines),
    };
    let writer = (finding.generic_writer && !sites.is_empty()).then(|| generic_names(&sites));
    // What a call allocates counts as its memory's former owner's while that call itself writes there (`realloc`), so that
    // the parts can be more than the whole.
    let allocated = finding.allocations.iter().map(|&(_, bytes)| bytes).sum();
    let written = finding.store_bytes.max(allocated);
    let allocations = finding
        .allocations
        .iter()
        .map(|&(site, bytes)| Allocation {
            place: named(site, SiteKind::Instruction, resolver),
            bytes,
            share: share(bytes, written),
        })
        .collect();

    let library = match index {
        Some(i) => library_between(&call_chain, i).or_else(|| library_of(&place)),
        None => library_of(&place),
    };

    NamedFinding {
        number,
        apart: None,
        place,
        verdict: finding.verdict,
        reason: finding.reason.clone(),
        dismissed: finding.dismissed.clone(),
        cache_limit: finding.cache_limit,
        written_once: finding.written_once,
        write_share: finding.write_share,
        time_share: finding.time_share,
        lines_to_memory: finding.lines_to_memory,
        stretches: finding.stretches,
        store_share: finding.store_share,
        stores: finding.stores,
        store_bytes: finding.store_bytes,
        sequential_share: finding.sequential_share,
        contexts: finding.contexts.iter().map(Context::from).collect(),
        reread: finding.reread.mean,
        reread_share: finding.reread.share,
        rewrite: finding.rewrite.mean,
        rewrite_share: finding.rewrite.share,
        reread_near: finding.reread_near.mean,
        reread_near_share: finding.reread_near.share,
        rewrite_near: finding.rewrite_near.mean,
        rewrite_near_share: finding.rewrite_near.share,
        streams: finding.streams,
        fence_distance: finding.fence_distance,
        predicted: Vec::new(),
        generic_writer: finding.generic_writer,
        writer,
        library,
        call_chain,
        call_chain_index: index,
        allocations,
        lines,
        sites,
    }
}

/// A store of each function that writes, those with most bytes first.
fn writers(finding: &Finding, sites: &[InstructionShare]) -> Vec<SiteId> {
    let mut functions: Vec<&str> = Vec::new();
    let mut stores = Vec::new();
    for (share, site) in finding.sites.iter().zip(sites) {
        if !functions.contains(&&*site.place.function) {
            functions.push(&site.place.function);
            stores.push(share.site);
        }
    }
    stores
}

/// The named calls of `chain`, innermost first, which led to all of `inner`. With the jumps of functions between that end so
/// rather than with a call; where a function jumps to one and the other, no jump led to all. With `entered` the first of
/// `chain` is where a function begins, and such a jump of it is told instead.
pub(crate) fn named_chain(
    inner: &[SiteId],
    chain: &[SiteId],
    mut entered: bool,
    resolver: &mut dyn Resolver,
) -> Vec<NamedPlace> {
    let mut inner = inner.to_vec();
    let mut named_calls = Vec::with_capacity(chain.len());
    for &call in chain {
        let mut jumps: Vec<_> = inner
            .iter()
            .map(|&inner| resolver.tail_jump(call, inner))
            .collect();
        jumps.dedup();
        let jump = jumps.pop().flatten().filter(|_| jumps.is_empty());
        let outer = (!std::mem::take(&mut entered) || jump.is_none()).then_some(call);
        for site in jump.into_iter().chain(outer) {
            named_calls.push(named(site, SiteKind::Instruction, resolver));
        }
        inner = vec![call];
    }
    named_calls
}

/// The named place of `site`; a site nobody knows is said to be unknown, not left out.
pub fn named(site: SiteId, kind: SiteKind, resolver: &mut dyn Resolver) -> NamedPlace {
    NamedPlace::new(resolver.resolve(site, kind).unwrap_or_else(|| Place {
        module: "[unknown]".to_owned(),
        ..Place::default()
    }))
}

/// Generic code is changed where user code calls it: the innermost call that is in user code, so
/// that a `memcpy` under a library's `append` leads to the line that appends. Where no call is,
/// the innermost one.
pub(crate) fn caller_to_change(chain: &[NamedPlace]) -> Option<usize> {
    chain
        .iter()
        .position(NamedPlace::is_user_code)
        .or(if chain.is_empty() { None } else { Some(0) })
}

fn call_line(call: &NamedPlace, stores: u64) -> Vec<LineStores> {
    match (&call.file, call.line) {
        (Some(file), Some(line)) => vec![LineStores {
            function: call.function.clone(),
            file: file.clone(),
            line,
            stores,
            share: 1.0,
        }],
        _ => Vec::new(),
    }
}

/// The instruction that stores most on the line that stores most. Code without lines can win only
/// where no line is known: a place with a line is worth more to the reader.
fn most_stored(sites: &[InstructionShare], lines: &[LineStores]) -> NamedPlace {
    let on_line = lines.first().and_then(|best| {
        sites.iter().find(|s| {
            s.place.line == Some(best.line) && s.place.file.as_deref() == Some(&best.file)
        })
    });
    on_line
        .or(sites.first())
        .map(|s| s.place.clone())
        .unwrap_or_default()
}

/// What writes there: the one with most bytes, or all where they are library functions (`memset and memcpy`).
fn generic_names(sites: &[InstructionShare]) -> String {
    let mut names: Vec<String> = Vec::new();
    for name in sites.iter().map(|s| generic_name(&s.place.function)) {
        if names.is_empty() || GENERIC.contains(&&*name) && !names.contains(&name) {
            names.push(name);
        }
    }
    let all_are_known = names.iter().all(|name| GENERIC.contains(&&**name));
    names.truncate(if all_are_known { names.len() } else { 1 });
    names.join(" and ")
}

/// `memmove` for `__memmove_avx_unaligned_erms`; anything else as it is.
fn generic_name(symbol: &str) -> String {
    let bare = symbol.trim_start_matches('_');
    let base = bare.split(['_', '@']).next().unwrap_or(bare);
    if GENERIC.contains(&base) {
        base.to_owned()
    } else {
        symbol.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::generic_name;

    #[test]
    fn variants_go_by_the_name_users_call() {
        assert_eq!(generic_name("__memmove_avx_unaligned_erms"), "memmove");
        assert_eq!(generic_name("__memset_evex_unaligned"), "memset");
        assert_eq!(generic_name("memcpy@plt"), "memcpy");
        assert_eq!(generic_name("copy_row"), "copy_row");
    }
}
