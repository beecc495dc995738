//! `prestore crash DIR`: what of a program's persistent memory a power cut may lose.

mod args;

use std::collections::HashSet;
use std::path::Path;
use std::process::ExitCode;

use prestore_crash::{Checked, CrashError, Image, ImageError, Options, Spot, check};
use prestore_dirtbuster::SiteOracle;
use prestore_report::{CrashReport, TextOptions, crash_text, crash_to_sarif};
use prestore_trace::SiteId;
use prestore_trace::container::Trace;

pub use args::CrashArgs;

use crate::args::Format;
use crate::error::CliError;
use crate::naming::{CallNames, Namer};
use crate::{notice, output, run};

/// Exit code of `--fail-on-findings` where there are some.
const FINDINGS: u8 = 1;

/// Checks the recording and prints what was found.
pub fn run(args: &CrashArgs) -> Result<ExitCode, CliError> {
    let images = args.images.iter().map(|text| image(text));
    let images = images.collect::<Result<_, _>>().map_err(not_an_image)?;
    let trace = args.stored.open()?;
    let names = CallNames::new(&trace, &args.debug_dir);
    let options = Options {
        images,
        domain: args.domain.into(),
        lenient: args.stored.lenient,
    };
    let mut allocates = |name: &str, site| names.of(site).iter().any(|frame| frame.is(name));
    let checked = check(&trace, &options, &mut allocates)?;
    let report = named(args, &options, &trace, &checked);
    match args.format {
        Format::Json => output::print_json(&report)?,
        Format::Sarif => {
            let left_out = report.findings_without_line();
            if left_out > 0 {
                notice::tell(&output::not_in_sarif(left_out));
            }
            output::print_json(&crash_to_sarif(&report))?;
        }
        Format::Text => output::print(&crash_text(&report, TextOptions::for_stdout()))?,
    }
    Ok(match args.fail_on_findings && !report.findings.is_empty() {
        true => ExitCode::from(FINDINGS),
        false => ExitCode::SUCCESS,
    })
}

/// A path from here, or through links, is what the recording calls by its full name.
fn image(text: &str) -> Result<Image, ImageError> {
    let is_path = text.contains('/') && !text.starts_with("0x");
    let full = is_path
        .then(|| Path::new(text).canonicalize().ok())
        .flatten();
    match full.as_deref().and_then(Path::to_str) {
        Some(path) => Ok(Image::Named(path.to_owned())),
        None => text.parse(),
    }
}

fn not_an_image(error: ImageError) -> CliError {
    CliError::Usage(format!("--image: {error}"))
}

fn named(args: &CrashArgs, options: &Options, trace: &Trace, checked: &Checked) -> CrashReport {
    let sites = trace.sites();
    let mut namer = Namer::new(sites.clone(), &args.debug_dir);
    let spots = checked.findings.iter().flat_map(|f| {
        let near: [Option<&Spot>; 3] = [Some(&f.at), f.flush.as_ref(), f.fence.as_ref()];
        near.into_iter().flatten()
    });
    let all: HashSet<SiteId> = spots.map(|spot| spot.site).collect();
    let generic: HashSet<SiteId> = (all.into_iter())
        .filter(|&site| namer.classify(site, sites).generic)
        .collect();
    let mut about = run::recorded(trace);
    about.notes.extend(run::unknown_in(trace));
    let mut report = CrashReport::new(checked, options.domain, about, &generic, &mut namer);
    report.run.notes.extend(namer.notes());
    report
}

impl From<CrashError> for CliError {
    fn from(error: CrashError) -> Self {
        match error {
            CrashError::Source(error) => error.into(),
            error => Self::Usage(error.to_string()),
        }
    }
}
