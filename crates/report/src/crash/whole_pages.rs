//! What is not found because a library has written whole pages back instead of lines.

use std::collections::BTreeSet;

use prestore_crash::Spot;
use prestore_trace::SiteId;

use crate::location::named;
use crate::place::NamedPlace;
use crate::resolve::{Resolver, SiteKind};
use crate::system::is_generic_library;

/// How the files of PMDK's libraries begin: they fall back on `msync` for files that lie on no persistent memory.
const PMDK: &str = "libpmem";

/// This one asks another variable.
const PMEM2: &str = "libpmem2";

/// What to say of the calls of `msync` at `spots`, if PMDK's libraries have made any. On persistent memory they flush
/// only the lines that they are told to; `msync` takes along what is beside these in the page, however incorrect that is.
/// Where `flushers` are theirs, they did not fall back: of a pool's header they write pages back all the same.
pub(super) fn note(
    spots: &[Spot],
    flushers: &[SiteId],
    resolver: &mut dyn Resolver,
) -> Option<String> {
    let mut module = |site: &SiteId| named(*site, SiteKind::Instruction, resolver);
    let is_theirs = |file: String| file.starts_with(PMDK);
    if flushers
        .iter()
        .any(|site| is_theirs(file_name(&module(site))))
    {
        return None;
    }
    let mut libraries = BTreeSet::new();
    for spot in spots {
        let sites = std::iter::once(spot.site).chain(spot.calls.iter().copied());
        let frames = sites.map(|site| named(site, SiteKind::Instruction, resolver));
        libraries.extend(frames.map(|f| file_name(&f)).find(|file| calls_msync(file)));
    }
    let first = libraries.iter().find(|file| file.starts_with(PMDK))?;
    let variable = match first.starts_with(PMEM2) {
        true => "PMEM2_FORCE_GRANULARITY=CACHE_LINE",
        false => "PMEM_IS_PMEM_FORCE=1",
    };
    Some(format!(
        "{first} wrote whole pages back with msync, as it does where a pool lies on no persistent memory: what is never \
         flushed beside them is not found; record with {variable} in the environment, and it flushes lines"
    ))
}

/// `msync` itself is the C library's.
fn calls_msync(file: &str) -> bool {
    file.starts_with(PMDK) || !is_generic_library(file)
}

fn file_name(frame: &NamedPlace) -> String {
    let module = &frame.module;
    module.rsplit('/').next().unwrap_or(module).to_owned()
}
