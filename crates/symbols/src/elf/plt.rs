//! Names of procedure linkage table entries, which no symbol table has.

use object::{Object, ObjectSection, ObjectSymbol, ObjectSymbolTable, RelocationTarget};
use rustc_hash::FxHashMap;

use super::table::{Symbol, SymbolTable, static_symbols};

/// Length of an entry where the section header does not say, in bytes.
const ENTRY: u64 = 16;

/// `NAME@plt` for each entry of an x86-64 file's `.plt`, `.plt.sec` and `.plt.got`.
///
/// An entry is recognised by its indirect jump through a slot of the global offset table, and
/// named after the symbol of the dynamic relocation that fills the slot; so it does not matter
/// which of the linkers' layouts (lazy, `-z now`, indirect branch tracking, static) the file has.
pub fn plt_symbols(object: &object::File<'_>) -> Vec<Symbol> {
    if object.architecture() != object::Architecture::X86_64 {
        return Vec::new();
    }
    let mut symbols = Vec::new();
    let mut slots = None;
    for section in object.sections() {
        if !section.name().is_ok_and(|name| name.starts_with(".plt")) {
            continue;
        }
        let Ok(data) = section.data() else { continue };
        // An entry of `.plt.got`, and of a static program, is 8 bytes, padded to 16 where it begins with `endbr64`.
        let mut halves = data.chunks_exact(ENTRY as usize / 2);
        let short = halves.all(|half| half.starts_with(&JUMP));
        let size = if short { ENTRY / 2 } else { ENTRY };
        let slots = slots.get_or_insert_with(|| slot_names(object));
        for (index, entry) in data.chunks_exact(size as usize).enumerate() {
            let start = section.address().wrapping_add(index as u64 * size);
            let Some(name) = jump_slot(entry, start).and_then(|slot| slots.get(&slot)) else {
                continue;
            };
            symbols.push(Symbol::synthetic(start, size, format!("{name}@plt")));
        }
    }
    symbols
}

/// `jmp *disp32(%rip)`, without its displacement.
const JUMP: [u8; 2] = [0xff, 0x25];

/// Address of the slot that `entry` at `start` jumps through: `jmp *disp32(%rip)`.
fn jump_slot(entry: &[u8], start: u64) -> Option<u64> {
    let at = entry.windows(2).position(|bytes| bytes == JUMP)?;
    let disp: [u8; 4] = entry.get(at + 2..at + 6)?.try_into().ok()?;
    let next = start.wrapping_add(at as u64 + 6);
    Some(next.wrapping_add_signed(i64::from(i32::from_le_bytes(disp))))
}

/// Names of what the slots of the global offset table are filled with when the program starts, by their addresses.
pub fn slot_names(object: &object::File<'_>) -> FxHashMap<u64, String> {
    let mut names: FxHashMap<u64, String> = chosen_at_start(object).collect();
    if let (Some(relocations), Some(table)) =
        (object.dynamic_relocations(), object.dynamic_symbol_table())
    {
        names.extend(relocations.filter_map(|(slot, relocation)| {
            let RelocationTarget::Symbol(index) = relocation.target() else {
                return None;
            };
            let symbol = table.symbol_by_index(index).ok()?;
            let name = symbol.name().ok().filter(|name| !name.is_empty())?;
            Some((slot, name.to_owned()))
        }));
    }
    names
}

/// Slots of indirect functions that are the module's own, all of a static program's: named after the function that chooses.
fn chosen_at_start(object: &object::File<'_>) -> impl Iterator<Item = (u64, String)> {
    let word = |entry: &[u8], at: usize| {
        let bytes = entry.get(at..at + 8)?.try_into().ok()?;
        Some(u64::from_le_bytes(bytes))
    };
    let relocations = object
        .sections()
        .filter(|s| s.name().is_ok_and(|name| name.starts_with(".rela")))
        .filter_map(|s| s.data().ok())
        .flat_map(|data| data.chunks_exact(RELOCATION))
        .filter(|entry| word(entry, 8).is_some_and(|info| info as u32 == R_X86_64_IRELATIVE))
        .filter_map(|entry| Some((word(entry, 0)?, word(entry, 16)?)))
        .collect::<Vec<_>>();
    let table = match relocations.is_empty() {
        true => SymbolTable::default(),
        false => SymbolTable::new(static_symbols(object)),
    };
    relocations.into_iter().filter_map(move |(slot, chooser)| {
        let (_, symbol) = table.find(chooser)?;
        (symbol.start == chooser).then(|| (slot, symbol.name.clone()))
    })
}

/// Length of a relocation with an addend, in bytes.
const RELOCATION: usize = 24;
const R_X86_64_IRELATIVE: u32 = 37;
