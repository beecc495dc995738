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
    /// path is enough, parameters and the arguments of templates may be left out), or `file:line` (a last part of the
    /// file's path is enough)?
    pub fn is(&self, wanted: &str) -> bool {
        if let Some((file, line)) = wanted.rsplit_once(':')
            && let Ok(line) = line.parse::<u32>()
        {
            let here = self.file.as_deref().is_some_and(|f| ends_in(f, file, "/"));
            return here && self.line == Some(line);
        }
        self.function.as_deref().is_some_and(|function| {
            let name = function.split('(').next().unwrap_or(function);
            let names = [function, name, &without_arguments(function)];
            !wanted.is_empty() && names.iter().any(|name| ends_in(name, wanted, "::"))
        })
    }
}

/// `function` without parameters and without the arguments of templates. What stands in parentheses for a name stays, as do
/// operators.
fn without_arguments(function: &str) -> String {
    const NAMELESS: &str = "(anonymous namespace)";
    let mut bare = String::new();
    let mut rest = function;
    while let Some(next) = rest.chars().next() {
        let is_operator = bare.ends_with("operator");
        let signs = rest.len() - rest.trim_start_matches(['<', '>', '=', '-']).len();
        let kept = match next {
            _ if rest.starts_with(NAMELESS) => NAMELESS.len(),
            '(' if is_operator && rest.starts_with("()") => 2,
            '<' | '>' | '=' | '-' if is_operator => signs,
            // The call of a lambda: its parameters are its name.
            '{' => group(rest),
            '<' | '(' => {
                rest = &rest[group(rest)..];
                // Rust has `Table::<u64>::new`.
                if next == '<' && rest.starts_with("::") && bare.ends_with("::") {
                    rest = &rest[2..];
                }
                // Behind the parameters: `const`, or what is within the function.
                if next == '(' && !rest.starts_with("::") {
                    break;
                }
                continue;
            }
            _ => next.len_utf8(),
        };
        bare.push_str(&rest[..kept]);
        rest = &rest[kept..];
    }
    // `operator<< <int>`
    bare.truncate(bare.trim_end().len());
    bare
}

/// Bytes of the group in brackets that `text` begins with.
fn group(text: &str) -> usize {
    let mut open = 0_usize;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        match c {
            '<' | '(' | '{' => open += 1,
            // Not the arrow of a function's type.
            '>' if before == '-' => {}
            '>' | ')' | '}' => open = open.saturating_sub(1),
            _ => {}
        }
        if open == 0 {
            return at + c.len_utf8();
        }
        before = c;
    }
    text.len()
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
    fn arguments_of_templates_may_be_left_out() {
        let cases: [(&str, &[&str]); 12] = [
            ("kv::make<int>", &["make", "kv::make", "make<int>"]),
            (
                "kv::Map<int, kv::Less<(2)> >::grow<char>(char) const",
                &["grow", "Map::grow", "kv::Map::grow"],
            ),
            ("(anonymous namespace)::make(int)", &["make"]),
            ("kv::(anonymous namespace)::make(int)", &["make"]),
            (
                "run(char**)::{lambda(int)#1}::operator()(int) const",
                &["operator()", "run::{lambda(int)#1}::operator()", "run"],
            ),
            (
                "std::function<void (int)>::operator()(int) const",
                &["function::operator()"],
            ),
            ("kv::operator<< <int>(kv::Table&, int)", &["operator<<"]),
            ("kv::Table::operator->()", &["Table::operator->"]),
            ("kv::Table::<u64>::new", &["Table::new", "kv::Table::new"]),
            ("<kv::Table<u64> as kv::Make>::make", &["make"]),
            ("<fn(u8) -> u8 as kv::Call>::call", &["call"]),
            ("kv::run::{closure#0}", &["{closure#0}", "run::{closure#0}"]),
        ];
        for (function, names) in cases {
            let site = CallSite {
                function: Some(function.to_owned()),
                ..CallSite::default()
            };
            for name in names {
                assert!(site.is(name), "{function}: {name}");
            }
            for name in ["", "kv", "int", "Table", "ake"] {
                assert!(!site.is(name), "{function}: {name}");
            }
        }
    }

    /// Names come from files, which may say anything.
    #[test]
    fn brackets_that_are_not_closed_end_the_name() {
        for function in ["a<b", "a(b", "{", "<", "a>)}", "operator", "é<é"] {
            without_arguments(function);
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
