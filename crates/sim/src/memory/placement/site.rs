//! Where an allocation's call stands.

/// A function and line of source that an allocation's call stands in; with inlining there are
/// several of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallSite {
    /// Function, demangled.
    pub function: Option<String>,
    /// Source file.
    pub file: Option<String>,
    /// Line in it.
    pub line: Option<u32>,
}

impl CallSite {
    /// Is this what `wanted` names: a function (`alloc_table`, `kv::Table::new`; a last part of the
    /// path and parameters may be left out), or `file:line` (a last part of the file's path is
    /// enough)?
    pub fn is(&self, wanted: &str) -> bool {
        if let Some((file, line)) = wanted.rsplit_once(':')
            && let Ok(line) = line.parse::<u32>()
        {
            let here = self.file.as_deref().is_some_and(|f| ends_in(f, file, "/"));
            return here && self.line == Some(line);
        }
        self.function.as_deref().is_some_and(|function| {
            let name = function.split('(').next().unwrap_or(function);
            ends_in(function, wanted, "::") || ends_in(name, wanted, "::")
        })
    }
}

/// Is `part` all of `path`, or what follows one of its separators?
fn ends_in(path: &str, part: &str, separator: &str) -> bool {
    path.strip_suffix(part)
        .is_some_and(|before| before.is_empty() || before.ends_with(separator))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site() -> CallSite {
        CallSite {
            function: Some("kv::Table::new(unsigned long)".into()),
            file: Some("/src/kv/table.cc".into()),
            line: Some(42),
        }
    }

    #[test]
    fn a_function_may_be_named_by_its_last_part() {
        for name in [
            "kv::Table::new(unsigned long)",
            "kv::Table::new",
            "Table::new",
            "new",
        ] {
            assert!(site().is(name), "{name}");
        }
        for name in ["ew", "Table", "kv::Table", ""] {
            assert!(!site().is(name), "{name}");
        }
    }

    #[test]
    fn a_line_may_be_named_by_the_last_part_of_its_file() {
        assert!(site().is("table.cc:42"));
        assert!(site().is("kv/table.cc:42"));
        assert!(!site().is("table.cc:43"));
        assert!(!site().is("ble.cc:42"));
        assert!(!CallSite::default().is("table.cc:42"));
    }
}
