//! The list of programs: `scripts/transparency.toml`.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde::Deserialize;

/// One program.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    pub name: String,
    /// Debian's.
    pub package: String,
    /// Other packages that its command or setup wants.
    #[serde(default)]
    pub also: Vec<String>,
    /// Says the version where the package does not.
    pub version: Option<String>,
    #[serde(default)]
    pub inputs: Vec<String>,
    pub setup: Option<String>,
    pub command: String,
    /// Runs in the test suite, too.
    #[serde(default)]
    pub suite: bool,
}

#[derive(Deserialize)]
struct List {
    /// What makes an input.
    inputs: BTreeMap<String, String>,
    program: Vec<Program>,
}

/// All of them, what makes their inputs put before their own setup.
pub fn programs() -> Vec<Program> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/transparency.toml");
    let list: List = toml::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let whole = |mut program: Program| {
        let inputs = program.inputs.iter().map(|i| list.inputs[i].clone());
        let steps: Vec<String> = inputs.chain(program.setup.take()).collect();
        program.setup = Some(steps.join("\n"));
        program
    };
    list.program.into_iter().map(whole).collect()
}

impl Program {
    /// The version that is installed; `None`: it is not.
    pub fn installed(&self) -> Option<String> {
        let said = |command: &str| {
            let done = Command::new("sh").args(["-c", command]).output().ok()?;
            let text = String::from_utf8_lossy(&done.stdout).trim().to_owned();
            (done.status.success() && !text.is_empty()).then_some(text)
        };
        let version = |package: &str| {
            said(&format!(
                "dpkg-query -W -f '${{Version}}' {package} 2>/dev/null"
            ))
        };
        if self.also.iter().any(|p| version(p).is_none()) {
            return None;
        }
        match &self.version {
            Some(command) => said(command),
            None => version(&self.package),
        }
    }
}
