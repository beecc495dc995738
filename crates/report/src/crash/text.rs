//! What a power cut may lose, as text.

use prestore_crash::Domain;

use super::words::{things, title, where_is};
use super::{CrashReport, InLibrary, NamedCrashFinding, NamedImage};
use crate::human::{bytes, count, sentence};
use crate::text::{Page, TextOptions, header};

/// What is not counted.
const LIBRARIES: &str =
    "Not counted, as libraries do it on their own account (--check shows whether it matters):";

/// Callers that are named of a library.
const CALLERS: usize = 3;

/// `report` as text.
pub fn crash_text(report: &CrashReport, options: TextOptions) -> String {
    let run = &report.run;
    let mut page = Page::new(options, run.cwd.as_deref());
    header::program(&mut page, run);
    header::observed(&mut page, run);
    page.blank();
    for image in &report.image {
        let line = memory(&page, image);
        page.wrapped("Persistent: ", &line);
    }
    page.wrapped("A power cut leaves: ", domain(report.domain));
    if report.images.tried > 0 {
        write_images(&mut page, report);
    }
    for (number, finding) in (1..).zip(&report.findings) {
        page.blank();
        write(&mut page, number, finding);
    }
    page.blank();
    let (n, what) = match report.findings.len() {
        0 => ("No", "findings"),
        1 => ("1", "finding"),
        n => (&*n.to_string(), "findings"),
    };
    page.line(&format!("{n} {what}."));
    if !report.libraries.is_empty() {
        page.wrapped("", LIBRARIES);
    }
    for library in &report.libraries {
        page.wrapped("   ", &in_library(library));
    }
    page.into_text()
}

fn memory(page: &Page, image: &NamedImage) -> String {
    let files: Vec<&str> = (image.files.iter())
        .filter(|f| **f != image.name)
        .map(|f| page.file(f))
        .collect();
    let files = match files.is_empty() {
        true => String::new(),
        false => format!(" ({})", files.join(", ")),
    };
    format!("{}{files}, {}", page.file(&image.name), bytes(image.bytes))
}

fn in_library(library: &InLibrary) -> String {
    let (one, many) = things(library.kind);
    let things = if library.count == 1 { one } else { many };
    let named = library.callers.iter().take(CALLERS);
    let callers: Vec<String> = named.map(|c| where_is(&c.place)).collect();
    let others = match library.callers.len().saturating_sub(CALLERS) {
        0 => String::new(),
        1 => " and another line".to_owned(),
        n => format!(" and {n} other lines"),
    };
    format!(
        "{}, {}: {} {things} at {} of its instructions, called at {}{others}",
        library.module.rsplit('/').next().unwrap_or_default(),
        title(library.kind),
        count(library.count),
        count(library.places),
        callers.join(", "),
    )
}

fn domain(domain: Domain) -> &'static str {
    match domain {
        Domain::Adr => "what was flushed and fenced (ADR)",
        Domain::Eadr => "the caches too (eADR)",
    }
}

fn write_images(page: &mut Page, report: &CrashReport) {
    let (images, all) = (
        &report.images,
        if report.images.complete {
            " (all there are)"
        } else {
            ""
        },
    );
    let line = format!(
        "{}{all}, {} failed",
        count(images.tried),
        count(images.failed)
    );
    page.wrapped("Images: ", &line);
    let Some(first) = &report.first_failure else {
        return;
    };
    let cut = first.cut.as_ref().map_or(String::new(), |cut| {
        format!(", with the power cut behind {}", page.location(cut))
    });
    page.wrapped(
        "First failure: ",
        &format!("image {}, {}{cut}", first.number, first.ended),
    );
    for lost in &first.lost {
        let at = lost
            .place
            .as_ref()
            .map_or("a system call".to_owned(), |p| page.location(p));
        let line = format!(
            "{} bytes at byte {:#x}, stored at {at}",
            lost.bytes, lost.offset
        );
        page.wrapped("   Lost: ", &line);
    }
    if first.lost.is_empty() {
        page.wrapped("   Lost: ", "nothing");
    }
    if let Some(survived) = &first.survived {
        page.wrapped("   Survived: ", &page.location(survived));
    }
    page.wrapped("   Image: ", &first.file);
    if !first.output.is_empty() {
        page.wrapped("   It said: ", &first.output);
    }
}

fn write(page: &mut Page, number: usize, f: &NamedCrashFinding) {
    let (one, many) = things(f.kind);
    let is_one = f.count == 1 && f.of.is_none_or(|of| of == 1);
    let things = if is_one { one } else { many };
    let function = page.function(&f.place.function);
    page.heading(&format!("{number}. {}: {function}", f.title()));
    let location = page.location(&f.place);
    let helper = f.helper.as_ref().map_or(String::new(), |h| {
        format!(
            ", by {} ({} line {})",
            page.function(&h.function),
            page.file(&h.file),
            h.line
        )
    });
    page.line(&format!("   Location: {location}{helper}"));
    let first = &f.first;
    let of = f.of.filter(|&of| of > f.count);
    let of = of.map_or(String::new(), |of| format!(" of {}", count(of)));
    let mut what = format!("{}{of} {things}", count(f.count));
    if let Some(range) = &f.range {
        what += &format!(
            " in {}, first at byte {:#x} (address {:#x})",
            page.file(range),
            first.offset,
            first.address
        );
    }
    what += &format!(
        ", thread {} behind {} instructions",
        first.thread.0,
        count(first.instr)
    );
    page.wrapped("   What: ", &what);
    page.wrapped("   Reason: ", &sentence(&f.reason));
}
