//! The files that a process has mapped.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::fields::Fields;

/// A file that was mapped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MappedFile {
    /// As it was called when it was mapped; empty where that could not be had.
    pub path: Arc<str>,
    /// The same for files that are the same, whatever they are called; `None`: older recordings, and where it could not be had.
    pub identity: Option<u64>,
}

/// All of them, by number and by identity.
#[derive(Clone, Debug, Default)]
pub(super) struct MappedFiles {
    by_number: FxHashMap<u64, MappedFile>,
    names: FxHashMap<u64, Vec<Arc<str>>>,
}

impl MappedFiles {
    pub(super) fn get(&self, number: u64) -> Option<&MappedFile> {
        self.by_number.get(&number)
    }

    pub(super) fn names_of(&self, identity: u64) -> impl Iterator<Item = &str> {
        let names = self.names.get(&identity);
        names.into_iter().flatten().map(|name| &**name)
    }

    /// Takes a frame `FILE`; `None`: it is too short.
    pub(super) fn take(&mut self, mut frame: Fields<'_>) -> Option<()> {
        let (number, length, _) = (frame.u64()?, frame.u32()? as usize, frame.u32()?);
        let path: Arc<str> = String::from_utf8_lossy(frame.bytes(length)?).into();
        let padding = length.next_multiple_of(8) - length;
        let identity = frame.bytes(padding).and_then(|_| frame.u64());
        let identity = identity.filter(|id| *id != 0);
        if let Some(identity) = identity {
            let names = self.names.entry(identity).or_default();
            if !names.contains(&path) {
                names.push(path.clone());
            }
        }
        let file = MappedFile { path, identity };
        self.by_number.insert(number, file);
        Some(())
    }
}
