//! Functions that end with a jump to another one (tail calls): no call leads from them, so they are missing from
//! a stack of calls.

use std::collections::BTreeSet;
use std::ops::Range;

use prestore_symbols::FunctionName;
use prestore_trace::replay::prefixes_of_call;
use prestore_trace::{Module, SiteId};

use super::{Namer, is_generic, module_ref};

/// Functions that jump to the next, one after the other, are followed so far.
const MOST_JUMPS: usize = 4;

/// Longest instruction, bytes.
const LONGEST: usize = 15;

/// Names of entries of the procedure linkage table end so.
pub(super) const PLT: &str = "@plt";

/// Where a jump goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    At(u64),
    /// To where the slot of the global offset table at this address says.
    Slot(u64),
    /// Through other memory or a register.
    Unknown,
}

/// What a jump leads to.
enum Lead {
    ToInner,
    /// The function that begins there.
    Into(u64),
    /// To a function that is not looked into.
    Elsewhere,
    Unknown,
}

impl Namer {
    /// The jump by which the function that `call` calls (that begins there, if it is no call), or one that it jumped to, went on
    /// to the function of `inner`; `None` where it called that itself, or it is not known. Among the jumps that were executed.
    pub(super) fn jump_between(&mut self, call: SiteId, inner: SiteId) -> Option<SiteId> {
        let (site, module) = self.look_up(call)?;
        let code = self.code(&module, site.offset)?;
        let mut entry = match call_at(&code, site.offset) {
            Some(Target::At(to)) => to,
            Some(_) => return None,
            None => site.offset,
        };
        let (inner, inner_module) = self.look_up(inner)?;
        let inner = (self.symbols).function(&module_ref(&inner_module), inner.offset)?;
        for _ in 0..MOST_JUMPS {
            let function = self.symbols.function(&module_ref(&module), entry)?;
            let is_inner = function.start == inner.start && module == inner_module;
            if is_inner || function.raw.ends_with(PLT) || is_generic(&module, Some(&function)) {
                return None;
            }
            let mut into = BTreeSet::new();
            let mut unknown = Vec::new();
            let mut elsewhere = Vec::new();
            for (jump, to) in self.jumps_out_of(&module, &function) {
                match self.leads(&module, to, &inner, &inner_module) {
                    Lead::ToInner => return Some(jump),
                    Lead::Elsewhere => elsewhere.push(jump),
                    Lead::Unknown => unknown.push(jump),
                    Lead::Into(entry) => {
                        into.insert(entry);
                    }
                }
            }
            match (into.pop_first(), &*unknown) {
                (Some(next), []) if into.is_empty() => entry = next,
                (None, [jump]) => return Some(*jump),
                // What it jumps to calls on, without a call that is told of (`realloc`, which copies).
                (None, []) if elsewhere.len() == 1 => return elsewhere.pop(),
                // One of several ways, where any could have been taken, would be a guess.
                _ => return None,
            }
        }
        None
    }

    /// Executed jumps of `function`, in `module`, that leave it or may do so.
    fn jumps_out_of(&mut self, module: &Module, function: &FunctionName) -> Vec<(SiteId, Target)> {
        let range = function.start..function.start.saturating_add(function.size);
        let ids = (0..self.sites.len() as u32).map(SiteId);
        let within: Vec<(SiteId, u64)> = ids
            .filter_map(|id| Some((id, self.sites.get(id)?)))
            .filter(|(_, site)| range.contains(&site.offset))
            .filter(|(_, site)| self.sites.module(site.module) == Some(module))
            .map(|(id, site)| (id, site.offset))
            .collect();
        within
            .into_iter()
            .filter_map(|(id, at)| Some((id, jump(&self.code(module, at)?, at, &range)?)))
            .collect()
    }

    fn leads(&mut self, module: &Module, to: Target, inner: &FunctionName, home: &Module) -> Lead {
        let is_inner = |yes: bool, no: Lead| if yes { Lead::ToInner } else { no };
        match to {
            Target::Unknown => Lead::Unknown,
            Target::Slot(slot) => match self.symbols.slot(&module_ref(module), slot) {
                Some(name) => is_inner(is_called(&name, inner), Lead::Elsewhere),
                None => Lead::Unknown,
            },
            Target::At(to) => {
                let Some(goal) = self.symbols.function(&module_ref(module), to) else {
                    return Lead::Unknown;
                };
                match goal.raw.strip_suffix(PLT) {
                    Some(name) => is_inner(is_called(name, inner), Lead::Elsewhere),
                    None => is_inner(goal.start == inner.start && module == home, Lead::Into(to)),
                }
            }
        }
    }

    fn code(&mut self, module: &Module, address: u64) -> Option<Vec<u8>> {
        self.symbols.code(&module_ref(module), address, LONGEST)
    }
}

/// Is what a program calls `name` the function `inner`, or one of its forms (`__memset_avx2_unaligned`)?
fn is_called(name: &str, inner: &FunctionName) -> bool {
    // Copies that may overlap and copies that may not are mostly one code, whose symbol is either's.
    let bare = |name: &str| {
        name.trim_start_matches('_')
            .replacen("memmove", "memcpy", 1)
    };
    bare(&inner.raw).starts_with(&bare(name))
}

/// Where the call at `at` leads to; `None`: it is none.
fn call_at(code: &[u8], at: u64) -> Option<Target> {
    let prefixes = prefixes_of_call(code);
    match *code.get(prefixes..)? {
        [0xe8, ref to @ ..] => relative(at + prefixes as u64, 5, to).map(Target::At),
        [0xff, form, ..] if form & 0x38 == 0x10 => Some(Target::Unknown),
        _ => None,
    }
}

/// Where the jump at `at` goes, if it is one that leaves `function` or may.
fn jump(code: &[u8], at: u64, function: &Range<u64>) -> Option<Target> {
    let prefixes = code.iter().take_while(|b| matches!(b, 0xf2 | 0x3e)).count();
    let (at, code) = (at + prefixes as u64, code.get(prefixes..)?);
    let to = match *code {
        [0xe9, ..] => relative(at, 5, &code[1..])?,
        [0xeb, to, ..] => at.wrapping_add(2).wrapping_add_signed(i64::from(to as i8)),
        [0x0f, condition, ..] if condition & 0xf0 == 0x80 => relative(at, 6, &code[2..])?,
        [0xff, 0x25, ..] => return Some(Target::Slot(relative(at, 6, &code[2..])?)),
        [0xff, form, ..] if form & 0x38 == 0x20 => return Some(Target::Unknown),
        [0x41, 0xff, form, ..] if form & 0x38 == 0x20 => return Some(Target::Unknown),
        _ => return None,
    };
    (!function.contains(&to)).then_some(Target::At(to))
}

/// What an instruction of `length` bytes at `at` means by the 32-bit displacement that `code` begins with.
fn relative(at: u64, length: u64, code: &[u8]) -> Option<u64> {
    let by: [u8; 4] = code.get(..4)?.try_into().ok()?;
    let next = at.wrapping_add(length);
    Some(next.wrapping_add_signed(i64::from(i32::from_le_bytes(by))))
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: u64 = 0x1000;

    fn to(code: &[u8]) -> Option<Target> {
        jump(code, AT, &(0xff0..0x1010))
    }

    #[test]
    fn what_is_no_call_is_told_from_calls() {
        let to = |code: &[u8]| call_at(code, AT);
        assert_eq!(to(&[0xe8, 0, 1, 0, 0]), Some(Target::At(0x1105)));
        let prefixed = to(&[0x66, 0x48, 0xe8, 0, 1, 0, 0]);
        assert_eq!(prefixed, Some(Target::At(0x1107)));
        assert_eq!(to(&[0xff, 0xd0]), Some(Target::Unknown));
        assert_eq!(to(&[0x41, 0xff, 0x54, 0xc5, 0]), Some(Target::Unknown));
        assert_eq!(to(&[0xff, 0xe0]), None, "a jump");
        assert_eq!(to(&[0xf3, 0x0f, 0x1e, 0xfa]), None);
    }

    #[test]
    fn jumps_out_of_a_function_are_told_from_those_within() {
        let far = Some(Target::At(0x1105));
        assert_eq!(to(&[0xe9, 0, 1, 0, 0]), far);
        assert_eq!(to(&[0xe9, 0, 0, 0, 0]), None, "within");
        assert_eq!(to(&[0xeb, 0xfe]), None, "to itself");
        assert_eq!(to(&[0xeb, 0x20]), Some(Target::At(0x1022)));
        assert_eq!(to(&[0xf2, 0xe9, 0xff, 0, 0, 0]), far, "with a prefix");
        let behind = Some(Target::At(0x1106));
        assert_eq!(to(&[0x0f, 0x84, 0, 1, 0, 0]), behind, "conditional");
        let slot = Some(Target::Slot(0x1106));
        assert_eq!(to(&[0xff, 0x25, 0, 1, 0, 0]), slot);
        assert_eq!(to(&[0xff, 0x24, 0xc5]), Some(Target::Unknown));
        assert_eq!(to(&[0x41, 0xff, 0xe3]), Some(Target::Unknown));
        assert_eq!(to(&[0xff, 0xd0]), None, "a call");
        assert_eq!(to(&[0xe9, 0]), None, "cut off");
    }
}
