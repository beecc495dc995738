//! `RANGE:MODE`.

use std::str::FromStr;

use prestore_crash::Image;

use crate::{Mode, ModesError};

/// A mode for a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// As the user wrote the range.
    pub name: String,
    /// The range.
    pub image: Image,
    /// Its mode.
    pub mode: Mode,
}

impl FromStr for Assignment {
    type Err = ModesError;

    /// The mode stands behind the last colon: a range may be a `file:line`.
    fn from_str(text: &str) -> Result<Self, ModesError> {
        let wrong = |why: String| ModesError::Assignment {
            text: text.to_owned(),
            why,
        };
        let words = Mode::ALL.map(Mode::word).join(", ");
        let (range, word) = text.rsplit_once(':').ok_or_else(|| {
            wrong(format!(
                "write RANGE:MODE, with a file that the program mapped, a function or FILE:LINE that allocates, or \
                 addresses, and one of {words}"
            ))
        })?;
        let mode = Mode::named(word)
            .ok_or_else(|| wrong(format!("there is no mode '{word}': give one of {words}")))?;
        let image = range.parse().map_err(|e| wrong(format!("{e}")))?;
        Ok(Self {
            name: range.to_owned(),
            image,
            mode,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mode_stands_behind_the_last_colon() {
        let parsed: Assignment = "pool.c:12:wt".parse().unwrap();
        assert_eq!(parsed.image, Image::Named("pool.c:12".into()));
        assert_eq!(parsed.mode, Mode::WriteThrough);
        let parsed: Assignment = "0x1000+4K:UC".parse().unwrap();
        assert_eq!(parsed.image, Image::Range(0x1000..0x2000));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, part) in [
            ("pool", "write RANGE:MODE"),
            ("pool:XX", "no mode 'XX': give one of WB, WT"),
            ("0x2-0x1:WT", "holds no byte"),
            (":WT", "needs a name"),
        ] {
            let said = text.parse::<Assignment>().unwrap_err().to_string();
            assert!(said.contains(part), "{text}: {said}");
        }
    }
}
