//! What is run.

use crate::{BenchError, Program, Variant};

/// What the user asks for; empty lists stand for all there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Programs.
    pub programs: Vec<Program>,
    /// Variants beside base, which is always run: the others are compared with it.
    pub variants: Vec<Variant>,
    /// Bytes of one write, for the programs where it can be chosen: multiples of 64 up to 4096.
    pub sizes: Vec<u64>,
    /// Threads, for the programs where they can be chosen.
    pub threads: Vec<u64>,
    /// Rounds; each runs every variant once.
    pub runs: usize,
}

/// A program with its arguments, in all its variants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The program.
    pub program: Program,
    /// Bytes of one write.
    pub size: u64,
    /// Threads.
    pub threads: u64,
    /// Base first.
    pub variants: Vec<Variant>,
}

impl Case {
    /// The program's arguments in a variant.
    pub fn arguments(&self, variant: Variant) -> Vec<String> {
        let mut arguments = self.program.arguments(self.size, self.threads);
        arguments.push(format!("--op={}", variant.word()));
        arguments
    }
}

/// Everything that is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// In this order.
    pub cases: Vec<Case>,
    /// Rounds of each case, at least 1.
    pub runs: usize,
}

/// What the workloads take.
const LARGEST_SIZE: u64 = 4096;
const MOST_THREADS: u64 = 256;

impl Plan {
    /// Makes a plan.
    ///
    /// # Errors
    /// [`BenchError::Size`], [`BenchError::Threads`], [`BenchError::Runs`] for values that no program takes, and
    /// [`BenchError::NothingToRun`] where no chosen program has a chosen variant.
    pub fn of(options: &Options) -> Result<Plan, BenchError> {
        if let Some(&size) = options
            .sizes
            .iter()
            .find(|&&s| s == 0 || s % 64 != 0 || s > LARGEST_SIZE)
        {
            return Err(BenchError::Size { size });
        }
        if let Some(&threads) = options
            .threads
            .iter()
            .find(|&&t| t == 0 || t > MOST_THREADS)
        {
            return Err(BenchError::Threads { threads });
        }
        if options.runs == 0 {
            return Err(BenchError::Runs);
        }
        let cases: Vec<Case> = Program::ALL
            .into_iter()
            .filter(|program| options.programs.is_empty() || options.programs.contains(program))
            .flat_map(|program| cases_of(program, options))
            .collect();
        if cases.is_empty() {
            return Err(BenchError::NothingToRun);
        }
        Ok(Plan {
            cases,
            runs: options.runs,
        })
    }

    /// Runs of programs in all, the warming one of each case included.
    pub fn executions(&self) -> usize {
        let variants: usize = self.cases.iter().map(|case| case.variants.len()).sum();
        variants * self.runs + self.cases.len()
    }
}

fn cases_of(program: Program, options: &Options) -> Vec<Case> {
    let wanted = |v: &Variant| {
        *v == Variant::Base || options.variants.is_empty() || options.variants.contains(v)
    };
    let variants: Vec<Variant> = program.variants().iter().copied().filter(wanted).collect();
    let only_base_is_asked_for = options.variants == [Variant::Base];
    if variants.len() < 2 && !only_base_is_asked_for {
        return Vec::new();
    }
    let sizes = match (program.sizes_vary(), options.sizes.as_slice()) {
        (true, sizes @ [_, ..]) => sizes,
        _ => program.usual_sizes(),
    };
    let fixed = program.fixed_threads().map(|threads| vec![threads]);
    let asked = match options.threads.as_slice() {
        [] => vec![1],
        threads => threads.to_vec(),
    };
    let threads = fixed.unwrap_or(asked);
    let case = |size: u64, threads: u64| Case {
        program,
        size,
        threads,
        variants: variants.clone(),
    };
    sizes
        .iter()
        .flat_map(|&size| threads.iter().map(move |&threads| (size, threads)))
        .map(|(size, threads)| case(size, threads))
        .collect()
}
