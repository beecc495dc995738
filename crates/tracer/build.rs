//! Builds the instrumentation engine and the tracer's client, and packs them for embedding.

#[path = "build/client.rs"]
mod client;
#[path = "build/engine.rs"]
mod engine;
#[path = "build/pack.rs"]
mod pack;
#[path = "build/patches.rs"]
mod patches;

use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=client");
    println!("cargo::rerun-if-changed=engine");
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(engine)");
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    let arch = std::env::var("CARGO_CFG_TARGET_ARCH")?;
    let os = std::env::var("CARGO_CFG_TARGET_OS")?;
    if (arch.as_str(), os.as_str()) != ("x86_64", "linux") {
        // The tool then analyses recordings made elsewhere; recording says so.
        println!("cargo::warning=the tracer needs x86-64 Linux: this build cannot record");
        return Ok(());
    }
    let engine = engine::build(&out)?;
    let client = client::build(&engine, &out)?;
    let version = pack::pack(&engine, &client, &out)?;
    println!(
        "cargo::rustc-env=PRESTORE_ENGINE_VERSION={}",
        engine.version
    );
    println!("cargo::rustc-env=PRESTORE_ENGINE_ID={version}");
    println!(
        "cargo::rustc-env=PRESTORE_ENGINE_OPTIONS={}",
        engine.flavour.options()
    );
    println!("cargo::rustc-cfg=engine");
    Ok(())
}
