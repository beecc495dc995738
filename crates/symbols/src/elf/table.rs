//! Functions by address.

use std::cmp::Reverse;

use object::{
    Object, ObjectSection, ObjectSymbol, SectionFlags, SectionIndex, SymbolKind, SymbolSection,
};

/// How many symbols that begin before the address are tried. Functions nest a few deep at most
/// (one with assembly entry points inside); only a malformed table nests deeper.
const DEEPEST: usize = 64;

/// A function symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Name as stored, without a symbol version.
    pub name: String,
    /// Address of the first byte.
    pub start: u64,
    /// Length in bytes as stated, 0 if not stated.
    pub size: u64,
    /// Past the last byte: the stated size within the section, else up to the next symbol.
    end: u64,
    binding: Binding,
    is_function: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Synthetic,
    Local,
    Weak,
    Global,
}

impl Symbol {
    /// A symbol that no table has.
    pub fn synthetic(start: u64, size: u64, name: String) -> Self {
        let end = start.saturating_add(size);
        Self {
            name,
            start,
            size,
            end,
            binding: Binding::Synthetic,
            is_function: true,
        }
    }

    /// Order of preference among symbols that begin at one address, best least: functions before
    /// labels, visible before local, long before short, the name users call (`puts`) before
    /// internal ones (`_IO_puts`), and then anything that is the same each time.
    fn preference(&self) -> impl Ord + '_ {
        let visible = self.binding >= Binding::Weak;
        let underscores = self.name.bytes().take_while(|byte| *byte == b'_').count();
        (
            Reverse(self.is_function),
            Reverse(visible),
            Reverse(self.size),
            underscores,
            Reverse(self.binding),
            self.name.len(),
            &*self.name,
        )
    }

    fn covers(&self, address: u64) -> bool {
        (self.start..self.end).contains(&address)
    }
}

/// The functions of a module, by address.
#[derive(Debug, Default)]
pub struct SymbolTable {
    /// One an address, by start.
    symbols: Vec<Symbol>,
    /// For each symbol the largest end of it and all before it, so that a search backwards can
    /// stop.
    reach: Vec<u64>,
}

impl SymbolTable {
    /// Builds the table of `symbols`, of which several may begin at one address.
    pub fn new(mut symbols: Vec<Symbol>) -> Self {
        symbols.sort_by(|a, b| {
            a.start
                .cmp(&b.start)
                .then_with(|| a.preference().cmp(&b.preference()))
        });
        symbols.dedup_by_key(|symbol| symbol.start);
        let starts: Vec<u64> = symbols.iter().skip(1).map(|symbol| symbol.start).collect();
        for (symbol, next) in symbols.iter_mut().zip(starts) {
            if symbol.size == 0 {
                symbol.end = symbol.end.min(next);
            }
        }
        let reach = symbols
            .iter()
            .scan(0, |reach: &mut u64, symbol| {
                *reach = symbol.end.max(*reach);
                Some(*reach)
            })
            .collect();
        Self { symbols, reach }
    }

    /// The function that covers `address`, as its index and itself: the innermost of those that
    /// state a size, else the label before it.
    pub fn find(&self, address: u64) -> Option<(usize, &Symbol)> {
        let after = self
            .symbols
            .partition_point(|symbol| symbol.start <= address);
        let mut label = None;
        for index in (0..after).rev().take(DEEPEST) {
            if self.reach[index] <= address {
                break;
            }
            let symbol = &self.symbols[index];
            if symbol.covers(address) {
                if symbol.size > 0 {
                    return Some((index, symbol));
                }
                label = label.or(Some((index, symbol)));
            }
        }
        label
    }
}

/// The function symbols of `object`'s `.symtab`.
pub fn static_symbols(object: &object::File<'_>) -> Vec<Symbol> {
    collect(object, object.symbols())
}

/// What a symbol without a size (of a routine in assembly) covers at most where the symbols behind it may be missing. Chosen, not measured.
const MOST_UNSIZED: u64 = 0x1000;

/// The function symbols of `object`'s `.dynsym`, where the ones that are not exported are missing: a label does not speak for all
/// the code up to the next one that is.
pub fn dynamic_symbols(object: &object::File<'_>) -> Vec<Symbol> {
    let mut symbols = collect(object, object.dynamic_symbols());
    for symbol in symbols.iter_mut().filter(|s| s.size == 0) {
        symbol.end = symbol.end.min(symbol.start.saturating_add(MOST_UNSIZED));
    }
    symbols
}

fn collect<'data: 'file, 'file>(
    object: &'file object::File<'data>,
    symbols: object::read::SymbolIterator<'data, 'file, &'data [u8]>,
) -> Vec<Symbol> {
    let code = code_sections(object);
    symbols
        .filter_map(|symbol| function(&symbol, &code))
        .collect()
}

/// End address of each executable section by index, `None` for the others. By flags, for the
/// sections of a separate debug file have no contents but keep their flags.
fn code_sections(object: &object::File<'_>) -> Vec<Option<u64>> {
    let mut ends = Vec::new();
    for section in object.sections() {
        let SectionFlags::Elf { sh_flags, .. } = section.flags() else {
            continue;
        };
        if sh_flags.0 & object::elf::SHF_EXECINSTR.0 == 0 {
            continue;
        }
        let SectionIndex(index) = section.index();
        if ends.len() <= index {
            ends.resize(index + 1, None);
        }
        ends[index] = Some(section.address().saturating_add(section.size()));
    }
    ends
}

fn function<'data>(symbol: &object::Symbol<'data, '_>, code: &[Option<u64>]) -> Option<Symbol> {
    let is_function = match symbol.kind() {
        SymbolKind::Text => true,
        SymbolKind::Unknown | SymbolKind::Label => false,
        _ => return None,
    };
    let SymbolSection::Section(SectionIndex(section)) = symbol.section() else {
        return None;
    };
    let section_end = code.get(section).copied().flatten()?;
    let raw = String::from_utf8_lossy(symbol.name_bytes().ok()?);
    // Linkers write the versioned names of a library as `name@VERSION` or `name@@VERSION`.
    let name = raw.split('@').next().unwrap_or_default();
    let local = symbol.is_local();
    if name.is_empty() || (local && !is_function && is_marker(name)) {
        return None;
    }
    let (start, size) = (symbol.address(), symbol.size());
    let end = match size {
        0 => section_end,
        size => start.saturating_add(size).min(section_end),
    };
    let binding = match (local, symbol.is_weak()) {
        (true, _) => Binding::Local,
        (false, true) => Binding::Weak,
        (false, false) => Binding::Global,
    };
    Some(Symbol {
        name: name.to_owned(),
        start,
        size,
        end,
        binding,
        is_function,
    })
}

/// Whether a local label marks something for tools rather than names code: Arm and RISC-V
/// mapping symbols (`$x`, `$d.3`), assembler-local labels, and linker annotations.
fn is_marker(name: &str) -> bool {
    name.starts_with('$') || name.starts_with(".L") || name.starts_with(".annobin")
}

#[cfg(test)]
mod tests {
    use super::{Binding, Symbol, SymbolTable};

    fn symbol(name: &str, start: u64, size: u64, binding: Binding) -> Symbol {
        let end = if size == 0 { 0x1000 } else { start + size };
        Symbol {
            name: name.into(),
            start,
            size,
            end,
            binding,
            is_function: true,
        }
    }

    fn name(table: &SymbolTable, address: u64) -> Option<&str> {
        table.find(address).map(|(_, symbol)| &*symbol.name)
    }

    #[test]
    fn only_what_covers_the_address_is_named() {
        let table = SymbolTable::new(vec![
            symbol("a", 0x10, 0x10, Binding::Global),
            symbol("b", 0x30, 0x10, Binding::Global),
        ]);
        assert_eq!(name(&table, 0xf), None);
        assert_eq!(name(&table, 0x10), Some("a"));
        assert_eq!(name(&table, 0x1f), Some("a"));
        assert_eq!(name(&table, 0x20), None);
        assert_eq!(name(&table, 0x3f), Some("b"));
        assert_eq!(name(&table, 0x40), None);
    }

    #[test]
    fn a_label_reaches_to_the_next_symbol_and_yields_to_a_function() {
        let mut label = symbol("label", 0x18, 0, Binding::Local);
        label.is_function = false;
        let table = SymbolTable::new(vec![
            symbol("outer", 0x10, 0x10, Binding::Global),
            label,
            symbol("asm", 0x20, 0, Binding::Global),
            symbol("next", 0x40, 8, Binding::Global),
        ]);
        assert_eq!(name(&table, 0x18), Some("outer"));
        assert_eq!(name(&table, 0x3f), Some("asm"));
        assert_eq!(name(&table, 0x44), Some("next"));
        assert_eq!(name(&table, 0x48), None);
    }

    #[test]
    fn the_innermost_of_nested_functions_is_named() {
        let table = SymbolTable::new(vec![
            symbol("outer", 0x10, 0x40, Binding::Global),
            symbol("inner", 0x20, 0x10, Binding::Local),
        ]);
        assert_eq!(name(&table, 0x24), Some("inner"));
        assert_eq!(name(&table, 0x34), Some("outer"));
    }

    #[test]
    fn aliases_take_the_name_users_know() {
        let table = SymbolTable::new(vec![
            symbol("_IO_puts", 0x10, 0x10, Binding::Global),
            symbol("puts", 0x10, 0x10, Binding::Weak),
            symbol("aa_local", 0x10, 0x10, Binding::Local),
        ]);
        assert_eq!(name(&table, 0x10), Some("puts"));
    }
}
