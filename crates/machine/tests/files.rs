//! Files that are made of other files, and where those are found.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::Path;

use prestore_machine::device::Device;
use prestore_machine::quantity::{Clock, Nanos, Rate, Size};
use prestore_machine::{Machine, MachineError, Machines, Replacement, Written};
use tempfile::TempDir;

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn in_folder(folder: &TempDir) -> Machines {
    Machines::with_folders(vec![folder.path().to_owned()])
}

#[track_caller]
fn machine(folder: &TempDir, name: &str) -> Machine {
    let described = in_folder(folder).describe(name, &[]);
    described.unwrap_or_else(|e| panic!("{e}")).into_machine()
}

#[track_caller]
fn wrong(result: Result<impl std::fmt::Debug, MachineError>) -> String {
    result.unwrap_err().to_string()
}

const CHILD: &str = "description = \"a child\"\ninherits = \"tiny\"\nsource = \"a test\"\n";

#[test]
fn what_is_not_said_is_inherited() {
    let text = format!("{CHILD}[core]\ncount = 7\n[memories.dram.device]\nt_cl = \"11 ns\"\n");
    let folder = folder(&[("mine.toml", &text)]);
    let child = machine(&folder, "mine");
    let parent = Machines::shipped()
        .describe("tiny", &[])
        .unwrap()
        .into_machine();
    assert_eq!((child.name.as_str(), child.core.count), ("mine", 7));
    assert_eq!(child.core.clock, parent.core.clock);
    assert_eq!(child.caches, parent.caches);
    let Device::Dram(dram) = &child.memories[0].device else {
        panic!("{:?}", child.memories);
    };
    assert_eq!((dram.t_cl, dram.t_rcd), (Nanos(11.0), Nanos(10.0)));
}

#[test]
fn parts_are_added_and_taken_away_by_name() {
    let text = format!(
        "{CHILD}[caches]\nL2 = \"none\"\n[caches.L3]\nsize = \"64 KiB\"\nways = 4\n\
         latency = \"30 cycles\"\nscope = \"shared\"\ninclusion = \"exclusive\"\n\
         replacement = \"random\"\nwrite = \"back\"\n"
    );
    let folder = folder(&[("mine.toml", &text)]);
    let names: Vec<_> = machine(&folder, "mine")
        .caches
        .into_iter()
        .map(|c| c.name)
        .collect();
    assert_eq!(names, ["L1D", "L3"]);
}

#[test]
fn another_kind_replaces_all_of_the_old() {
    let text = format!(
        "{CHILD}[caches.L2.replacement]\nkind = \"qlru\"\nhit = 0\ninsert = 1\ndistant = \"5 %\"\n"
    );
    let two = "description = \"back\"\ninherits = \"mine\"\n[caches.L2]\nreplacement = \"nru\"\n";
    let folder = folder(&[("mine.toml", &text), ("two.toml", two)]);
    assert!(matches!(
        machine(&folder, "mine").caches[1].replacement,
        Replacement::Qlru { .. }
    ));
    assert_eq!(
        machine(&folder, "two").caches[1].replacement,
        Replacement::Nru
    );
}

#[test]
fn a_device_is_found_beside_the_machine_then_among_those_shipped() {
    let device = "description = \"mine\"\ninherits = \"optane-256gb\"\nsource = \"a test\"\nmedia_write = \"9 GB/s\"\n";
    let text = format!("{CHILD}[memories.dram]\ndevice = \"fast\"\n");
    let over = "description = \"x\"\ninherits = \"mine\"\nsource = \"a test\"\n\
                [memories.dram.device]\ninherits = \"fast\"\nmedia_read = \"8 GB/s\"\n";
    let folder = folder(&[
        ("mine.toml", &text),
        ("over.toml", over),
        ("devices/fast.toml", device),
    ]);
    let Device::Optane(optane) = machine(&folder, "over").memories.remove(0).device else {
        panic!("not an Optane DIMM");
    };
    assert_eq!(
        (optane.media_write, optane.media_read),
        (Rate(9.0), Rate(8.0))
    );
    assert_eq!(optane.unit, Size(256));
}

#[test]
fn a_path_needs_no_folder() {
    let folder = folder(&[("sub/mine.toml", CHILD)]);
    let path = folder.path().join("sub/mine.toml");
    let described = Machines::shipped()
        .describe(path.to_str().unwrap(), &[])
        .unwrap();
    assert_eq!(described.machine().name, "mine");
    assert_eq!(described.file(), path.to_str().unwrap());
}

#[test]
fn circles_end() {
    let circle = |of: &str| format!("description = \"x\"\ninherits = \"{of}\"\n");
    let folder = folder(&[
        ("a.toml", &circle("b")),
        ("b.toml", &circle("./sub/../a.toml")),
        ("self.toml", &circle("self")),
        ("sub/x.toml", ""),
        ("devices/d.toml", "kind = \"cxl\"\nbacking = \"d\"\n"),
        (
            "m.toml",
            "inherits = \"tiny\"\n[memories.dram]\ndevice = \"d\"\n",
        ),
    ]);
    let said = wrong(in_folder(&folder).describe("a", &[]));
    let place = folder.path().join("b.toml:2: ");
    assert!(said.contains(place.to_str().unwrap()), "{said}");
    assert!(said.contains("is made of itself"), "{said}");
    assert!(wrong(in_folder(&folder).describe("self", &[])).contains("self.toml:2"));
    let said = wrong(in_folder(&folder).describe("m", &[]));
    assert!(
        said.contains("d.toml:2: ") && said.contains("'d' is made of itself"),
        "{said}"
    );
}

#[test]
fn a_problem_stands_in_the_file_that_has_it() {
    let device = "kind = \"fpga\"\nsource = \"a test\"\nread = \"100 cycles\"\n";
    let folder = folder(&[
        ("parent.toml", &format!("{CHILD}[core]\nrob = \"many\"\n")),
        (
            "mine.toml",
            "description = \"x\"\ninherits = \"parent\"\n[memories.dram]\ndevice = \"slow\"\n",
        ),
        ("devices/slow.toml", device),
    ]);
    let said = wrong(in_folder(&folder).describe("mine", &[]));
    for place in [
        "parent.toml:5: core.rob: 'many'",
        "slow.toml:3: memories.dram.device.read: 'cycles'",
    ] {
        let place = folder.path().join(place);
        let place = place
            .to_str()
            .unwrap()
            .replace("/slow.toml", "/devices/slow.toml");
        assert!(said.contains(&place), "{place} is missing: {said}");
    }
}

#[test]
fn unknown_names_have_suggestions() {
    let said = wrong(Machines::shipped().describe("machine-c", &[]));
    assert!(
        said.contains("no machine 'machine-c' (did you mean 'machine-a'?)"),
        "{said}"
    );
    assert!(said.contains("prestore machine list"), "{said}");
    let folder = folder(&[
        ("a.toml", "inherits = \"tinny\"\n"),
        (
            "b.toml",
            "inherits = \"tiny\"\n[memories.dram]\ndevice = \"optane-128\"\n",
        ),
    ]);
    let said = wrong(in_folder(&folder).describe("a", &[]));
    assert!(
        said.contains("a.toml:1: there is no machine 'tinny' (did you mean 'tiny'?)"),
        "{said}"
    );
    assert_eq!(
        said.lines().count(),
        1,
        "what it would have inherited is not missing: {said}"
    );
    let said = wrong(in_folder(&folder).describe("b", &[]));
    assert!(
        said.contains("b.toml:3: there is no device 'optane-128' (did you mean 'optane-128gb'?)"),
        "{said}"
    );
    let said = wrong(Machines::shipped().describe("no/such.toml", &[]));
    assert!(said.contains("no/such.toml cannot be read"), "{said}");
}

#[test]
fn values_are_set_for_once() {
    let set = |settings: &[&str]| Machines::shipped().describe("machine-a", settings);
    let settings = [
        "core.count=10",
        "core.clock=3.5 GHz",
        "memories.pmem.channels=1",
        "memories.pmem.device=optane-256gb",
        "memories.pmem.device.unit=512 B",
        "caches.L3.replacement=lru",
        "core.clwb_retains=false",
    ];
    let machine = set(&settings).unwrap().into_machine();
    assert_eq!((machine.core.count, machine.core.clock), (10, Clock(3.5)));
    assert!(!machine.core.clwb_retains);
    assert_eq!(machine.caches[2].replacement, Replacement::Lru);
    let Device::Optane(optane) = &machine.memories[0].device else {
        panic!("{:?}", machine.memories);
    };
    assert_eq!((machine.memories[0].channels, optane.unit), (1, Size(512)));
    let said = wrong(set(&["core.cuont=10"]));
    assert!(
        said.contains("--set core.cuont=10: core.cuont: unknown key"),
        "{said}"
    );
    let said = wrong(set(&["core.clock=3"]));
    assert!(
        said.contains("--set core.clock=3: core.clock: 3 has no unit"),
        "{said}"
    );
    assert!(wrong(set(&["core.count"])).contains("'core.count' is not KEY=VALUE"));
}

#[test]
fn a_machine_as_one_file_is_the_same_machine() {
    let machines = Machines::shipped();
    for listed in machines.list() {
        let described = machines.describe(&listed.name, &[]).unwrap();
        let again = machines.parse(&format!("{}.toml", listed.name), &described.to_toml());
        let again =
            again.unwrap_or_else(|e| panic!("{}: {e}\n{}", listed.name, described.to_toml()));
        assert_eq!(again.machine(), described.machine());
        let sources = |d: &prestore_machine::Description| {
            let mut all: Vec<_> = d.entries().into_iter().map(|e| (e.key, e.source)).collect();
            all.sort_by(|a, b| a.0.cmp(&b.0));
            all
        };
        assert_eq!(sources(&again), sources(&described));
    }
}

#[test]
fn each_value_tells_the_file_that_has_the_last_word() {
    let described = Machines::shipped()
        .describe("fast20-1dimm", &["core.count=3"])
        .unwrap();
    let entry = |key: &str| {
        described
            .entries()
            .into_iter()
            .find(|e| e.key == key)
            .unwrap()
    };
    let file = |key: &str| entry(key).at.file.to_string();
    assert_eq!(file("memories.pmem.channels"), "machines/fast20-1dimm.toml");
    assert_eq!(file("core.clock"), "machines/fast20-6dimm.toml");
    assert_eq!(file("core.rob"), "machines/machine-a.toml");
    assert_eq!(
        file("memories.pmem.device.unit"),
        "machines/devices/optane-256gb.toml"
    );
    assert_eq!(entry("core.count").value, Written::Number(3.0, None));
    assert_eq!(entry("core.count").at.to_string(), "--set core.count=3");
    let text = fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../machines/machine-a.toml"),
    )
    .unwrap();
    let line = entry("core.rob").at.line.unwrap() as usize;
    let written = text.lines().nth(line - 1).unwrap();
    assert!(written.starts_with("rob = { is = 224,"), "{written}");
}
