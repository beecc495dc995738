//! Lines of the file: keys, values, and where they come from.

use std::fmt::Write;

use crate::Figure;
use crate::figure::number;

/// A file in the making.
pub(super) struct File(pub(super) String);

impl File {
    pub(super) fn line(&mut self, text: &str) {
        let _ = writeln!(self.0, "{text}");
    }

    /// A number without unit, or a flag.
    pub(super) fn number(&mut self, key: &str, value: &str, because: &str, text: &str) {
        self.line(&format!(
            "{key} = {{ is = {value}, {because} = {} }}",
            quoted(text)
        ));
    }

    /// A number with its unit.
    pub(super) fn text(&mut self, key: &str, value: &str, because: &str, text: &str) {
        self.number(key, &quoted(value), because, text);
    }

    pub(super) fn stated(&mut self, key: &str, value: &str, source: &str) {
        self.text(key, value, "source", source);
    }

    pub(super) fn measured(&mut self, key: &str, figure: &Figure) {
        let value = format!("{} {}", number(figure.value()), figure.unit);
        self.text(key, &value, "source", &figure.source());
    }

    pub(super) fn plain_measured(&mut self, key: &str, figure: &Figure) {
        self.number(
            key,
            &format!("{:.2}", figure.value()),
            "source",
            &figure.source(),
        );
    }

    /// A count of things: measured, or assumed where it could not be.
    pub(super) fn whole(
        &mut self,
        key: &str,
        figure: Option<&Figure>,
        (assumed, why): (f64, &str),
    ) {
        match figure {
            Some(figure) => {
                let value = format!("{:.0}", figure.value().max(1.0));
                self.number(key, &value, "source", &figure.source());
            }
            None => self.number(key, &format!("{assumed:.0}"), "assumed", why),
        }
    }
}

pub(super) fn quoted(text: &str) -> String {
    format!(
        "\"{}\"",
        plain(text).replace('\\', "\\\\").replace('"', "\\\"")
    )
}

/// In one line.
pub(super) fn plain(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}
