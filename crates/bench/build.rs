//! Compiles the workloads that `prestore bench` runs, each with its `main` under a name of its own.

use std::path::{Path, PathBuf};

/// Name, and the folder or file of its sources in `workloads/`.
const PROGRAMS: [(&str, &str); 11] = [
    ("listing1", "listings/listing1.c"),
    ("listing2", "listings/listing2.c"),
    ("listing3", "listings/listing3.c"),
    ("ring", "ring"),
    ("kv", "kv"),
    ("stencil", "stencil"),
    ("fft", "fft"),
    ("modes_array", "modes/array.c"),
    ("modes_queue", "modes/queue.c"),
    ("modes_hash", "modes/hash.c"),
    ("modes_cowlist", "modes/cowlist.c"),
];

/// What those in `workloads/modes` share.
const MODES_SHARED: [&str; 4] = ["form.c", "log.c", "nodes.c", "pool.c"];

fn main() -> std::io::Result<()> {
    println!("cargo::rustc-check-cfg=cfg(programs)");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../../workloads");
    println!("cargo::rerun-if-changed=../../include");
    let unix = std::env::var_os("CARGO_CFG_UNIX").is_some();
    let arch = std::env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default();
    if !unix || !matches!(arch.as_str(), "x86_64" | "aarch64") {
        println!(
            "cargo::warning=the workloads need x86-64 or AArch64 and Unix: this build has no programs to bench"
        );
        return Ok(());
    }
    let workloads = PathBuf::from("../../workloads");
    for (name, sources) in PROGRAMS {
        compiler()
            .define("main", format!("prestore_bench_{name}").as_str())
            .files(c_files(&workloads.join(sources))?)
            .compile(&format!("prestore_bench_{name}"));
    }
    // Its classes need nothing of C++'s library.
    let mut tensor = cc::Build::new();
    tensor.cpp(true).cpp_link_stdlib(None).std("gnu++17");
    tensor
        .opt_level(2)
        .flag("-fno-exceptions")
        .flag("-fno-rtti");
    tensor
        .define("main", "prestore_bench_tensor")
        .file(workloads.join("tensor/tensor.cpp"))
        .compile("prestore_bench_tensor");
    compiler()
        .files(c_files(&workloads.join("common"))?)
        .files(MODES_SHARED.map(|file| workloads.join("modes").join(file)))
        .compile("prestore_bench_common");
    println!("cargo::rustc-cfg=programs");
    Ok(())
}

/// As in `workloads/Makefile`, whatever profile this crate is built in: the programs are what is measured.
fn compiler() -> cc::Build {
    let mut build = cc::Build::new();
    build.std("gnu11").opt_level(2).flag("-pthread");
    build
}

fn c_files(path: &Path) -> std::io::Result<Vec<PathBuf>> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files: Vec<PathBuf> = std::fs::read_dir(path)?
        .map(|entry| entry.map(|e| e.path()))
        .collect::<Result<_, _>>()?;
    files.retain(|file| file.extension().is_some_and(|e| e == "c"));
    files.sort();
    Ok(files)
}
