//! What a power cut may lose, as text.

use prestore_crash::Domain;

use super::words::things;
use super::{CrashReport, NamedCrashFinding, NamedImage};
use crate::human::{bytes, count, sentence};
use crate::text::{Page, TextOptions, header};

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
    for note in &run.notes {
        page.wrapped("Note: ", note);
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

fn domain(domain: Domain) -> &'static str {
    match domain {
        Domain::Adr => "what was flushed and fenced (ADR)",
        Domain::Eadr => "the caches too (eADR)",
    }
}

fn write(page: &mut Page, number: usize, f: &NamedCrashFinding) {
    let (one, many) = things(f.kind);
    let things = if f.count == 1 { one } else { many };
    page.heading(&format!("{number}. {}: {}", f.title(), f.place.function));
    let location = page.location(&f.place);
    page.line(&format!("   Location: {location}"));
    let first = &f.first;
    let mut what = format!("{} {things}", count(f.count));
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
