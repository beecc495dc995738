//! What scope `functions` looks at: functions, modules and places that the user named.

use std::collections::{HashMap, HashSet};

use prestore_symbols::{FunctionName, Location};
use prestore_trace::Module;
use prestore_trace::container::NamedCode;

use super::spot::Spot;

/// Marks the keys of chosen code: it is told by name, before it is seen.
const CHOSEN: u64 = 1 << 63;
/// Of these, of functions that were chosen by module or place: their own key is in the other bits.
const BY_PLACE: u64 = 1 << 62;

/// The key of code of which nothing is known.
pub(super) const UNKNOWN: u64 = CHOSEN - 1;

/// Is code with this key chosen?
pub fn is_chosen(key: u64) -> bool {
    key >= CHOSEN
}

/// The code that was chosen, and which of it was met.
#[derive(Default)]
pub(super) struct ChosenCode {
    functions: HashMap<String, u64>,
    modules: Vec<String>,
    spots: Vec<(String, Spot)>,
    /// What was named and met.
    met: HashSet<String>,
    named: Vec<String>,
}

impl ChosenCode {
    pub(super) fn new(chosen: &NamedCode) -> Self {
        let NamedCode {
            functions,
            modules,
            places,
        } = chosen;
        let keys = functions.iter().zip(CHOSEN..);
        let spots = places
            .iter()
            .filter_map(|place| Some((place.clone(), Spot::parse(place).ok()?)));
        Self {
            functions: keys.map(|(name, key)| (name.clone(), key)).collect(),
            modules: modules.clone(),
            spots: spots.collect(),
            met: HashSet::new(),
            named: chosen.all().map(str::to_owned).collect(),
        }
    }

    /// What was named and not met, sorted; and is that all?
    pub(super) fn not_met(&self) -> (Vec<&str>, bool) {
        let missing = self.named.iter().filter(|name| !self.met.contains(*name));
        let mut missing: Vec<&str> = missing.map(String::as_str).collect();
        let all = missing.len() == self.named.len();
        missing.sort_unstable();
        (missing, all)
    }

    /// Are places among it, for which lines have to be looked up?
    pub(super) fn has_spots(&self) -> bool {
        !self.spots.is_empty()
    }

    /// The key of the code at `offset` of `module`, in `function` (whose own key is `key`), if it is chosen. `lines`: its source
    /// lines, where there are spots.
    pub(super) fn key(
        &mut self,
        (module, offset): (&Module, u64),
        function: Option<&FunctionName>,
        key: u64,
        lines: Option<&Location>,
    ) -> Option<u64> {
        let by_name = function.and_then(|f| self.named_as(f));
        let mut by_place = false;
        for name in &self.modules {
            if is_named(&module.path, name) {
                by_place = true;
                self.met.insert(name.clone());
            }
        }
        let frames = lines.map_or(&[][..], Location::frames);
        for (text, spot) in &self.spots {
            if spot.covers(module, offset, frames) {
                by_place = true;
                self.met.insert(text.clone());
            }
        }
        by_name.or(by_place.then_some(key | CHOSEN | BY_PLACE))
    }

    fn named_as(&mut self, function: &FunctionName) -> Option<u64> {
        let name = &*function.name;
        // `f(int)` may be asked for as `f`.
        let bare = name.split('(').next().unwrap_or(name);
        let (asked, key) = [name, bare, &*function.raw]
            .iter()
            .find_map(|n| self.functions.get_key_value(*n))?;
        self.met.insert(asked.clone());
        Some(*key)
    }
}

/// Is the module at `path` what the user calls `name`: its path, its file's name, or that without version (`libz` or
/// `libz.so` for `libz.so.1`)?
pub(super) fn is_named(path: &str, name: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or(path);
    let versioned = |rest: &str| rest.is_empty() || rest.starts_with('.');
    path == name || file.strip_prefix(name).is_some_and(versioned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_named_by_path_file_or_without_version() {
        let path = "/usr/lib/libz.so.1.3";
        for name in [path, "libz.so.1.3", "libz.so.1", "libz.so", "libz"] {
            assert!(is_named(path, name), "{name}");
        }
        for name in ["lib", "libz.s", "z", "/usr/lib", "libz.so.1.30"] {
            assert!(!is_named(path, name), "{name}");
        }
    }
}
