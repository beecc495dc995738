//! The ways of computing a product, by name.

use std::fmt;
use std::str::FromStr;

/// How the matrices are cut: the shapes of A and B in the outer call, and which kernel is within (P4, figure 4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Panel times panel, by block times panel: each iteration adds to all of C, row of blocks by row of blocks.
    Gepp1,
    /// Panel times panel, by panel times block: to all of C, column of blocks by column of blocks.
    Gepp2,
    /// Panel times matrix, by block times panel: a row of C's blocks after the other, each added to again and again.
    Gepm1,
    /// Panel times matrix, by dot products of panels: each block of C is written once, row by row.
    Gepm2,
    /// Matrix times panel, by panel times block: a column of C's blocks after the other.
    Gemp1,
    /// Matrix times panel, by dot products of panels: each block of C is written once, column by column.
    Gemp2,
    /// Three loops, without blocks.
    Naive,
}

impl Variant {
    /// All of them.
    pub const ALL: [Variant; 7] = [
        Variant::Gepp1,
        Variant::Gepp2,
        Variant::Gepm1,
        Variant::Gepm2,
        Variant::Gemp1,
        Variant::Gemp2,
        Variant::Naive,
    ];

    /// Whether C is gone through row by row.
    pub(super) fn goes_by_rows(self) -> bool {
        !matches!(self, Variant::Gepp2 | Variant::Gemp1 | Variant::Gemp2)
    }

    /// Whether blocks of C are written once.
    pub(super) fn writes_once(self) -> bool {
        matches!(self, Variant::Gepm2 | Variant::Gemp2 | Variant::Naive)
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Variant::Gepp1 => "gepp1",
            Variant::Gepp2 => "gepp2",
            Variant::Gepm1 => "gepm1",
            Variant::Gepm2 => "gepm2",
            Variant::Gemp1 => "gemp1",
            Variant::Gemp2 => "gemp2",
            Variant::Naive => "naive",
        })
    }
}

impl FromStr for Variant {
    type Err = String;

    fn from_str(text: &str) -> Result<Variant, String> {
        let found = Variant::ALL
            .into_iter()
            .find(|variant| variant.to_string() == text);
        found.ok_or_else(|| format!("{text:?} is no variant of GEMM"))
    }
}

/// Whether blocks are copied to where they are contiguous before they are multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// They are.
    On,
    /// They are read where they are.
    Off,
}

/// When results are made durable (P4, 4.4.1 and 4.5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Persistence {
    /// Behind each block of C: many fences, little to compute anew.
    Eager,
    /// Behind each panel of C; where panels are done one after the other, when they are complete.
    Lazy,
}
