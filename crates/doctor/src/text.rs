use std::fmt::Write;

use crate::check::{Diagnosis, Status};

/// The diagnosis as text: one line a check in aligned columns, and cause and cure below each lack.
pub fn render(diagnosis: &Diagnosis) -> String {
    let width = |lengths: &mut dyn Iterator<Item = usize>| lengths.max().unwrap_or(0);
    let names = width(&mut diagnosis.checks.iter().map(|check| check.name.len()));
    let states = width(
        &mut diagnosis
            .checks
            .iter()
            .map(|check| word(check.status).len()),
    );
    let mut text = String::new();
    let mut line = |name: &str, state: &str, rest: &str| {
        // Writing into a String cannot fail.
        let _ = writeln!(text, "{name:<names$}  {state:<states$}  {rest}");
    };
    for check in &diagnosis.checks {
        line(&check.name, word(check.status), &check.detail);
        if let Some(cause) = &check.cause {
            line("", "", &format!("cause: {cause}"));
        }
        if let Some(fix) = &check.fix {
            line("", "", &format!("fix:   {fix}"));
        }
        if let Some(instead) = &check.no_fix {
            line("", "", &format!("fix:   no command; {instead}"));
        }
    }
    text
}

fn word(status: Status) -> &'static str {
    match status {
        Status::Ok => "ok",
        Status::Degraded => "degraded",
        Status::Missing => "missing",
    }
}
