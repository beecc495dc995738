//! Build ids of loaded modules: the client only knows paths, the host can read the files.

use std::collections::HashMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use prestore_trace::block::meta;

/// Offset of the build id's length in a module's payload; the path's follows.
const LENGTHS: usize = 24;
const FIXED: usize = 32;

/// What tells a file from another that takes its path.
#[derive(PartialEq, Eq)]
struct Version([i64; 6]);

impl Version {
    fn of(about: &Metadata) -> Self {
        Self([
            about.dev() as i64,
            about.ino() as i64,
            about.size() as i64,
            about.mtime(),
            about.mtime_nsec(),
            about.ctime_nsec(),
        ])
    }
}

/// Those of files that were looked at: each forked process tells of all modules again.
#[derive(Default)]
pub(super) struct BuildIds(HashMap<String, (Version, Option<Vec<u8>>)>);

impl BuildIds {
    fn of(&mut self, path: &str) -> Option<Vec<u8>> {
        let version = Version::of(&std::fs::metadata(path).ok()?);
        match self.0.get(path) {
            Some((known, id)) if *known == version => id.clone(),
            _ => {
                let id = read(path);
                self.0.insert(path.to_owned(), (version, id.clone()));
                id
            }
        }
    }
}

fn read(path: &str) -> Option<Vec<u8>> {
    let id = prestore_symbols::build_id(Path::new(path)).ok()??;
    let pairs = id.as_bytes().chunks(2);
    let bytes = pairs.filter_map(|p| u8::from_str_radix(std::str::from_utf8(p).ok()?, 16).ok());
    Some(bytes.collect())
}

/// Copies whole `frames`, with build ids put into those that load a module and have none.
pub(super) fn add_build_ids(frames: &[u8], known: &mut BuildIds) -> Vec<u8> {
    let mut out = Vec::with_capacity(frames.len());
    let mut rest = frames;
    while let Some((head, after)) = rest.split_at_checked(8) {
        let kind = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
        let len = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
        let Some((payload, after)) = after.split_at_checked(len) else {
            break;
        };
        match (kind == meta::MODULE)
            .then(|| with_build_id(payload, known))
            .flatten()
        {
            Some(payload) => {
                out.extend_from_slice(&head[..4]);
                out.extend((payload.len() as u32).to_le_bytes());
                out.extend(payload);
            }
            None => out.extend_from_slice(&rest[..8 + len]),
        }
        rest = after;
    }
    out
}

fn with_build_id(payload: &[u8], known: &mut BuildIds) -> Option<Vec<u8>> {
    let id_len = u16::from_le_bytes(payload.get(LENGTHS..LENGTHS + 2)?.try_into().ok()?);
    let path_len = u16::from_le_bytes(payload.get(LENGTHS + 2..LENGTHS + 4)?.try_into().ok()?);
    if id_len != 0 {
        return None;
    }
    let path = payload.get(FIXED..FIXED + usize::from(path_len))?;
    let name = std::str::from_utf8(path).ok()?;
    let id = known.of(name)?;
    let mut out = payload[..FIXED].to_vec();
    out[LENGTHS..LENGTHS + 2].copy_from_slice(&(id.len() as u16).to_le_bytes());
    out.extend(id);
    out.extend_from_slice(path);
    out.resize(out.len().next_multiple_of(8), 0);
    Some(out)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_takes_the_place_of_another_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("program");
        let name = path.to_str().unwrap();
        let program = std::env::current_exe().unwrap();
        std::fs::copy(&program, &path).unwrap();
        let mut ids = BuildIds::default();
        let id = read(program.to_str().unwrap());
        assert_eq!((ids.of(name), ids.of(name)), (id.clone(), id));
        std::fs::write(&path, "no program").unwrap();
        assert_eq!(ids.of(name), None);
    }
}
