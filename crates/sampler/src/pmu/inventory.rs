use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// One performance-monitoring unit as the kernel describes it below
/// `/sys/bus/event_source/devices/<name>`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pmu {
    /// Directory name, `cpu_core` say.
    pub name: String,
    /// Value for `perf_event_attr.type`.
    pub type_id: u32,
    /// CPUs the unit belongs to; `None` = all of them.
    pub cpus: Option<CpuList>,
    /// Named events and their terms: `mem-stores` -> `event=0xd0,umask=0x82`.
    pub events: BTreeMap<String, String>,
    /// Where a term goes: `umask` -> `config:8-15`.
    pub formats: BTreeMap<String, String>,
    /// Highest `precise_ip` the unit states (`caps/max_precise`); 0 where it states none.
    pub max_precise: u8,
}

/// A list of CPU numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CpuList(pub Vec<u32>);

impl CpuList {
    /// Parses the kernel's list form, `0-3,8,10-11`. `None` for text that is not one.
    pub fn parse(text: &str) -> Option<Self> {
        let mut cpus = Vec::new();
        for part in text.trim().split(',').filter(|part| !part.is_empty()) {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
            // A reversed or absurd range means the text is not a CPU list; the kernel's limit is 8192.
            if last < first || last > 65_535 {
                return None;
            }
            cpus.extend(first..=last);
        }
        Some(Self(cpus))
    }
}

/// All units of a host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inventory {
    /// The units, by name.
    pub pmus: Vec<Pmu>,
    /// CPUs that are online.
    pub online: CpuList,
}

impl Inventory {
    /// Reads the units below `root`, which is `/` except in tests.
    ///
    /// Unreadable entries are left out: a unit that cannot be described cannot be used either.
    pub fn read(root: &Path) -> Self {
        let devices = root.join("sys/bus/event_source/devices");
        let mut pmus: Vec<Pmu> = fs::read_dir(devices)
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| read_pmu(&entry.path()))
            .collect();
        pmus.sort_by(|a, b| a.name.cmp(&b.name));
        let online = text(&root.join("sys/devices/system/cpu/online"))
            .and_then(|list| CpuList::parse(&list))
            .filter(|list| !list.0.is_empty())
            .unwrap_or(CpuList(vec![0]));
        Self { pmus, online }
    }

    /// The unit of that name.
    pub fn pmu(&self, name: &str) -> Option<&Pmu> {
        self.pmus.iter().find(|pmu| pmu.name == name)
    }
}

fn text(path: &Path) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

fn read_pmu(dir: &Path) -> Option<Pmu> {
    // Hybrid parts say `cpus`, units with one control CPU say `cpumask`; SPE uses the latter for
    // the CPUs that have it.
    let cpus = text(&dir.join("cpus"))
        .or_else(|| text(&dir.join("cpumask")))
        .and_then(|list| CpuList::parse(&list));
    Some(Pmu {
        name: dir.file_name()?.to_str()?.to_owned(),
        type_id: text(&dir.join("type"))?.parse().ok()?,
        cpus,
        events: named_texts(&dir.join("events")),
        formats: named_texts(&dir.join("format")),
        max_precise: text(&dir.join("caps/max_precise"))
            .and_then(|level| level.parse().ok())
            .unwrap_or(0),
    })
}

fn named_texts(dir: &Path) -> BTreeMap<String, String> {
    fs::read_dir(dir)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| Some((entry.file_name().into_string().ok()?, text(&entry.path())?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_lists_are_ranges_and_single_numbers() {
        assert_eq!(CpuList::parse("0-2,5\n"), Some(CpuList(vec![0, 1, 2, 5])));
        assert_eq!(CpuList::parse(""), Some(CpuList(vec![])));
        assert_eq!(CpuList::parse("3-1"), None);
        assert_eq!(CpuList::parse("all"), None);
    }

    #[test]
    fn a_unit_is_read_with_events_formats_and_precision() {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("sys/bus/event_source/devices/cpu_core");
        for sub in ["events", "format", "caps"] {
            fs::create_dir_all(dir.join(sub)).unwrap();
        }
        fs::write(dir.join("type"), "4\n").unwrap();
        fs::write(dir.join("cpus"), "0-3\n").unwrap();
        fs::write(dir.join("caps/max_precise"), "3\n").unwrap();
        fs::write(dir.join("events/mem-stores"), "event=0xcd,umask=0x2\n").unwrap();
        fs::write(dir.join("format/umask"), "config:8-15\n").unwrap();
        let inventory = Inventory::read(root.path());
        let pmu = inventory.pmu("cpu_core").unwrap();
        assert_eq!((pmu.type_id, pmu.max_precise), (4, 3));
        assert_eq!(pmu.cpus, Some(CpuList(vec![0, 1, 2, 3])));
        assert_eq!(pmu.events["mem-stores"], "event=0xcd,umask=0x2");
        assert_eq!(pmu.formats["umask"], "config:8-15");
    }

    #[test]
    fn a_host_without_the_directory_has_no_units_and_one_cpu() {
        let root = tempfile::tempdir().unwrap();
        let inventory = Inventory::read(root.path());
        assert!(inventory.pmus.is_empty());
        assert_eq!(inventory.online, CpuList(vec![0]));
    }
}
