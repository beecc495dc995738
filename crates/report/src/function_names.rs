//! Names of functions that fit a line: those of templates can be longer than a page is wide.

/// `name`; where it has more than `most` characters without its parameters, and where that is not enough without the
/// arguments of templates.
pub fn shortened(name: &str, most: usize) -> String {
    let fits = |name: &str| name.chars().count() <= most;
    if fits(name) {
        return name.to_owned();
    }
    let bare = without(name, &['(']);
    match fits(&bare) {
        true => bare,
        false => without(name, &['(', '<']),
    }
}

/// `Eigen::TensorEvaluator<...>::run(...)`: what the brackets `left_out` enclose is left out. Operators spelt with
/// brackets stay whole, and so do parts of a name that are in brackets.
fn without(name: &str, left_out: &[char]) -> String {
    const WHOLE: [&str; 8] = [
        "(anonymous namespace)",
        "operator<=>",
        "operator<<",
        "operator>>",
        "operator<",
        "operator>",
        "operator()",
        "->",
    ];
    let mut out = String::new();
    // Brackets that are open, and whether that of each is left out.
    let mut open: Vec<bool> = Vec::new();
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        let whole = WHOLE.into_iter().find(|whole| rest.starts_with(whole));
        let part = whole.unwrap_or(&rest[..c.len_utf8()]);
        let shown = !open.contains(&true);
        rest = &rest[part.len()..];
        let opens = whole.is_none() && matches!(c, '<' | '(');
        let closes = whole.is_none() && matches!(c, '>' | ')');
        if closes {
            open.pop();
        }
        if shown || closes && !open.contains(&true) {
            out.push_str(part);
        }
        if opens {
            // A bracket that begins a name (`<T as Trait>::f`), or a part of it (`pkg.(*T).f`), is not for arguments.
            let names = out.len() == 1 || out.ends_with(".(");
            let empty = rest.starts_with([')', '>']);
            let leaves_out = shown && !names && left_out.contains(&c);
            if leaves_out && !empty {
                out.push_str("...");
            }
            open.push(leaves_out);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_go_and_what_is_part_of_a_name_stays() {
        for (name, parameters, both) in [
            (
                "Eigen::Tensor<Sum<float>, int>::run(long, F<int (*)(int)>)",
                "Eigen::Tensor<Sum<float>, int>::run(...)",
                "Eigen::Tensor<...>::run(...)",
            ),
            (
                "operator<<(std::ostream&)",
                "operator<<(...)",
                "operator<<(...)",
            ),
            ("main()", "main()", "main()"),
            (
                "Stream<f>::copy(int) [clone ._omp_fn.0]",
                "Stream<f>::copy(...) [clone ._omp_fn.0]",
                "Stream<...>::copy(...) [clone ._omp_fn.0]",
            ),
            (
                "all<D>(int&)::{lambda(B const&)#1}::operator()(B const&) const",
                "all<D>(...)::{lambda(...)#1}::operator()(...) const",
                "all<...>(...)::{lambda(...)#1}::operator()(...) const",
            ),
            (
                "(anonymous namespace)::f(int)",
                "(anonymous namespace)::f(...)",
                "(anonymous namespace)::f(...)",
            ),
            (
                "<alloc::vec::Vec<T> as Extend<T>>::extend",
                "<alloc::vec::Vec<T> as Extend<T>>::extend",
                "<alloc::vec::Vec<...> as Extend<...>>::extend",
            ),
            ("store.(*Log).Put", "store.(*Log).Put", "store.(*Log).Put"),
        ] {
            assert_eq!(without(name, &['(']), parameters);
            assert_eq!(without(name, &['(', '<']), both);
        }
    }

    #[test]
    fn a_name_loses_no_more_than_it_has_to() {
        let name = "Stream<double>::copy(unsigned long, unsigned long)";
        assert_eq!(shortened(name, 60), name);
        assert_eq!(shortened(name, 30), "Stream<double>::copy(...)");
        assert_eq!(shortened(name, 20), "Stream<...>::copy(...)");
    }
}
