//! Names, lines and inlined frames of programs in the languages users write.

use crate::build::{Workbench, address_of, any_build, have, line_of};
use prestore_symbols::{Location, Symbols};
use std::path::Path;

const C: &str = "\
volatile long sink;
static inline __attribute__((always_inline)) void inner(long *p, long v) {
    *p = v; /* store */
}
static inline __attribute__((always_inline)) void middle(long *p, long v) {
    inner(p, v); /* calls inner */
}
__attribute__((noinline)) void outer(long *p, long v) {
    middle(p, v); /* calls middle */
}
int main(void) { long x; outer(&x, 3); sink = x; return 0; }
";

/// Every distinct location of the bytes of the function at `start`.
fn all(symbols: &mut Symbols, path: &Path, start: u64) -> Vec<std::sync::Arc<Location>> {
    let module = any_build(path);
    let size = symbols.function(&module, start).unwrap().size;
    assert!(size > 0);
    (start..start + size)
        .map(|at| symbols.locate(&module, at))
        .collect()
}

fn inlined_frames(flags: &str) {
    let bench = Workbench::new();
    bench.write("src/list.c", C);
    bench.run(&format!("gcc -g {flags} -o prog src/list.c"));
    let path = bench.path("prog");
    let mut symbols = bench.symbols();
    let found = all(&mut symbols, &path, address_of(&path, "outer"));
    let deep = found
        .iter()
        .find(|at| at.frames().len() == 3)
        .expect("three frames");
    let frames = deep.frames();
    let names: Vec<_> = frames.iter().map(|f| (&*f.function, f.inlined)).collect();
    assert_eq!(
        names,
        [("inner", true), ("middle", true), ("outer", false)],
        "{flags}"
    );
    let lines: Vec<_> = frames.iter().map(|f| f.line.unwrap()).collect();
    let want = ["/* store */", "/* calls inner */", "/* calls middle */"].map(|m| line_of(C, m));
    assert_eq!(lines, want, "{flags}");
    // Joined with the directory of the compilation.
    let file = bench.path("src/list.c").canonicalize().unwrap();
    assert_eq!(frames[0].file.as_deref(), file.to_str(), "{flags}");
    assert_eq!(deep.source().unwrap().1, want[0]);
    assert_eq!(deep.function(), Some("inner"));
    assert_eq!(&*deep.physical_function().unwrap().name, "outer");
    assert!(symbols.notes().is_empty(), "{:?}", symbols.notes());
}

#[test]
fn inlined_frames_of_every_kind_of_executable() {
    for flags in [
        "-O2",
        "-O2 -no-pie",
        "-O2 -static",
        "-O2 -static-pie",
        "-O2 -gdwarf-4",
        "-O2 -gz=zlib",
        "-O2 -gsplit-dwarf",
        "-O2 -Wl,--emit-relocs",
    ] {
        inlined_frames(flags);
    }
}

#[test]
fn cpp_names_are_demangled() {
    let bench = Workbench::new();
    let text = "\
namespace tensor {
template <typename T> __attribute__((noinline)) void fill(T *p, unsigned long n) {
    for (unsigned long i = 0; i < n; i++) p[i] = T(i); // store
}
struct Map { void put(int) __attribute__((noinline)); int v; };
void Map::put(int x) { v = x; }
}
int main(int argc, char **) {
    float f[64]; tensor::fill(f, 64 + argc - 1); tensor::Map m; m.put(argc); return m.v + f[3];
}
";
    bench.write("t.cc", text);
    bench.run("g++ -g -O1 -o prog t.cc");
    let path = bench.path("prog");
    let mut symbols = bench.symbols();
    let fill = all(&mut symbols, &path, address_of(&path, "fill"));
    let store = fill
        .iter()
        .find(|at| at.source().unwrap().1 == line_of(text, "// store"));
    assert_eq!(
        store.unwrap().function(),
        Some("tensor::fill<float>(float*, unsigned long)")
    );
    let put = address_of(&path, "3put");
    let named = symbols.function(&any_build(&path), put).unwrap();
    assert_eq!(
        (&*named.name, &*named.raw),
        ("tensor::Map::put(int)", "_ZN6tensor3Map3putEi")
    );
    assert_eq!(
        symbols.locate(&any_build(&path), put).function(),
        Some("tensor::Map::put(int)")
    );
}

#[test]
fn rust_names_have_no_hash() {
    let bench = Workbench::new();
    let text = "\
mod kv {
    pub struct Map(pub Vec<u64>);
    impl Map {
        #[inline(never)]
        pub fn put(&mut self, k: usize, v: u64) { self.0[k] = v; }
    }
}
fn main() { let mut m = kv::Map(vec![0; 9]); m.put(std::env::args().count(), 7); println!(\"{}\", m.0[1]); }
";
    bench.write("store.rs", text);
    for flags in [
        "-C debuginfo=2",
        "-C debuginfo=2 -C symbol-mangling-version=v0",
        // Lines only: the symbol table has the full name, the debug information `put`.
        "-C debuginfo=line-tables-only",
        "-C debuginfo=0",
    ] {
        bench.run(&format!("rustc -O {flags} -o prog store.rs"));
        let path = bench.path("prog");
        let at = address_of(&path, "3put");
        let mut symbols = bench.symbols();
        let function = symbols.function(&any_build(&path), at).unwrap();
        let named = symbols.locate(&any_build(&path), at);
        // Indexing is inlined into `put`; without debug information there is the symbol only.
        let outermost = named.frames().last().map(|frame| &*frame.function);
        for name in [&*function.name, outermost.unwrap_or(&function.name)] {
            let name = name.replace("<store::kv::Map>::", "store::kv::Map::");
            assert_eq!(name, "store::kv::Map::put", "{flags}: {named}");
        }
    }
}

#[test]
fn fortran_names_stand_as_the_compiler_made_them() {
    if !have("gfortran") {
        return;
    }
    let bench = Workbench::new();
    let text = "\
module grid
contains
  subroutine relax(u, n)
    integer, intent(in) :: n
    real(8), intent(inout) :: u(n)
    u = u * 0.5d0
  end subroutine
end module
subroutine psinv(r, n)
  integer, intent(in) :: n
  real(8), intent(inout) :: r(n)
  r(1) = 4d0 ! store
end subroutine
program main
  use grid
  real(8) :: a(100)
  a = 1d0
  call relax(a, 100)
  call psinv(a, 100)
  print *, a(1)
end program
";
    bench.write("mg.f90", text);
    bench.run("gfortran -g -O0 -o prog mg.f90");
    let path = bench.path("prog");
    let mut symbols = bench.symbols();
    for name in ["__grid_MOD_relax", "psinv_"] {
        let at = address_of(&path, name);
        assert_eq!(
            &*symbols.function(&any_build(&path), at).unwrap().name,
            name
        );
        assert_eq!(symbols.locate(&any_build(&path), at).function(), Some(name));
    }
    let lines: Vec<_> = all(&mut symbols, &path, address_of(&path, "psinv_"))
        .iter()
        .map(|at| at.source().unwrap().1)
        .collect();
    assert!(lines.contains(&line_of(text, "! store")));
}

#[test]
fn assembly_without_sizes_is_named_up_to_the_next_symbol() {
    let bench = Workbench::new();
    let text = "\
    .text
    .globl first
first:
    nop
.Llocal:
    nop
    nop
    .globl second
    .type second, @function
second:
    ret
    .size second, .-second
    nop
    .section .note.GNU-stack,\"\",@progbits
";
    bench.write("a.s", text);
    bench.run("gcc -shared -nostdlib -o liba.so a.s");
    let path = bench.path("liba.so");
    let mut symbols = bench.symbols();
    let start = address_of(&path, "first");
    let mut name = |at| {
        symbols
            .function(&any_build(&path), at)
            .map(|f| f.name.to_string())
    };
    assert_eq!(name(start + 2).as_deref(), Some("first"));
    assert_eq!(name(start + 3).as_deref(), Some("second"));
    assert_eq!(name(start + 4), None);
}
