//! The caches, as the system describes them.

use std::fs;
use std::path::Path;

use serde::Serialize;

use crate::CalibrateError;

/// A data or unified cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CacheInfo {
    /// 1 is nearest to the core.
    pub level: u32,
    /// Bytes of one instance.
    pub size: u64,
    /// Associativity.
    pub ways: u32,
    /// Bytes of a line.
    pub line: u64,
    /// Who shares an instance.
    pub sharing: CacheSharing,
}

/// Who shares an instance of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CacheSharing {
    /// One core (and its hardware threads).
    Private,
    /// Several cores.
    Shared,
}

impl CacheInfo {
    /// `L1D`, `L2`, `L3`.
    pub fn name(&self) -> String {
        match self.level {
            1 => "L1D".into(),
            level => format!("L{level}"),
        }
    }
}

/// Where the system describes the caches of the first CPU.
pub(crate) const FOLDER: &str = "/sys/devices/system/cpu/cpu0/cache";

/// Bytes of this host's last-level cache; `None`: the system does not say.
pub fn last_level_cache() -> Option<u64> {
    let caches = read(Path::new(FOLDER)).ok()?;
    caches.last().map(|cache| cache.size)
}

/// Reads `index*` below `folder`, `/sys/devices/system/cpu/cpu0/cache`; nearest first.
///
/// The last level of three or more is taken as shared even where a VM shows each CPU its own: that is what it is.
pub(crate) fn read(folder: &Path) -> Result<Vec<CacheInfo>, CalibrateError> {
    let mut caches: Vec<CacheInfo> = (0..16)
        .filter_map(|index| one(&folder.join(format!("index{index}"))))
        .collect();
    caches.sort_by_key(|cache| cache.level);
    caches.dedup_by_key(|cache| cache.level);
    match caches.last_mut() {
        Some(last) if last.level >= 3 => last.sharing = CacheSharing::Shared,
        Some(_) => {}
        None => {
            return Err(CalibrateError::NoCaches {
                path: folder.display().to_string(),
            });
        }
    }
    Ok(caches)
}

fn one(folder: &Path) -> Option<CacheInfo> {
    let text = |name: &str| {
        let text = fs::read_to_string(folder.join(name)).ok()?;
        Some(text.trim().to_owned())
    };
    if text("type")? == "Instruction" {
        return None;
    }
    let core = fs::read_to_string(folder.join("../../topology/thread_siblings_list")).ok();
    let core = core.map(|list| list.trim().to_owned());
    let sharing = match text("shared_cpu_list") {
        Some(list) if Some(&list) != core.as_ref() && list.contains([',', '-']) => {
            CacheSharing::Shared
        }
        _ => CacheSharing::Private,
    };
    Some(CacheInfo {
        level: text("level")?.parse().ok()?,
        size: size(&text("size")?)?,
        ways: text("ways_of_associativity")?
            .parse()
            .ok()
            .filter(|w| *w > 0)?,
        line: text("coherency_line_size")?.parse().ok()?,
        sharing,
    })
}

/// `48K`, `2M`.
fn size(text: &str) -> Option<u64> {
    let (digits, shift) = match text.as_bytes().last()? {
        b'K' => (&text[..text.len() - 1], 10),
        b'M' => (&text[..text.len() - 1], 20),
        _ => (text, 0),
    };
    let number: u64 = digits.parse().ok().filter(|n| *n > 0)?;
    number.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn describe(folder: &Path, index: u32, entries: [(&str, &str); 6]) {
        let folder = folder.join(format!("index{index}"));
        fs::create_dir_all(&folder).unwrap();
        for (name, text) in entries {
            fs::write(folder.join(name), format!("{text}\n")).unwrap();
        }
    }

    fn entries<'a>(
        level: &'a str,
        kind: &'a str,
        size: &'a str,
        shared: &'a str,
    ) -> [(&'a str, &'a str); 6] {
        [
            ("level", level),
            ("type", kind),
            ("size", size),
            ("ways_of_associativity", "8"),
            ("coherency_line_size", "64"),
            ("shared_cpu_list", shared),
        ]
    }

    #[test]
    fn data_caches_are_found_and_instructions_left_out() {
        let folder = tempfile::tempdir().unwrap();
        describe(folder.path(), 0, entries("1", "Data", "48K", "0"));
        describe(folder.path(), 1, entries("1", "Instruction", "32K", "0"));
        describe(folder.path(), 2, entries("2", "Unified", "2M", "0"));
        describe(folder.path(), 3, entries("3", "Unified", "36M", "0-7"));
        let caches = read(folder.path()).unwrap();
        let names: Vec<String> = caches.iter().map(CacheInfo::name).collect();
        assert_eq!(names, ["L1D", "L2", "L3"]);
        assert_eq!((caches[0].size, caches[0].ways), (48 << 10, 8));
        let sharing: Vec<CacheSharing> = caches.iter().map(|c| c.sharing).collect();
        use CacheSharing::{Private, Shared};
        assert_eq!(sharing, [Private, Private, Shared]);
    }

    #[test]
    fn a_system_that_says_nothing_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        describe(folder.path(), 0, entries("1", "Data", "many", "0"));
        assert!(matches!(
            read(folder.path()),
            Err(CalibrateError::NoCaches { .. })
        ));
    }
}
