//! Stripped programs, with their debug files in every place where one may be.

use crate::build::{Workbench, address_of, any_build};
use prestore_symbols::{Location, ModuleRef, Remark, build_id};
use std::fs;
use std::path::PathBuf;

const C: &str = "\
__attribute__((noinline)) void put(long *p) { *p = 5; }
int main(void) { long x; put(&x); return (int)x; }
";

/// A program, its debug file apart, and the address of its `put`.
struct Split {
    bench: Workbench,
    prog: PathBuf,
    id: String,
    put: u64,
}

fn split(flags: &str, link: bool) -> Split {
    let bench = Workbench::new();
    bench.write("put.c", C);
    bench.run(&format!("gcc -g -O2 {flags} -o prog put.c"));
    let prog = bench.path("prog");
    let put = address_of(&prog, "put");
    let id = build_id(&prog).unwrap().unwrap_or_default();
    bench.run("objcopy --only-keep-debug prog prog.debug");
    bench.run("strip prog");
    if link {
        bench.run("objcopy --add-gnu-debuglink=prog.debug prog");
    }
    Split {
        bench,
        prog,
        id,
        put,
    }
}

impl Split {
    /// Moves the debug file to `place`.
    fn debug_file_to(&self, place: &str) {
        let place = self.bench.path(place);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::rename(self.bench.path("prog.debug"), place).unwrap();
    }

    fn assert_named(&self) {
        let mut symbols = self.bench.symbols();
        let module = any_build(&self.prog);
        assert_eq!(&*symbols.function(&module, self.put).unwrap().name, "put");
        let at = symbols.locate(&module, self.put);
        assert_eq!(at.function(), Some("put"));
        let (file, line) = at.source().expect("file and line");
        assert!(file.ends_with("put.c") && line == 1, "{at}");
        assert!(symbols.notes().is_empty(), "{:?}", symbols.notes());
    }

    fn assert_not_named(&self) {
        let mut symbols = self.bench.symbols();
        let at = symbols.locate(&any_build(&self.prog), self.put);
        let module = self.prog.to_str().unwrap().to_owned();
        assert_eq!(
            *at,
            Location::Module {
                module,
                offset: self.put,
                function: None
            }
        );
    }
}

#[test]
fn by_build_id_in_a_debug_directory() {
    let split = split("", false);
    let (head, tail) = split.id.split_at(2);
    split.debug_file_to(&format!("debug/.build-id/{head}/{tail}.debug"));
    split.assert_named();
}

#[test]
fn by_build_id_in_the_debuginfod_cache() {
    let split = split("", false);
    split.debug_file_to(&format!("cache/{}/debuginfo", split.id));
    split.assert_named();
}

#[test]
fn by_debug_link_beside_the_program_and_below_it_and_in_a_debug_directory() {
    for flags in ["", "-Wl,--build-id=none"] {
        let beside = split(flags, true);
        beside.assert_named();
        beside.debug_file_to(".debug/prog.debug");
        beside.assert_named();

        let apart = split(flags, true);
        let dir = apart.prog.canonicalize().unwrap();
        let dir = dir.parent().unwrap().strip_prefix("/").unwrap();
        apart.debug_file_to(&format!("debug/{}/prog.debug", dir.display()));
        apart.assert_named();
    }
}

#[test]
fn a_debug_file_of_another_build_is_not_used() {
    for flags in ["", "-Wl,--build-id=none"] {
        let split = split(flags, true);
        split.bench.write("put.c", &C.replace("5", "6"));
        split
            .bench
            .run(&format!("gcc -g -O2 {flags} -o prog.debug put.c"));
        split.assert_not_named();
    }
}

#[test]
fn without_a_debug_file_the_note_says_where_it_was_looked_for() {
    let split = split("", true);
    fs::remove_file(split.bench.path("prog.debug")).unwrap();
    split.assert_not_named();
    let mut symbols = split.bench.symbols();
    symbols.locate(&any_build(&split.prog), split.put);
    symbols.locate(&any_build(&split.prog), split.put + 1);
    let [note] = symbols.notes() else {
        panic!("one note, not {:?}", symbols.notes());
    };
    let text = note.to_string();
    let Remark::NoLineInfo { looked_in } = &note.remark else {
        panic!("no line info, not {note:?}");
    };
    let (head, tail) = split.id.split_at(2);
    let by_id = format!(".build-id/{head}/{tail}.debug");
    for part in ["-dbgsym", "-g", &by_id, "other places"] {
        assert!(text.contains(part), "{part} not in: {text}");
    }
    for place in [by_id.as_str(), ".debug/prog.debug"] {
        let looked = |path: &std::path::PathBuf| path.ends_with(place);
        assert!(looked_in.iter().any(looked), "{place} in {looked_in:?}");
    }
}

#[test]
fn a_rebuilt_program_gives_no_names_unless_the_recorded_build_has_a_debug_file() {
    let split = split("", false);
    let (head, tail) = split.id.split_at(2);
    split
        .bench
        .write("put.c", &format!("int more(void) {{ return 3; }}\n{C}"));
    split.bench.run("gcc -g -O2 -o prog put.c");
    let module = ModuleRef {
        path: split.prog.to_str().unwrap(),
        build_id: &split.id,
    };

    let mut symbols = split.bench.symbols();
    assert_eq!(symbols.function(&module, split.put), None);
    assert!(matches!(
        *symbols.locate(&module, split.put),
        Location::Module { .. }
    ));
    let found = build_id(&split.prog).unwrap().unwrap();
    let want = Remark::Rebuilt {
        recorded: split.id.clone(),
        found,
    };
    assert_eq!(
        symbols
            .notes()
            .iter()
            .map(|n| &n.remark)
            .collect::<Vec<_>>(),
        [&want]
    );
    // The same path with today's build id is another module.
    let today = any_build(&split.prog);
    assert_eq!(
        symbols
            .locate(&today, address_of(&split.prog, "put"))
            .source()
            .unwrap()
            .1,
        2
    );

    split.debug_file_to(&format!("debug/.build-id/{head}/{tail}.debug"));
    let mut symbols = split.bench.symbols();
    assert_eq!(symbols.locate(&module, split.put).source().unwrap().1, 1);
    assert_eq!(symbols.notes().len(), 2);
}

#[test]
fn a_supplementary_file_is_read_and_missed() {
    if !crate::build::have("dwz") {
        return;
    }
    let bench = Workbench::new();
    // Two programs that share long type and function descriptions, which dwz moves apart.
    let types: String = (0..40)
        .map(|n| format!("struct s{n} {{ int a_long_member_name_{n}; struct s{n} *next; }};\n"))
        .collect();
    let vars: String = (0..40).map(|n| format!("struct s{n} v{n};\n")).collect();
    for (name, body) in [("one", "1"), ("two", "2")] {
        bench.write(
            &format!("{name}.c"),
            &format!("{types}{vars}{}", C.replace('5', body)),
        );
        bench.run(&format!("gcc -g -O2 -o {name} {name}.c"));
    }
    bench.run("dwz -m common.dwz one two");
    let path = bench.path("one");
    let put = address_of(&path, "put");
    let mut symbols = bench.symbols();
    assert_eq!(
        symbols.locate(&any_build(&path), put).function(),
        Some("put")
    );
    assert!(symbols.notes().is_empty(), "{:?}", symbols.notes());

    fs::remove_file(bench.path("common.dwz")).unwrap();
    let mut symbols = bench.symbols();
    assert_eq!(
        symbols.locate(&any_build(&path), put).function(),
        Some("put")
    );
    assert!(
        symbols
            .notes()
            .iter()
            .any(|n| matches!(n.remark, Remark::NoSupplementary { .. }))
    );
}
