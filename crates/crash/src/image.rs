//! Which memory is persistent, and when.

use std::ops::Range;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// What a power cut leaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Domain {
    /// What memory's controllers have accepted: data has to be flushed, and the flush fenced.
    #[default]
    Adr,
    /// The caches too.
    Eadr,
}

/// Memory that is taken for persistent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Image {
    /// These addresses of every process.
    Range(Range<u64>),
    /// A file that the program mapped (a last part of its path is enough), or what is allocated by
    /// a function, or at a `file:line`.
    Named(String),
}

/// An image that cannot be understood.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ImageError {
    /// Neither form of a range.
    #[error(
        "'{0}' is no range of addresses: give 0xFIRST-0xEND (END is not in it) or 0xFIRST+SIZE"
    )]
    Range(String),
    /// Nothing is in it.
    #[error("'{0}' holds no byte: give 0xFIRST-0xEND (END is not in it) or 0xFIRST+SIZE")]
    Empty(String),
    /// No text at all.
    #[error("an image needs a name: a range of addresses, a file, or who allocates it")]
    Nameless,
}

impl Image {
    /// Is it the file at `path`: all of that, or a last part of it?
    pub fn is_file(&self, path: &str) -> bool {
        let Self::Named(wanted) = self else {
            return false;
        };
        let wanted = wanted.strip_prefix("./").unwrap_or(wanted);
        path.strip_suffix(wanted).is_some_and(|before| {
            before.is_empty() || !wanted.starts_with('/') && before.ends_with('/')
        })
    }
}

impl FromStr for Image {
    type Err = ImageError;

    fn from_str(text: &str) -> Result<Self, ImageError> {
        if text.trim().is_empty() {
            return Err(ImageError::Nameless);
        }
        if !text.starts_with("0x") {
            return Ok(Self::Named(text.to_owned()));
        }
        let wrong = || ImageError::Range(text.to_owned());
        let (first, end) = match (text.split_once('-'), text.split_once('+')) {
            (Some((first, end)), None) => {
                let end = number(end.strip_prefix("0x").ok_or_else(wrong)?, 16);
                (first, end.ok_or_else(wrong)?)
            }
            (None, Some((first, size))) => {
                let start = number(&first[2..], 16).ok_or_else(wrong)?;
                let end = start.checked_add(bytes(size).ok_or_else(wrong)?);
                (first, end.ok_or_else(wrong)?)
            }
            _ => return Err(wrong()),
        };
        let first = number(&first[2..], 16).ok_or_else(wrong)?;
        if first >= end {
            return Err(ImageError::Empty(text.to_owned()));
        }
        Ok(Self::Range(first..end))
    }
}

/// Digits alone: the standard library takes a sign too.
fn number(digits: &str, radix: u32) -> Option<u64> {
    let all = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
    all.then(|| u64::from_str_radix(digits, radix).ok())?
}

/// A size in bytes: hexadecimal, or decimal with an optional K, M or G (powers of two).
fn bytes(text: &str) -> Option<u64> {
    if let Some(digits) = text.strip_prefix("0x") {
        return number(digits, 16);
    }
    let (digits, shift) = match text.chars().last()? {
        'k' | 'K' => (&text[..text.len() - 1], 10),
        'm' | 'M' => (&text[..text.len() - 1], 20),
        'g' | 'G' => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    number(digits, 10)?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(text: &str) -> Result<Image, ImageError> {
        text.parse()
    }

    #[test]
    fn both_forms_of_a_range() {
        assert_eq!(range("0x1000-0x2000"), Ok(Image::Range(0x1000..0x2000)));
        assert_eq!(range("0x1000+4K"), Ok(Image::Range(0x1000..0x2000)));
        assert_eq!(range("0x1000+0x80"), Ok(Image::Range(0x1000..0x1080)));
    }

    #[test]
    fn what_is_no_range_is_a_name() {
        assert_eq!(range("/mnt/pool"), Ok(Image::Named("/mnt/pool".into())));
        assert_eq!(range("pool.c:12"), Ok(Image::Named("pool.c:12".into())));
    }

    #[test]
    fn wrong_ranges_are_told() {
        for text in [
            "0x1000", "0x10-20", "0xg-0x1", "0x1+lots", "0x-0x1", "0x1-0x+2",
        ] {
            assert_eq!(range(text), Err(ImageError::Range(text.into())), "{text}");
        }
        for text in ["0x20-0x10", "0x10+0"] {
            assert_eq!(range(text), Err(ImageError::Empty(text.into())), "{text}");
        }
        let beyond = "0xffffffffffffffff+2";
        assert_eq!(range(beyond), Err(ImageError::Range(beyond.into())));
        assert_eq!(range(" "), Err(ImageError::Nameless));
    }

    #[test]
    fn the_last_part_of_a_path_is_enough() {
        let is_file = |wanted: &str| Image::Named(wanted.into()).is_file("/mnt/pm/pool");
        for wanted in ["/mnt/pm/pool", "pm/pool", "pool", "./pool"] {
            assert!(is_file(wanted), "{wanted}");
        }
        for wanted in ["/pm/pool", "ool", "m/pool", "pool2", "/pool"] {
            assert!(!is_file(wanted), "{wanted}");
        }
    }
}
