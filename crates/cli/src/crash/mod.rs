//! `prestore crash DIR`: what of a program's persistent memory a power cut may lose.

mod args;
mod images;

use std::collections::HashSet;
use std::path::Path;
use std::process::ExitCode;

use prestore_crash::{
    Checked, CrashError, Image, ImageError, Logged, Naming, Options, check, check_and_log,
};
use prestore_dirtbuster::SiteOracle;
use prestore_report::{
    CrashAbout, CrashReport, Names, Refused, TextOptions, crash_text, crash_to_sarif,
};
use prestore_trace::SiteId;
use prestore_trace::container::Trace;

pub use args::CrashArgs;

use images::Outcome;

use crate::args::Format;
use crate::error::CliError;
use crate::naming::{CallNames, Namer};
use crate::progress::Reading;
use crate::{notice, output, run};

/// Exit code of `--fail-on-findings` where there are some, or an image failed.
const FINDINGS: u8 = 1;

/// Checks the recording and prints what was found.
pub fn run(args: &CrashArgs) -> Result<ExitCode, CliError> {
    let images = args.images.iter().map(|text| image(text));
    let images = images.collect::<Result<_, _>>().map_err(not_an_image)?;
    args.check.expect_files()?;
    let trace = args.stored.open()?;
    let names = CallNames::new(&trace, &args.debug_dir);
    let options = Options {
        images,
        domain: args.domain.into(),
        lenient: args.stored.lenient,
    };
    let naming = Naming {
        allocates: &mut |name, site| names.of(site).iter().any(|frame| frame.is(name)),
        function_at: &mut |site| names.function_at(site),
    };
    let report = match &args.check.check {
        None => {
            let reading = Reading::new(args.quiet, &trace, 1);
            let checked = check(&trace, &options, naming)?;
            drop(reading);
            named(args, &options, &trace, &checked, None)
        }
        Some(command) => {
            let reading = Reading::new(args.quiet, &trace, 1);
            let (checked, logged) = check_and_log(&trace, &options, naming)?;
            drop(reading);
            let about = (trace.dir(), args.quiet);
            let seen = images::run(&args.check, command, options.domain, about, &logged, &names)?;
            named(args, &options, &trace, &checked, Some((&logged, &seen)))
        }
    };
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
    let found = !report.findings.is_empty() || report.images.failed > 0;
    Ok(match args.fail_on_findings && found {
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

fn named(
    args: &CrashArgs,
    options: &Options,
    trace: &Trace,
    checked: &Checked,
    seen: Option<(&Logged, &Outcome)>,
) -> CrashReport {
    let sites = trace.sites();
    let mut namer = Namer::new(sites.clone(), &args.debug_dir);
    let spots = checked.findings.iter().flat_map(|f| {
        let near = [&f.flush, &f.fence, &f.pointer, &f.transaction];
        near.into_iter().flatten().chain([&f.at])
    });
    let logged = seen.iter().flat_map(|(logged, _)| &logged.spots);
    let all: HashSet<SiteId> = spots.chain(logged).map(|spot| spot.site).collect();
    let generic: HashSet<SiteId> = (all.into_iter())
        .filter(|&site| namer.classify(site, sites).generic)
        .collect();
    let mut about = run::recorded(trace);
    about.notes.extend(run::unknown_in(trace));
    let values = trace.manifest().info.scope.values;
    let what = CrashAbout {
        domain: options.domain,
        values,
    };
    let mut report = CrashReport::new(checked, what, about, &generic, &mut namer);
    if let Some((logged, seen)) = seen {
        report.images_checked(seen.tried, seen.failed, seen.complete);
        report.run.notes.extend(seen.stopped.clone());
        report.run.notes.extend(unknown_in(logged));
        let mut names = Names {
            logged,
            generic: &generic,
            resolver: &mut namer,
        };
        if let Some(first) = &seen.first {
            let refused = Refused {
                number: first.number,
                file: &first.kept.display().to_string(),
                ended: &first.ended,
                output: &first.said,
                blame: &first.blame,
            };
            report.first_refused(refused, &mut names);
        }
        for blame in &seen.blames {
            report.blamed(blame, options.domain, &mut names);
        }
    }
    report.run.notes.extend(namer.notes());
    report
}

/// What images do not have, a sentence each.
fn unknown_in(logged: &Logged) -> Vec<String> {
    let mut notes = Vec::new();
    if logged.unknown > 0 {
        notes.push(format!(
            "what {} bytes of {} held at first is not known: images have zeros there",
            logged.unknown, logged.name
        ));
    }
    if logged.unknown_stores > 0 {
        notes.push(format!(
            "of {} stores to {} the bytes are not known: images lack them",
            logged.unknown_stores, logged.name
        ));
    }
    notes
}

impl From<CrashError> for CliError {
    fn from(error: CrashError) -> Self {
        match error {
            CrashError::Source(error) => error.into(),
            error => Self::Usage(error.to_string()),
        }
    }
}
