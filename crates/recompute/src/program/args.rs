//! The command line.

use std::ops::Range;
use std::path::PathBuf;

use crate::kernels::{Gemm, Packing, Persistence, Variant};
use crate::{Durability, Scheme};

pub(super) const USAGE: &str = "\
Runs one of the loops of P4, made failure-safe by a scheme, and says what it did.

usage: recompute-kernels [--key=value ...]

  --kernel=tmm_ii      tmm_ii, tmm_jj, lu, fft, gauss, convolution, naive, or a variant of GEMM: gepp1, gepp2, gepm1,
                       gepm2, gemp1, gemp2
  --scheme=R           none, CP or CP8 (every 8 iterations), CPall8 (the inputs, too), L, R, HRx64
  --size=256           rows of the matrix; of fft, the root of the points
  --block=16           rows of a block
  --threads=1          workers
  --iterations=N       only so many iterations of the outermost loop (tmm, gauss; of lu diagonal blocks), or rounds of
                       the convolution (default 10)
  --region=1..3        a recording's region 4095 is these iterations only: 1 and 2; what is before warms up
  --packing=yes        GEMM: whether blocks are packed
  --persistence=eager  GEMM: eager (each tile) or lazy (each panel)
  --file=PATH          where the loop is; a loop that is there goes on. Without it, in ordinary memory, flushed and
                       fenced as if it were persistent
  --durability=auto    of a file: auto, flush or msync
";

pub(super) struct Args {
    pub kernel: String,
    pub scheme: Scheme,
    pub size: usize,
    pub block: usize,
    pub threads: usize,
    pub iterations: Option<usize>,
    pub region: Option<Range<usize>>,
    pub packing: Packing,
    pub persistence: Persistence,
    pub file: Option<PathBuf>,
    pub durability: Durability,
}

fn count(key: &str, value: &str) -> Result<usize, String> {
    match value.parse() {
        Ok(count) if (1..=1 << 20).contains(&count) => Ok(count),
        _ => Err(format!("--{key}={value}: give a number from 1 to 1048576")),
    }
}

fn range(key: &str, value: &str) -> Result<Range<usize>, String> {
    let both = value.split_once("..").and_then(|(from, to)| {
        let range = from.parse().ok()?..to.parse().ok()?;
        (!range.is_empty()).then_some(range)
    });
    both.ok_or_else(|| {
        format!("--{key}={value}: give the first iteration and the one behind the last, as in 1..3")
    })
}

fn choice<T: Copy>(key: &str, value: &str, choices: &[(&str, T)]) -> Result<T, String> {
    let found = choices.iter().find(|(name, _)| *name == value);
    found.map(|(_, choice)| *choice).ok_or_else(|| {
        let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
        format!("--{key}={value}: take one of {}", names.join(", "))
    })
}

/// What a command line asks for.
pub(super) enum Asked {
    Help,
    Loop(Box<Args>),
}

impl Args {
    pub fn parse(given: impl Iterator<Item = String>) -> Result<Asked, String> {
        let mut args = Args {
            kernel: "tmm_ii".to_string(),
            scheme: Scheme::Recompute,
            size: 256,
            block: 16,
            threads: 1,
            iterations: None,
            region: None,
            packing: Packing::On,
            persistence: Persistence::Eager,
            file: None,
            durability: Durability::Auto,
        };
        for argument in given {
            if argument == "--help" {
                return Ok(Asked::Help);
            }
            let pair = argument
                .strip_prefix("--")
                .and_then(|rest| rest.split_once('='));
            let Some((key, value)) = pair else {
                return Err(format!(
                    "{argument}: arguments are --key=value (--help lists them)"
                ));
            };
            match key {
                "kernel" => args.kernel = value.to_string(),
                "scheme" => args.scheme = value.parse()?,
                "size" => args.size = count(key, value)?,
                "block" => args.block = count(key, value)?,
                "threads" => args.threads = count(key, value)?,
                "iterations" => args.iterations = Some(count(key, value)?),
                "region" => args.region = Some(range(key, value)?),
                "packing" => {
                    args.packing =
                        choice(key, value, &[("yes", Packing::On), ("no", Packing::Off)])?
                }
                "persistence" => {
                    let choices = [("eager", Persistence::Eager), ("lazy", Persistence::Lazy)];
                    args.persistence = choice(key, value, &choices)?;
                }
                "file" => args.file = Some(value.into()),
                "durability" => {
                    let choices = [
                        ("auto", Durability::Auto),
                        ("flush", Durability::Flush),
                        ("msync", Durability::Msync),
                    ];
                    args.durability = choice(key, value, &choices)?;
                }
                _ => {
                    return Err(format!(
                        "--{key}: there is no such argument (--help lists them)"
                    ));
                }
            }
        }
        args.check()?;
        Ok(Asked::Loop(Box::new(args)))
    }

    /// What the kernels need to be true.
    fn check(&self) -> Result<(), String> {
        let (size, block) = (self.size, self.block);
        let whole = !matches!(self.kernel.as_str(), "fft" | "gauss" | "convolution");
        if whole && !size.is_multiple_of(block) {
            return Err(format!(
                "--size={size} is not a multiple of --block={block}"
            ));
        }
        if self.kernel == "fft" && !size.is_power_of_two() {
            return Err(format!("--size={size}: fft needs a power of 2"));
        }
        if self.kernel == "gauss" && size < 2 {
            return Err("--size=1: gauss needs at least 2 equations".to_string());
        }
        Ok(())
    }

    /// The kernel as a variant of GEMM.
    pub fn gemm(&self) -> Option<Gemm> {
        let variant: Variant = self.kernel.parse().ok()?;
        Some(Gemm::new(
            variant,
            self.size,
            self.block,
            self.packing,
            self.persistence,
        ))
    }
}
