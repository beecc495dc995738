//! Builds a program of random blocks, runs it natively and recorded, and shrinks what differs.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use super::block::{Block, block};
use super::features::{Features, Level};
use super::program::{Plan, text};
use super::shrink::shrink;
use crate::common::{Said, native, out_dir, recorder, scratch, source, str};

/// Programs that are run to shrink one that fails.
const TRIES: u32 = 250;

/// One program.
#[derive(Clone, Debug)]
pub struct Case {
    pub seed: u64,
    /// Numbers of its blocks.
    pub first: u64,
    pub blocks: u64,
    pub level: Level,
    pub plan: Plan,
    /// The recorder's.
    pub options: Vec<String>,
}

/// Runs natively and recorded; where the two differ, says how, of the least that still does.
///
/// # Errors
/// The difference, or what is wrong with the generator.
pub fn check(case: &Case) -> Result<(), String> {
    let Some(features) = Features::at(case.level) else {
        eprintln!("SKIPPED: this processor has no {:?}", case.level);
        return Ok(());
    };
    let numbers = case.first..case.first + case.blocks;
    let blocks: Vec<Block> = numbers.map(|n| block(case.seed, n, &features)).collect();
    compare(case, &features, blocks)
}

/// The same for one block of given `lines`, from random registers, with any vectors there are.
///
/// # Errors
/// As `check`.
pub fn check_lines(lines: &[&str], protect: [u8; 2], options: &[&str]) -> Result<(), String> {
    let all = [Level::Avx512, Level::Avx, Level::Sse];
    let Some(features) = all.into_iter().find_map(Features::at) else {
        return Ok(());
    };
    let case = Case {
        seed: 0,
        first: 0,
        blocks: 1,
        level: features.level,
        // Hot code is translated again, in traces.
        plan: Plan {
            rounds: 60,
            tick: 0,
        },
        options: options.iter().map(|&o| o.into()).collect(),
    };
    compare(&case, &features, vec![Block::of_lines(lines, protect)])
}

fn compare(case: &Case, features: &Features, blocks: Vec<Block>) -> Result<(), String> {
    let bench = Bench {
        case,
        features,
        dir: scratch(),
    };
    let program = bench.build(&blocks).map_err(|e| format!("{case:?}: {e}"))?;
    let plain = bench.native(&program, &[]);
    if !plain.status.success() {
        // The block that was running says its number.
        let number = plain.stdout.split([' ', ':']).nth(1).unwrap_or("");
        let lines = blocks.iter().find(|b| b.name == format!("block_{number}"));
        let lines = lines.map(|b| format!("{:?}\n{}", b.regs, b.units.concat().join("\n")));
        return Err(format!(
            "{case:?}: a generator's error: {plain:?}\n{}",
            lines.unwrap_or_default()
        ));
    }
    let recorded = bench.recorded(&program, &[]);
    if recorded.stdout == plain.stdout {
        return Ok(());
    }
    Err(bench.report(blocks, &plain, &recorded))
}

struct Bench<'a> {
    case: &'a Case,
    features: &'a Features,
    dir: tempfile::TempDir,
}

impl Bench<'_> {
    fn build(&self, blocks: &[Block]) -> Result<PathBuf, String> {
        let (asm, program) = (
            self.dir.path().join("blocks.s"),
            self.dir.path().join("blocks"),
        );
        std::fs::write(&asm, text(blocks, self.features, self.case.plan))
            .map_err(|e| e.to_string())?;
        let made = Command::new("cc")
            .args(["-static", "-no-pie", "-o"])
            .args([program.as_path(), harness(), &asm])
            .output()
            .map_err(|e| e.to_string())?;
        let log = String::from_utf8_lossy(&made.stderr).into_owned();
        if made.status.success() {
            return Ok(program);
        }
        let text = std::fs::read_to_string(&asm).unwrap_or_default();
        let line = |l: &str| {
            text.lines()
                .nth(l.split(':').nth(1)?.parse::<usize>().ok()? - 1)
        };
        let explained = log
            .lines()
            .map(|l| format!("{l}{}\n", line(l).unwrap_or("")));
        Err(explained.collect())
    }

    /// A block that a shrinker has cut may never end.
    fn native(&self, program: &Path, args: &[&str]) -> Said {
        let command = ["timeout", "10", str(program)];
        native(&[&command[..], args].concat())
    }

    fn recorded(&self, program: &Path, args: &[&str]) -> Said {
        let options: Vec<&str> = self.case.options.iter().map(String::as_str).collect();
        let (mut said, facts) = recorder(&options, &[&[str(program)], args].concat()).run();
        // A program that ran unrecorded prints what it prints natively.
        if let Some(error) = facts.error {
            said.stdout = format!("not recorded: {error}");
        }
        said
    }

    fn fails(&self, blocks: &[Block]) -> bool {
        let Ok(program) = self.build(blocks) else {
            return false;
        };
        let plain = self.native(&program, &[]);
        plain.status.success() && self.recorded(&program, &[]).stdout != plain.stdout
    }

    fn report(&self, blocks: Vec<Block>, plain: &Said, recorded: &Said) -> String {
        let lines =
            |said: &Said| -> Vec<String> { said.stdout.lines().map(str::to_owned).collect() };
        let (natively, recorded_lines) = (lines(plain), lines(recorded));
        let same = |l: &&String| !recorded_lines.contains(l);
        let differing: Vec<String> = natively.iter().filter(same).cloned().collect();
        let mut text = format!(
            "{:?}\n{} of {} blocks differ, or did not run; recorded it ended with {} and\n{}{}",
            self.case,
            differing.len(),
            blocks.len(),
            recorded.status,
            recorded.stdout.lines().last().unwrap_or(""),
            recorded.stderr
        );
        // The first that differs fails alone, as a rule.
        let alone = differing.iter().take(3).find_map(|line| {
            let number = line.split(' ').next()?;
            let block = blocks
                .iter()
                .find(|b| b.name == format!("block_{number}"))?;
            self.fails(std::slice::from_ref(block))
                .then(|| vec![block.clone()])
        });
        let mut tries = TRIES;
        let few = alone.unwrap_or_else(|| shrink(blocks, &mut tries, |some| self.fails(some)));
        let small: Vec<Block> = match &few[..] {
            [one] => vec![self.smaller(one, &mut tries)],
            _ => few,
        };
        for block in &small {
            text.push_str(&format!("\nshrunk: {} {:?}\n", block.name, block.regs));
            for line in block.units.iter().flatten() {
                text.push_str(&format!("\t{line}\n"));
            }
        }
        text.push_str(&self.difference(&small));
        text
    }

    /// Without the steps, then the lines, that the failure does not need.
    fn smaller(&self, one: &Block, tries: &mut u32) -> Block {
        let with = |units: &[Vec<String>]| Block {
            units: units.to_vec(),
            ..one.clone()
        };
        let units = shrink(one.units.clone(), tries, |u| self.fails(&[with(u)]));
        let lines: Vec<Vec<String>> = units.concat().into_iter().map(|line| vec![line]).collect();
        with(&shrink(lines, tries, |u| self.fails(&[with(u)])))
    }

    /// What the first block's state differs in.
    fn difference(&self, blocks: &[Block]) -> String {
        let (Ok(program), Some(block)) = (self.build(blocks), blocks.first()) else {
            return String::new();
        };
        let number = block.name.trim_start_matches("block_");
        let (plain, recorded) = (
            self.native(&program, &[number]),
            self.recorded(&program, &[number]),
        );
        let only = |a: &Said, b: &Said, sign: &str| -> String {
            let other: Vec<&str> = b.stdout.lines().collect();
            let lines = a.stdout.lines().filter(|l| !other.contains(l)).take(12);
            lines.map(|l| format!("{sign} {l}\n")).collect()
        };
        format!(
            "{}{}",
            only(&plain, &recorded, "native  "),
            only(&recorded, &plain, "recorded")
        )
    }
}

/// The part of all programs that is compiled once.
fn harness() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let out = out_dir().join(format!("blocks{}.o", std::process::id()));
        let done = Command::new("cc")
            .args(["-O1", "-g", "-c", "-o"])
            .arg(&out)
            .arg(source("blocks.c"))
            .output()
            .unwrap();
        let log = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{log}");
        out
    })
}
