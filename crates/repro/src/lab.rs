//! Recordings made on demand, and their simulation.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use prestore_machine::Machine;
use prestore_replay::Replay;
use prestore_sim::{Interest, NoMechanism, Results, Simulation};
use prestore_trace::container::Trace;
use serde_json::Value;
use tempfile::TempDir;

use crate::error::ReproError;
use crate::experiment::Options;
use crate::processor::OneProcessor;

/// A workload and its arguments (`workloads/README.md`).
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub program: &'static str,
    pub arguments: Vec<String>,
    /// Which of several recordings of the same, from 0.
    number: usize,
    /// Its threads take turns.
    on_one_processor: bool,
}

impl Run {
    pub(crate) fn new(program: &'static str, arguments: &str) -> Self {
        Self {
            program,
            arguments: arguments.split_whitespace().map(str::to_owned).collect(),
            number: 0,
            on_one_processor: false,
        }
    }

    /// The same, as the recording of this number, with threads that take turns on one processor.
    pub(crate) fn by_turns(self, number: usize) -> Self {
        Self {
            number,
            on_one_processor: true,
            ..self
        }
    }

    /// The name of its folder: another run has another.
    fn folder(&self) -> String {
        let words: Vec<&str> = (self.arguments.iter())
            .map(|a| a.trim_start_matches('-'))
            .collect();
        let number = match self.number {
            0 => String::new(),
            number => format!("-again{number}"),
        };
        format!("{}-{}{number}", self.program, words.join("-")).replace('=', "")
    }
}

/// Where recordings are made.
#[derive(Debug)]
pub(crate) struct Lab<'o> {
    options: &'o Options,
    kept: Option<PathBuf>,
    temporary: TempDir,
}

impl<'o> Lab<'o> {
    pub(crate) fn new(options: &'o Options) -> Result<Self, ReproError> {
        let failed = |error: std::io::Error| ReproError::Recording {
            what: "a temporary folder".into(),
            why: error.to_string(),
        };
        if let Some(dir) = &options.keep {
            std::fs::create_dir_all(dir).map_err(failed)?;
        }
        Ok(Self {
            options,
            kept: options.keep.clone(),
            temporary: match &options.scratch {
                Some(folder) => tempfile::tempdir_in(folder),
                None => tempfile::tempdir(),
            }
            .map_err(failed)?,
        })
    }

    /// Where `run`'s recording is, once there is one.
    pub(crate) fn folder(&self, run: &Run) -> PathBuf {
        let parent = self.kept.as_deref().unwrap_or(self.temporary.path());
        parent.join(run.folder())
    }

    /// Runs `run` under the recorder, unless the recordings kept have it.
    pub(crate) fn record(&self, run: &Run) -> Result<Trace, ReproError> {
        let dir = self.folder(run);
        if self.kept.is_none() || !dir.join("manifest.json").exists() {
            self.run_recorder(run, &dir)?;
        }
        Trace::open(&dir).map_err(|e| ReproError::Recording {
            what: dir.display().to_string(),
            why: e.to_string(),
        })
    }

    fn run_recorder(&self, run: &Run, dir: &Path) -> Result<(), ReproError> {
        let prestore = self.prestore()?;
        let mut command = Command::new(prestore);
        command
            .args(["record", "--quiet", "--force", "--output"])
            .arg(dir)
            .arg("--")
            .arg(prestore)
            .args(["bench-program", run.program, "--"])
            .args(&run.arguments)
            // A NOP where the processor does not know it: what counts is that it is recorded.
            .env("PRESTORE_FORCE_DEMOTE", "cldemote");
        let _pinned = run.on_one_processor.then(OneProcessor::take).flatten();
        output(
            command,
            &format!("{} {}", run.program, run.arguments.join(" ")),
        )?;
        Ok(())
    }

    /// What the command prints as JSON with these arguments.
    pub(crate) fn json(&self, arguments: &[&OsStr]) -> Result<Value, ReproError> {
        let mut command = Command::new(self.prestore()?);
        command
            .args(arguments)
            .args(["--format", "json", "--quiet"]);
        let words: Vec<_> = arguments.iter().map(|a| a.to_string_lossy()).collect();
        let what = format!("prestore {}", words.join(" "));
        let printed = output(command, &what)?;
        serde_json::from_slice(&printed).map_err(|e| ReproError::Recording {
            what,
            why: e.to_string(),
        })
    }

    /// The seed of all that is random.
    pub(crate) fn seed(&self) -> u64 {
        self.options.seed
    }

    fn prestore(&self) -> Result<&Path, ReproError> {
        (self.options.prestore.as_deref()).ok_or_else(|| ReproError::Recording {
            what: "a workload".into(),
            why: "no prestore command to record with was named".into(),
        })
    }

    /// A recording on a machine: all of it, or the part in `region`.
    pub(crate) fn simulate(
        &self,
        trace: &Trace,
        machine: &Machine,
        region: Option<u64>,
    ) -> Result<Results, ReproError> {
        let simulation = Simulation::new(machine)
            .seed(self.options.seed)
            .interest(region.map_or(Interest::All, Interest::Region));
        let simulated = Replay::new(trace, simulation).run(&mut NoMechanism);
        simulated.map_err(|error| ReproError::Replay {
            what: format!(
                "{} on {}",
                trace.manifest().info.command.join(" "),
                machine.name
            ),
            why: error.to_string(),
        })
    }

    /// Records and simulates.
    pub(crate) fn measure(
        &self,
        run: &Run,
        machine: &Machine,
        region: Option<u64>,
    ) -> Result<Results, ReproError> {
        self.simulate(&self.record(run)?, machine, region)
    }

    /// A count, smaller where it shall be quick.
    pub(crate) fn count(&self, full: u64) -> u64 {
        if self.options.quick { full / 4 } else { full }
    }
}

/// Runs `command`; what it printed.
fn output(mut command: Command, what: &str) -> Result<Vec<u8>, ReproError> {
    let failed = |why: String| ReproError::Recording {
        what: what.to_owned(),
        why,
    };
    let output = (command.stdin(Stdio::null()).output()).map_err(|e| {
        failed(format!(
            "{} cannot be run: {e}",
            command.get_program().display()
        ))
    })?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(failed(format!("{}: {}", output.status, said.trim())))
}
