//! What was mapped where, when: turns absolute addresses into (module, file offset).
//!
//! Records of different CPUs arrive out of order, and a process's maps are those of its parent until
//! it executes a program. So the history is kept as it happened and asked by (process, time, address).

use rustc_hash::FxHashMap;

use crate::record::Mapping;

/// A file (or named anonymous area) that code ran from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CodeModule {
    /// Path as the kernel saw it, or its name for what has no file: `[vdso]`, `//anon`.
    pub path: String,
    /// GNU build id, if the kernel gave one. Else read it from the file ([`crate::ElfLayout`]).
    pub build_id: Option<Vec<u8>>,
}

/// A place in code that does not depend on where modules were loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// Index into [`AddressSpaces::modules`]; `None` for code outside of any known mapping.
    pub module: Option<u32>,
    /// Offset in the module's file, bytes; the absolute address if there is no module.
    pub offset: u64,
}

#[derive(Debug, Clone)]
struct Span {
    start: u64,
    end: u64,
    file_offset: u64,
    module: u32,
}

#[derive(Debug, Clone)]
enum Change {
    Map(Span),
    Exec,
    ForkedFrom(u32),
}

/// The mapping history of all sampled processes.
#[derive(Debug, Clone, Default)]
pub struct AddressSpaces {
    modules: Vec<CodeModule>,
    index: FxHashMap<CodeModule, u32>,
    changes: FxHashMap<u32, Vec<(u64, Change)>>,
    sorted: bool,
}

impl AddressSpaces {
    /// The modules seen, in order of appearance.
    pub fn modules(&self) -> &[CodeModule] {
        &self.modules
    }

    /// Notes a mapping.
    pub fn map(&mut self, mapping: Mapping) {
        let module = CodeModule {
            path: String::from_utf8_lossy(&mapping.path).into_owned(),
            build_id: mapping.build_id,
        };
        let next = self.modules.len() as u32;
        let number = *self.index.entry(module.clone()).or_insert(next);
        if number == next {
            self.modules.push(module);
        }
        let span = Span {
            start: mapping.start,
            end: mapping.start.saturating_add(mapping.length),
            file_offset: mapping.file_offset,
            module: number,
        };
        self.note(mapping.pid, mapping.time, Change::Map(span));
    }

    /// Notes that `pid` executed a program: its earlier mappings are gone.
    pub fn exec(&mut self, pid: u32, time: u64) {
        self.note(pid, time, Change::Exec);
    }

    /// Notes that `pid` began as a copy of `parent`.
    pub fn fork(&mut self, pid: u32, parent: u32, time: u64) {
        self.note(pid, time, Change::ForkedFrom(parent));
    }

    fn note(&mut self, pid: u32, time: u64, change: Change) {
        self.changes.entry(pid).or_default().push((time, change));
        self.sorted = false;
    }

    /// Orders the history by time. Needed once, after the last note and before the first lookup.
    pub fn settle(&mut self) {
        for changes in self.changes.values_mut() {
            changes.sort_by_key(|(time, _)| *time);
        }
        self.sorted = true;
    }

    /// Whether `pid` is `root` or descends from it by the forks noted.
    pub fn descends_from(&self, pid: u32, root: u32) -> bool {
        let mut pid = pid;
        // The bound guards against process numbers reused in a circle.
        for _ in 0..1_000 {
            if pid == root {
                return true;
            }
            let parent = self.changes.get(&pid).and_then(|changes| {
                changes.iter().find_map(|(_, change)| match change {
                    Change::ForkedFrom(parent) => Some(*parent),
                    _ => None,
                })
            });
            match parent {
                Some(parent) => pid = parent,
                None => return false,
            }
        }
        false
    }

    /// Where `address` of process `pid` lay at `time`.
    pub fn locate(&self, pid: u32, time: u64, address: u64) -> Place {
        debug_assert!(self.sorted, "settle() comes before locate()");
        let span = self.span(pid, time, address);
        Place {
            module: span.map(|span| span.module),
            offset: span.map_or(address, |span| address - span.start + span.file_offset),
        }
    }

    fn span(&self, pid: u32, time: u64, address: u64) -> Option<&Span> {
        let (mut pid, mut time) = (pid, time);
        for _ in 0..1_000 {
            let changes = self.changes.get(&pid)?;
            let until = changes.partition_point(|(at, _)| *at <= time);
            let mut parent = None;
            for (at, change) in changes[..until].iter().rev() {
                match change {
                    Change::Map(span) if (span.start..span.end).contains(&address) => {
                        return Some(span);
                    }
                    Change::Map(_) => {}
                    Change::Exec => return None,
                    Change::ForkedFrom(from) => {
                        parent = Some((*from, *at));
                        break;
                    }
                }
            }
            (pid, time) = parent?;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(pid: u32, time: u64, start: u64, path: &str) -> Mapping {
        Mapping {
            pid,
            time,
            start,
            length: 0x1000,
            file_offset: 0x2000,
            path: path.into(),
            build_id: Some(vec![0xab; 20]),
        }
    }

    fn name(spaces: &AddressSpaces, place: Place) -> Option<&str> {
        place
            .module
            .map(|m| spaces.modules()[m as usize].path.as_str())
    }

    #[test]
    fn an_address_becomes_module_and_file_offset() {
        let mut spaces = AddressSpaces::default();
        spaces.map(mapping(7, 10, 0x5000, "/bin/x"));
        spaces.settle();
        let place = spaces.locate(7, 20, 0x5123);
        assert_eq!(name(&spaces, place), Some("/bin/x"));
        assert_eq!(place.offset, 0x2123);
        assert_eq!(
            spaces.locate(7, 20, 0x6000),
            Place {
                module: None,
                offset: 0x6000
            }
        );
        assert_eq!(spaces.locate(7, 5, 0x5123).module, None, "not mapped yet");
    }

    #[test]
    fn later_mappings_cover_earlier_ones_even_if_noted_first() {
        let mut spaces = AddressSpaces::default();
        spaces.map(mapping(7, 30, 0x5000, "/new"));
        spaces.map(mapping(7, 10, 0x5000, "/old"));
        spaces.settle();
        assert_eq!(name(&spaces, spaces.locate(7, 20, 0x5000)), Some("/old"));
        assert_eq!(name(&spaces, spaces.locate(7, 40, 0x5000)), Some("/new"));
    }

    #[test]
    fn a_child_has_its_parents_maps_of_that_moment_until_it_executes() {
        let mut spaces = AddressSpaces::default();
        spaces.map(mapping(7, 10, 0x5000, "/parent"));
        spaces.fork(8, 7, 20);
        spaces.map(mapping(7, 25, 0x9000, "/too-late"));
        spaces.exec(8, 30);
        spaces.map(mapping(8, 31, 0x7000, "/child"));
        spaces.settle();
        assert_eq!(name(&spaces, spaces.locate(8, 26, 0x5000)), Some("/parent"));
        assert_eq!(spaces.locate(8, 26, 0x9000).module, None);
        assert_eq!(spaces.locate(8, 40, 0x5000).module, None);
        assert_eq!(name(&spaces, spaces.locate(8, 40, 0x7000)), Some("/child"));
        assert!(spaces.descends_from(8, 7) && !spaces.descends_from(9, 7));
    }

    #[test]
    fn one_file_is_one_module_in_all_processes() {
        let mut spaces = AddressSpaces::default();
        spaces.map(mapping(7, 1, 0x5000, "/libc.so"));
        spaces.map(mapping(8, 1, 0x9000, "/libc.so"));
        spaces.settle();
        assert_eq!(spaces.locate(7, 2, 0x5010), spaces.locate(8, 2, 0x9010));
    }
}
