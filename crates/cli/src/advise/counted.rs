//! Who writes: exact counts, or samples where counters offer them (P0, section 6.2.1).

use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Command, ExitCode};

use prestore_report::{
    Exactness, ExactnessKind, Run, SiteKind, SiteStores, StoresByFunction, TextOptions, stores_text,
};
use prestore_sampler::ElfLayout;
use prestore_trace::{Module, Site, SiteTable};
use prestore_tracer::{Options, Outcome, ProgramOutput, Scope, record};

use super::print;
use super::takers::Counter;
use crate::args::{AdviseArgs, Format, RunArgs};
use crate::error::CliError;
use crate::naming::Namer;
use crate::{interrupt, notice, output, run};

/// Runs the program once and counts.
pub fn counted(
    command: &[OsString],
    run: &RunArgs,
    stdout: ProgramOutput,
) -> Result<(Counter, Outcome), CliError> {
    let options = Options {
        scope: Scope::Count,
        ..run::options(run, false, stdout)?
    };
    let interrupts = interrupt::watch()?;
    let mut counter = Counter::default();
    let mut outcome = record(command, &options, &interrupts, &mut counter)?;
    counter.sites = std::mem::take(&mut outcome.sites);
    Ok((counter, outcome))
}

/// Stores by function are neither kept nor findings: said before the program runs.
fn check(args: &AdviseArgs) -> Result<(), CliError> {
    if args.output.is_some() {
        return Err(CliError::Usage(
            "this scope has no events to keep: leave out --output, or use `--scope all`".into(),
        ));
    }
    if args.format == Format::Sarif {
        return Err(CliError::Usage(
            "stores by function are no findings: no SARIF; use text or json".into(),
        ));
    }
    Ok(())
}

/// Exact stores by function.
pub fn count(args: &AdviseArgs) -> Result<ExitCode, CliError> {
    check(args)?;
    let stdout = run::program_output(args.format);
    let (counter, outcome) = counted(&args.command, &args.run, stdout)?;
    interrupt::over();
    run::tell_end(outcome.status);
    if counter.instructions == 0 {
        return Err(run::nothing(&args.run, &outcome));
    }
    let mut about = Run {
        program: outcome.program.display().to_string(),
        partial: run::partial(&outcome),
        exactness: run::exactness(outcome.coverage),
        processes: u64::from(outcome.processes),
        ..print::about(args, "count")
    };
    about
        .notes
        .push("counts have no calling contexts and no addresses: scope `all` has both".into());
    about.notes.extend(run::missing(&outcome));
    if counter.lost > 0 {
        about.notes.push(format!(
            "{} blocks of code lay beyond the counters; their stores are missing",
            counter.lost
        ));
    }
    let fraction = counter.total_stores() as f64 / counter.instructions.max(1) as f64;
    about.notes.push(format!(
        "{:.1}% of the instructions are stores; whether that makes the program write-intensive \
         depends on where they go, which scope `all` looks at",
        fraction * 100.0
    ));
    let stores: Vec<SiteStores> = counter
        .stores
        .iter()
        .map(|(site, stores)| SiteStores {
            site: *site,
            call_chain: Vec::new(),
            chain_kind: SiteKind::Instruction,
            stores: *stores,
        })
        .collect();
    let mut namer = Namer::new(counter.sites, &args.debug_dir);
    print_stores(args, &mut namer, stores, Some(counter.instructions), about)?;
    Ok(run::exit_code(&outcome))
}

/// Samples, or counts where the host has no precise store event.
pub fn sample(args: &AdviseArgs) -> Result<ExitCode, CliError> {
    check(args)?;
    run::check(&args.run)?;
    let (program, words) = prestore_tracer::resolve(&args.command)?;
    let mut command = Command::new(&program);
    command.args(words.iter().skip(1));
    if args.format != Format::Text {
        let stderr = io::stderr().as_fd().try_clone_to_owned();
        command.stdout(stderr.map_err(|e| CliError::Failed(format!("stderr is not open: {e}")))?);
    }
    prestore_tracer::close_again();
    let samples = match prestore_sampler::sample(command, &prestore_sampler::Options::default()) {
        Ok(samples) => samples,
        Err(prestore_sampler::SampleError::Unavailable(why)) => {
            notice::tell(&format!("no store samples: {why}"));
            notice::tell("counting stores exactly instead (scope count)");
            return count(args);
        }
        Err(error) => return Err(CliError::Failed(error.to_string())),
    };
    run::tell_end(Some(samples.status));
    let mut sites = SiteTable::default();
    let stores = sampled_stores(&samples, &mut sites);
    let about = Run {
        program: program.display().to_string(),
        exactness: Exactness {
            kind: ExactnessKind::Sampled,
            detail: format!("{} samples of {}", samples.events.len(), samples.event),
        },
        ..print::about(args, "sample")
    };
    let mut namer = Namer::new(sites, &args.debug_dir);
    print_stores(args, &mut namer, stores, None, about)?;
    Ok(run::code_of(Some(samples.status)))
}

fn sampled_stores(samples: &prestore_sampler::Samples, sites: &mut SiteTable) -> Vec<SiteStores> {
    let mut layouts: HashMap<u32, Option<ElfLayout>> = HashMap::new();
    let mut site_of = |pid: u32, time: u64, ip: u64| {
        let place = samples.spaces.locate(pid, time, ip);
        let number = place.module?;
        let module = samples.spaces.modules().get(number as usize)?;
        let layout = layouts
            .entry(number)
            .or_insert_with(|| ElfLayout::read(Path::new(&module.path)).ok());
        let offset = layout.as_ref()?.svma(place.offset)?;
        let id = module.build_id.iter().flatten();
        let module = sites.intern_module(Module {
            path: module.path.clone(),
            build_id: id.map(|b| format!("{b:02x}")).collect(),
            load_bias: 0,
        });
        Some(sites.intern(Site { module, offset }))
    };
    let stores = samples.events.iter().filter(|e| e.is_store());
    stores
        .filter_map(|event| {
            let chain = samples.chain(event.chain);
            Some(SiteStores {
                site: site_of(event.pid, event.time, event.ip)?,
                call_chain: chain
                    .iter()
                    .skip(1)
                    .filter_map(|ip| site_of(event.pid, event.time, *ip))
                    .collect(),
                chain_kind: SiteKind::ReturnAddress,
                stores: event.period,
            })
        })
        .collect()
}

fn print_stores(
    args: &AdviseArgs,
    namer: &mut Namer,
    stores: Vec<SiteStores>,
    instructions: Option<u64>,
    about: Run,
) -> Result<(), CliError> {
    let table = StoresByFunction::new(stores, instructions, about, namer);
    match args.format {
        Format::Text => output::print(&stores_text(&table, TextOptions::for_stdout())),
        Format::Json | Format::Sarif => output::print_json(&table),
    }
}
