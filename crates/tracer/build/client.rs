//! The tracer's client, a shared library that the engine loads.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::engine::{Engine, Flavour};

pub fn build(engine: &Engine, out: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let client = out.join("libprestore_client.so");
    let mut sources: Vec<PathBuf> = std::fs::read_dir("client")?
        .map(|entry| entry.map(|e| e.path()))
        .collect::<Result<_, _>>()?;
    sources.retain(|path| path.extension().is_some_and(|e| e == "c"));
    sources.sort();
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    sources.push(inner(engine, &compiler, out)?);
    let mut command = Command::new(&compiler);
    command
        .args([
            "-std=gnu11",
            "-O2",
            "-g",
            "-fPIC",
            "-shared",
            // Calls within the client are direct: nobody puts functions of his own in the place of its.
            "-fno-semantic-interposition",
            "-Wl,-Bsymbolic-functions",
            "-nostartfiles",
        ])
        .args(["-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter"])
        .args([
            "-DLINUX",
            "-DX86_64",
            // Fields of instructions and operands are read in line, not by calls.
            "-DDR_FAST_IR",
            "-Wl,-rpath,$ORIGIN",
            "-Wl,--no-undefined",
        ])
        .arg("-o")
        .arg(&client)
        .args(&sources);
    if engine.flavour == Flavour::Debug {
        command.arg("-DENGINE_ASSERTS");
    }
    for include in engine.includes() {
        command.arg("-isystem").arg(include);
    }
    let extensions = engine.extension_libraries();
    command.arg("-L").arg(&extensions);
    command.arg("-L").arg(engine.core_libraries());
    command.args(["-ldrmgr", "-ldrutil", "-ldrbbdup", "-ldynamorio"]);
    command.arg(extensions.join("libdrcontainers.a")).arg("-lc");
    run(&mut command, &compiler)?;
    Ok(client)
}

/// What needs the engine's own headers, which are not those for clients.
fn inner(engine: &Engine, compiler: &str, out: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let object = out.join("engine_signals.o");
    let mut command = Command::new(compiler);
    command
        .args(["-std=gnu99", "-O2", "-fPIC", "-c"])
        .args(["-funsigned-char", "-fno-strict-aliasing"])
        .args(["-DDYNAMORIO_INTERNAL", "-D_LARGEFILE64_SOURCE"])
        .arg("-o")
        .arg(&object)
        .arg("client/engine/signals.c");
    for include in engine.inner_includes() {
        command.arg("-isystem").arg(include);
    }
    run(&mut command, compiler)?;
    Ok(object)
}

fn run(command: &mut Command, compiler: &str) -> Result<(), Box<dyn Error>> {
    let status = command
        .status()
        .map_err(|e| format!("the C compiler '{compiler}' cannot be run: {e}"))?;
    if !status.success() {
        return Err("compiling the tracer's client failed, see above".into());
    }
    Ok(())
}
