//! Who has which line in private caches.

use prestore_machine::SnoopFilter;

use super::filter::Filter;
use super::table::Table;

/// The cores that hold a line in private caches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sharers {
    /// A bit a core.
    pub(super) cores: u128,
    /// The only one may write it.
    pub(super) exclusive: bool,
}

impl Sharers {
    /// Without `core`.
    #[inline]
    pub(super) fn others(self, core: u32) -> Self {
        let cores = self.cores & !(1 << core);
        Self {
            cores,
            exclusive: self.exclusive && cores != 0,
        }
    }

    /// Each of them.
    pub(super) fn each(self) -> impl Iterator<Item = u32> {
        let mut rest = self.cores;
        std::iter::from_fn(move || {
            let core = rest.trailing_zeros();
            rest &= rest.wrapping_sub(1);
            (core < u128::BITS).then_some(core)
        })
    }
}

/// The directory: a table of all lines, or a snoop filter of limited size.
#[derive(Clone, Debug)]
pub(super) enum Directory {
    Full(Table),
    Limited(Filter),
}

impl Directory {
    pub(super) fn new(filter: Option<SnoopFilter>) -> Self {
        match filter {
            None => Self::Full(Table::new()),
            Some(size) => Self::Limited(Filter::new(size)),
        }
    }

    /// `line` will be asked for soon.
    #[inline]
    pub(super) fn soon(&self, line: u64) {
        match self {
            Self::Full(lines) => lines.soon(line),
            Self::Limited(filter) => filter.soon(line),
        }
    }

    /// Who has `line`.
    #[inline]
    pub(super) fn get(&self, line: u64) -> Sharers {
        match self {
            Self::Full(lines) => lines.get(line),
            Self::Limited(filter) => filter.get(line),
        }
    }

    /// `core` has `line` now, alone and with permission to write where `exclusive`. Answers the
    /// line that had to go for it, and who has that.
    #[inline]
    pub(super) fn add(&mut self, line: u64, core: u32, exclusive: bool) -> Option<(u64, Sharers)> {
        match self {
            Self::Full(lines) => {
                lines.add(line, core, exclusive);
                None
            }
            Self::Limited(filter) => filter.add(line, core, exclusive),
        }
    }

    /// `core` has `line` no longer.
    #[inline]
    pub(super) fn remove(&mut self, line: u64, core: u32) {
        match self {
            Self::Full(lines) => lines.remove(line, core),
            Self::Limited(filter) => filter.remove(line, core),
        }
    }

    /// Nobody has `line` any more.
    pub(super) fn forget(&mut self, line: u64) {
        match self {
            Self::Full(lines) => lines.forget(line),
            Self::Limited(filter) => filter.forget(line),
        }
    }

    /// The core that could write `line` may only read it now.
    pub(super) fn downgrade(&mut self, line: u64) {
        match self {
            Self::Full(lines) => lines.downgrade(line),
            Self::Limited(filter) => filter.downgrade(line),
        }
    }
}
