use std::fs::File;
use std::io;
use std::path::Path;

use memmap2::Mmap;
use object::{Object, ObjectSegment};

/// How an ELF file's bytes are laid out in memory: file offsets to stated virtual memory addresses
/// (SVMA), which symbol tables and debug information use. Also the file's build id.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ElfLayout {
    /// GNU build id of the file.
    pub build_id: Option<Vec<u8>>,
    /// (first file offset, length, first SVMA) of each loaded segment.
    segments: Vec<(u64, u64, u64)>,
}

impl ElfLayout {
    /// Reads the layout of the file. Errors are those of opening it, and `InvalidData` for a file
    /// that is no ELF file.
    pub fn read(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        // SAFETY: the mapping is private and only parsed; a file truncated meanwhile would end the
        // process by SIGBUS, the risk every symboliser takes.
        let bytes = unsafe { Mmap::map(&file)? };
        let object = object::File::parse(&*bytes).map_err(|error| {
            let path = path.display();
            io::Error::new(io::ErrorKind::InvalidData, format!("{path}: {error}"))
        })?;
        Ok(Self {
            build_id: object.build_id().ok().flatten().map(<[u8]>::to_vec),
            segments: object
                .segments()
                .map(|segment| {
                    let (offset, length) = segment.file_range();
                    (offset, length, segment.address())
                })
                .collect(),
        })
    }

    /// The SVMA of a byte of the file; `None` if no segment loads it.
    pub fn svma(&self, file_offset: u64) -> Option<u64> {
        self.segments
            .iter()
            .find(|(start, length, _)| {
                (*start..start.saturating_add(*length)).contains(&file_offset)
            })
            .map(|(start, _, address)| file_offset - start + address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_move_with_their_segment() {
        let layout = ElfLayout {
            build_id: None,
            segments: vec![(0, 0x1000, 0x40_0000), (0x1000, 0x500, 0x60_2000)],
        };
        assert_eq!(layout.svma(0x10), Some(0x40_0010));
        assert_eq!(layout.svma(0x1010), Some(0x60_2010));
        assert_eq!(layout.svma(0x1500), None);
    }

    #[test]
    fn this_very_program_has_a_layout() {
        let layout = ElfLayout::read(&std::env::current_exe().unwrap()).unwrap();
        assert!(layout.svma(0).is_some());
    }

    #[test]
    fn what_is_no_elf_file_is_refused_by_name() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "#!/bin/sh\n").unwrap();
        let error = ElfLayout::read(file.path()).unwrap_err();
        assert!(error.to_string().contains(file.path().to_str().unwrap()));
    }
}
