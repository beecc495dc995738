//! Names as the programmer wrote them.

use std::fmt;

use cpp_demangle::{DemangleOptions, Symbol};

/// Longest demangled name, in bytes. Substitutions let a short mangled name stand for one of
/// exponential length; no real name comes near this.
const LONGEST: usize = 64 * 1024;

/// The demangled form of `raw`: C++ (Itanium ABI) without the return type, Rust (legacy and v0)
/// without the hash. Other names (C, Fortran, assembly) come back unchanged.
pub fn demangle(raw: &str) -> String {
    let name = if raw.starts_with("_R") || is_legacy_rust(raw) {
        rust(raw)
    } else if raw.starts_with("_Z") || raw.starts_with("_GLOBAL_") {
        cpp(raw)
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
    let symbol = Symbol::new(raw).ok()?;
    let mut out = Bounded::default();
    let options = DemangleOptions::new().no_return_type();
    symbol.structured_demangle(&mut out, &options).ok()?;
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
