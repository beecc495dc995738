//! Go's standard library, which is compiled into every program: what its functions write is their callers'.

/// The folders below `src` of a Go installation, each a package or a family of them.
const PACKAGES: [&str; 54] = [
    "archive",
    "arena",
    "bufio",
    "builtin",
    "bytes",
    "cmp",
    "compress",
    "container",
    "context",
    "crypto",
    "database",
    "debug",
    "embed",
    "encoding",
    "errors",
    "expvar",
    "flag",
    "fmt",
    "go",
    "hash",
    "html",
    "image",
    "index",
    "internal",
    "io",
    "iter",
    "log",
    "maps",
    "math",
    "mime",
    "net",
    "os",
    "path",
    "plugin",
    "reflect",
    "regexp",
    "runtime",
    "simd",
    "slices",
    "sort",
    "strconv",
    "strings",
    "structs",
    "sync",
    "syscall",
    "testing",
    "text",
    "time",
    "type",
    "unicode",
    "unique",
    "unsafe",
    "vendor",
    "weak",
];

/// May the function be one of Go's own, by its name: `bytes.(*Buffer).Write`, `encoding/json.Marshal`? Others can be called so
/// too: its file tells.
#[must_use]
pub fn is_go_function(name: &str) -> bool {
    let package = name.split_once(['.', '/']).map(|(package, _)| package);
    package.is_some_and(|p| PACKAGES.contains(&p.trim_end_matches(':')))
}

/// Is it a source file of Go's standard library? It lies in the folder of a package below `go…/src`, or was named from there
/// on (`-trimpath`). What users have below `go/src` begins with the name of a host.
pub(crate) fn is_go_path(path: &str) -> bool {
    if !path.ends_with(".go") && !path.ends_with(".s") {
        return false;
    }
    let mut folders = path.split('/').collect::<Vec<_>>();
    folders.pop();
    let is_package = |folder: Option<&&str>| folder.is_some_and(|f| PACKAGES.contains(f));
    if !path.starts_with(['/', '.']) && is_package(folders.first()) {
        return true;
    }
    let installed = |name: &str| name.starts_with("go") || name.starts_with("toolchain@");
    let versioned = |at: usize| folders[..at].iter().rev().take(3).any(|f| installed(f));
    (0..folders.len())
        .any(|at| folders[at] == "src" && versioned(at) && is_package(folders.get(at + 1)))
}

#[cfg(test)]
mod tests {
    use super::{is_go_function, is_go_path};

    #[test]
    fn files_of_the_library_are_told_from_the_users() {
        for file in [
            "/usr/local/go/src/runtime/memmove_amd64.s",
            "/usr/lib/go-1.19/src/bytes/buffer.go",
            "/home/me/sdk/go1.22.1/src/encoding/json/encode.go",
            "/home/me/go/pkg/mod/golang.org/toolchain@v0.0.1-go1.24.0.linux-amd64/src/fmt/print.go",
            "/opt/hostedtoolcache/go/1.22.1/x64/src/sort/slice.go",
            "/nix/store/abc-go-1.22/share/go/src/maps/maps.go",
            "runtime/malloc.go",
        ] {
            assert!(is_go_path(file), "{file}");
        }
        for file in [
            "/home/me/go/src/github.com/me/kv/main.go",
            "/home/me/kv/src/runtime/main.go",
            "/home/me/kv/main.go",
            "./sort/main.go",
            "github.com/me/kv/runtime/main.go",
            "/home/me/go/src/sort/sort.c",
        ] {
            assert!(!is_go_path(file), "{file}");
        }
    }

    #[test]
    fn functions_of_the_library_are_known_by_their_package() {
        for name in [
            "runtime.memmove",
            "bytes.(*Buffer).Write",
            "encoding/json.Marshal",
            "slices.SortFunc[go.shape.[]int]",
            "internal/reflectlite.Swapper.func5",
            "type:.eq.main.record",
        ] {
            assert!(is_go_function(name), "{name}");
        }
        for name in [
            "main.main",
            "github.com/me/kv.Put",
            "sort",
            "std::sort",
            "kv/store.Put",
        ] {
            assert!(!is_go_function(name), "{name}");
        }
    }
}
