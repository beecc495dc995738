//! Names as the programmer wrote them.

use std::fmt;

use cpp_demangle::{DemangleOptions, Symbol};

/// Longest demangled name, in bytes. Substitutions let a short mangled name stand for one of
/// exponential length; no real name comes near this.
const LONGEST: usize = 64 * 1024;

/// Starts of a name that are tried as a whole one, so that a hostile name takes no long time.
const MOST_STARTS: usize = 100;

/// The demangled form of `raw`: C++ (Itanium ABI) without the return type, Rust (legacy and v0)
/// without the hash. Other names (C, Fortran, assembly) come back unchanged, and of a C++ name that is only understood
/// in part the function without its parameters.
pub fn demangle(raw: &str) -> String {
    let name = if raw.starts_with("_R") || is_legacy_rust(raw) {
        rust(raw)
    } else if raw.starts_with("_Z") || raw.starts_with("_GLOBAL_") {
        cpp(raw).or_else(|| cpp_template(raw))
    } else {
        None
    };
    name.unwrap_or_else(|| raw.to_owned())
}

fn rust(raw: &str) -> Option<String> {
    let name = rustc_demangle::try_demangle(raw).ok()?;
    let mut out = Bounded::default();
    // `{:#}` leaves the hash out.
    fmt::write(&mut out, format_args!("{name:#}")).ok()?;
    Some(out.0)
}

fn cpp(raw: &str) -> Option<String> {
    written(raw, DemangleOptions::new())
}

/// The function template of a name whose types cannot be read: GCC writes conditions on template parameters
/// (`enable_if`) in a form that the demangler does not know.
fn cpp_template(raw: &str) -> Option<String> {
    // The shortest start that is a whole name ends its template arguments. Behind it stand a return type and parameters,
    // for which two `void` do.
    let ends = raw.match_indices('E').take(MOST_STARTS);
    let mut starts = ends.map(|(at, _)| &raw[..=at]);
    starts.find_map(|name| written(&format!("{name}vv"), DemangleOptions::new().no_params()))
}

fn written(raw: &str, options: DemangleOptions) -> Option<String> {
    let symbol = Symbol::new(raw).ok()?;
    let mut out = Bounded::default();
    symbol
        .structured_demangle(&mut out, &options.no_return_type())
        .ok()?;
    Some(out.0)
}

/// Whether `raw` is a legacy Rust name, which is also a valid C++ one but for the hash that ends
/// it: `17h`, 16 hexadecimal digits, `E`, and perhaps a suffix by LLVM.
fn is_legacy_rust(raw: &str) -> bool {
    let Some(at) = raw.rfind("17h") else {
        return false;
    };
    let rest = &raw.as_bytes()[at + 3..];
    raw.starts_with("_ZN")
        && rest.len() > 16
        && rest[..16].iter().all(u8::is_ascii_hexdigit)
        && rest[16] == b'E'
        && (rest.len() == 17 || rest[17] == b'.')
}

#[derive(Default)]
struct Bounded(String);

impl fmt::Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > LONGEST {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::demangle;

    #[test]
    fn names_of_each_language() {
        for (raw, name) in [
            ("_ZN6tensor3addEPfm", "tensor::add(float*, unsigned long)"),
            (
                "_ZN6tensor4fillIfEEvPT_m",
                "tensor::fill<float>(float*, unsigned long)",
            ),
            ("_ZN2kv3put17h0123456789abcdefE", "kv::put"),
            ("_ZN2kv3put17h0123456789abcdefE.llvm.1234", "kv::put"),
            ("_RNvCs1234_7mycrate3foo", "mycrate::foo"),
            ("_ZL3foov.part.0", "foo() [clone .part.0]"),
            // A condition on the parameter's type as GCC 12 mangles it.
            (
                "_ZSt9__fill_a1IPddEN9__gnu_cxx11__enable_ifIXsrSt11__is_scalarIT0_E7__valueEvE6__typeET_S8_RKS4_",
                "std::__fill_a1<double*, double>",
            ),
            // gfortran: a module procedure and an external one.
            ("__grid_MOD_relax", "__grid_MOD_relax"),
            ("psinv_", "psinv_"),
            ("_Znot_mangled", "_Znot_mangled"),
            (
                "__memmove_avx512_unaligned_erms",
                "__memmove_avx512_unaligned_erms",
            ),
        ] {
            assert_eq!(demangle(raw), name, "{raw}");
        }
    }

    #[test]
    fn exponential_substitutions_stay_small() {
        // Each argument is a pair of the one before: 2^60 names long when written out.
        let mut raw = String::from("_Z1fSt4pairIiiE");
        for n in 0..60 {
            let s = match n {
                0 => "S_".to_owned(),
                n => format!("S{}_", char::from_digit((n - 1) % 36, 36).unwrap_or('0'))
                    .to_uppercase(),
            };
            raw.push_str(&format!("St4pairI{s}{s}E"));
        }
        assert!(demangle(&raw).len() <= super::LONGEST);
    }
}
