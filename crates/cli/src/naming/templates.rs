//! Templates of the standard libraries, and all of Go's, which are compiled into the program that uses them: what they write is
//! written on their callers' behalf, as what `memcpy` writes is.

use prestore_report::{is_go_function, is_system_library, is_system_path};
use prestore_symbols::FunctionName;
use prestore_trace::Module;

use super::Namer;

/// Functions of the standard libraries of C++ and Rust are called so.
const NAMES: [&str; 5] = ["std::", "__gnu_cxx::", "core::", "alloc::", "hashbrown::"];

impl Namer {
    /// Is the code at `offset` a standard library's through and through, in a program's own file? A loop that calls a
    /// function of the user's there (`std::for_each`) has that inlined, and is the user's.
    pub(super) fn is_of_template(
        &mut self,
        module: &Module,
        offset: u64,
        function: Option<&FunctionName>,
    ) -> bool {
        // Lines are looked up for these alone, as that takes its time.
        function.is_some_and(|f| is_standard(&f.name))
            && !is_system_library(&module.path)
            && self
                .frames_at(module, offset)
                .iter()
                .all(|frame| frame.file.as_deref().is_some_and(is_system_path))
    }
}

/// `std::vector<int>::resize`, `<alloc::vec::Vec<T> as Extend<T>>::extend`.
fn is_standard(name: &str) -> bool {
    let name = name.trim_start_matches('<');
    NAMES.iter().any(|standard| name.starts_with(standard)) || is_go_function(name)
}

#[cfg(test)]
mod tests {
    use super::is_standard;

    #[test]
    fn functions_of_the_standard_libraries_are_known_by_name() {
        for name in [
            "std::vector<int>::resize(unsigned long)",
            "<alloc::vec::Vec<T> as core::iter::Extend<T>>::extend",
            "__gnu_cxx::__ops::f()",
            "bytes.(*Buffer).Write",
        ] {
            assert!(is_standard(name), "{name}");
        }
        for name in ["mine::std::f()", "standard(int)", "main"] {
            assert!(!is_standard(name), "{name}");
        }
    }
}
