//! Modules that are not plain programs: libraries, missing files, JIT code.

use crate::build::{Workbench, address_of, any_build};
use prestore_symbols::{Location, ModuleRef, Remark};
use std::fs;

#[test]
fn a_stripped_library_names_what_its_dynamic_symbols_cover_and_nothing_else() {
    let bench = Workbench::new();
    let text = "\
static __attribute__((noinline)) void hidden(long *p) { *p = 1; }
void shown(long *p) { hidden(p); p[1] = 2; }
";
    bench.write("lib.c", text);
    bench.run("gcc -O1 -shared -fPIC -o lib.so lib.c");
    let path = bench.path("lib.so");
    let (hidden, shown) = (address_of(&path, "hidden"), address_of(&path, "shown"));
    bench.run("strip lib.so");
    let mut symbols = bench.symbols();
    let module = any_build(&path);
    assert_eq!(symbols.locate(&module, shown + 1).function(), Some("shown"));
    let at = symbols.locate(&module, hidden);
    assert_eq!(at.function(), None);
    assert_eq!(at.to_string(), format!("{}+{hidden:#x}", path.display()));
}

/// Assembly without sizes, of which one routine is exported, and a local one far behind it.
#[test]
fn a_label_of_a_stripped_library_does_not_name_all_the_code_behind_it() {
    let bench = Workbench::new();
    let text = "\
    .text
    .globl shown
shown:
    ret
    .skip 0x4000, 0x90
hidden:
    ret
    .section .note.GNU-stack,\"\",@progbits
";
    bench.write("a.s", text);
    bench.run("gcc -shared -nostdlib -o liba.so a.s");
    let path = bench.path("liba.so");
    let (hidden, shown) = (address_of(&path, "hidden"), address_of(&path, "shown"));
    bench.run("strip liba.so");
    let mut symbols = bench.symbols();
    let module = any_build(&path);
    assert_eq!(
        symbols.locate(&module, shown + 0x40).function(),
        Some("shown")
    );
    assert_eq!(symbols.locate(&module, hidden).function(), None);
}

#[test]
fn indirect_functions_and_aliases_are_named_as_users_call_them() {
    let bench = Workbench::new();
    let text = "\
void _IO_fill(long *p) { *p = 1; }
void fill(long *p) __attribute__((weak, alias(\"_IO_fill\")));
static void fill_local(long *p) __attribute__((alias(\"_IO_fill\"), used));
static void copy_avx512_unaligned(long *p) { p[1] = 2; }
static void (*choose(void))(long *) { return copy_avx512_unaligned; }
void copy(long *p) __attribute__((ifunc(\"choose\")));
";
    bench.write("lib.c", text);
    bench.run("gcc -O1 -shared -fPIC -o lib.so lib.c");
    let path = bench.path("lib.so");
    let mut symbols = bench.symbols();
    let mut name = |part| {
        let at = address_of(&path, part);
        symbols
            .function(&any_build(&path), at)
            .unwrap()
            .name
            .to_string()
    };
    assert_eq!(name("_IO_fill"), "fill");
    // Where the stores are is the variant, not the dispatcher.
    assert_eq!(name("copy_avx512_unaligned"), "copy_avx512_unaligned");
    assert_eq!(name("choose"), "copy");
}

#[test]
fn calls_through_the_linkage_table_are_named_after_their_target() {
    let bench = Workbench::new();
    bench.write(
        "p.c",
        "#include <stdlib.h>\nint main(void) { free(malloc(7)); return 0; }\n",
    );
    for flags in [
        "-fcf-protection=none -Wl,-z,lazy",
        "-fcf-protection=full -Wl,-z,lazy",
        "-Wl,-z,now",
    ] {
        bench.run(&format!("gcc -O0 {flags} -o prog p.c"));
        let path = bench.path("prog");
        let mut symbols = bench.symbols();
        let named = (0x1000..0x1100)
            .filter_map(|at| symbols.function(&any_build(&path), at))
            .any(|function| &*function.name == "malloc@plt");
        assert!(named, "{flags}");
    }
}

#[test]
fn a_static_programs_calls_of_indirect_functions_are_named_too() {
    let bench = Workbench::new();
    let text = "\
static void fill_one(long *p) { *p = 1; }
static void (*choose_fill(void))(long *) { return fill_one; }
void fill(long *p) __attribute__((ifunc(\"choose_fill\")));
int main(void) { long x; fill(&x); return x != 1; }
";
    bench.write("p.c", text);
    for flags in [
        "-static -fcf-protection=none",
        "-static -fcf-protection=full",
        "-static-pie",
        "-Wl,-z,now",
    ] {
        bench.run(&format!("gcc -O0 {flags} -o prog p.c"));
        let path = bench.path("prog");
        let (behind, mut symbols) = (address_of(&path, "fill_one"), bench.symbols());
        let named = (behind.saturating_sub(0x1_0000)..behind)
            .filter_map(|at| symbols.function(&any_build(&path), at))
            .any(|function| &*function.name == "fill@plt");
        assert!(named, "{flags}");
    }
}

#[test]
fn what_is_gone_or_unreadable_is_an_offset_and_a_note() {
    let bench = Workbench::new();
    let text = bench.write("notes.txt", "not a program");
    let gone = bench.path("gone");
    let mut symbols = bench.symbols();
    for path in [&text, &gone] {
        let at = symbols.locate(&any_build(path), 0x1234);
        assert_eq!(at.to_string(), format!("{}+0x1234", path.display()));
    }
    assert!(matches!(
        symbols.notes()[0].remark,
        Remark::Unreadable { .. }
    ));
    assert_eq!(symbols.notes()[1].remark, Remark::Gone);
    // Never were files.
    for path in ["[vdso]", "linux-vdso.so.1"] {
        let vdso = ModuleRef {
            path,
            build_id: "abcd",
        };
        let at = symbols.locate(&vdso, 0x10).to_string();
        assert_eq!(at, format!("{path}+0x10"));
    }
    assert_eq!(symbols.notes().len(), 2);
}

#[test]
fn a_build_id_is_never_a_way_out_of_the_debug_directory() {
    let bench = Workbench::new();
    bench.write("put.c", "int main(void) { return 0; }");
    bench.run("gcc -g -o prog put.c");
    fs::create_dir_all(bench.path("cache")).unwrap();
    fs::create_dir_all(bench.path("x")).unwrap();
    fs::rename(bench.path("prog"), bench.path("x/debuginfo")).unwrap();
    let mut symbols = bench.symbols();
    let module = ModuleRef {
        path: "/nonexistent/prog",
        build_id: "../x",
    };
    let at = symbols.locate(&module, address_of(&bench.path("x/debuginfo"), "main"));
    assert!(matches!(*at, Location::Module { function: None, .. }));
}

#[test]
fn jit_code_by_perf_map() {
    let bench = Workbench::new();
    bench.write("perf-77.map", "7f0000001000 40 JS:*fill /srv/app.js:12\n");
    let other = bench.write("elsewhere.map", "5000 10 py::store:x.py\n");
    let mut symbols = bench.symbols();
    symbols.use_perf_map(78, other);
    let jit = |path| ModuleRef { path, build_id: "" };
    let at = symbols.locate(&jit("[jit:77]"), 0x7f00_0000_103f);
    assert_eq!(at.function(), Some("JS:*fill /srv/app.js:12"));
    assert_eq!(symbols.function(&jit("[jit:77]"), 0x7f00_0000_1040), None);
    assert_eq!(
        symbols.locate(&jit("[jit:78]"), 0x5000).function(),
        Some("py::store:x.py")
    );
    assert!(symbols.notes().is_empty());

    let at = symbols.locate(&jit("[jit:79]"), 0x9000);
    assert_eq!(
        *at,
        Location::Jit {
            process: 79,
            address: 0x9000,
            function: None
        }
    );
    symbols.locate(&jit("[jit:79]"), 0x9001);
    let [note] = symbols.notes() else {
        panic!("one note, not {:?}", symbols.notes());
    };
    assert_eq!(
        note.remark,
        Remark::NoPerfMap {
            file: bench.path("perf-79.map")
        }
    );
}
