use std::collections::BTreeMap;

use thiserror::Error;

/// A term of an event description that cannot be placed into `perf_event_attr`.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FormatError {
    /// The unit has no `format/<term>` file.
    #[error("the unit does not describe the term `{0}`")]
    UnknownTerm(String),
    /// The value is no number, or has more bits than the field.
    #[error("the term `{term}` has the unusable value `{value}`")]
    Value {
        /// Name of the term.
        term: String,
        /// Its value as written.
        value: String,
    },
    /// The `format/<term>` text is not of the form `configN:a-b[,c-d]`.
    #[error("the unit describes the term `{term}` as `{format}`, which is not a bit field")]
    Field {
        /// Name of the term.
        term: String,
        /// The text of its format file.
        format: String,
    },
}

/// Places the terms (`event=0xd0,umask=0x82`; a bare name means 1) into the words `config`,
/// `config1` and `config2` of `perf_event_attr` as the unit's `format` files say.
pub fn apply_terms(
    formats: &BTreeMap<String, String>,
    terms: &str,
) -> Result<[u64; 3], FormatError> {
    let mut words = [0u64; 3];
    for item in terms.split(',').map(str::trim).filter(|t| !t.is_empty()) {
        let (term, value) = item.split_once('=').unwrap_or((item, "1"));
        let bits = number(value).ok_or_else(|| bad_value(term, value))?;
        let format = formats
            .get(term)
            .ok_or_else(|| FormatError::UnknownTerm(term.to_owned()))?;
        let (word, fields) = parse_field(format).ok_or_else(|| FormatError::Field {
            term: term.to_owned(),
            format: format.clone(),
        })?;
        words[word] |= scatter(bits, &fields).ok_or_else(|| bad_value(term, value))?;
    }
    Ok(words)
}

fn bad_value(term: &str, value: &str) -> FormatError {
    FormatError::Value {
        term: term.to_owned(),
        value: value.to_owned(),
    }
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

/// `config1:0-15,32` -> word 1 and the bit ranges, lowest value bits first.
fn parse_field(format: &str) -> Option<(usize, Vec<(u32, u32)>)> {
    let (word, ranges) = format.split_once(':')?;
    let word = match word {
        "config" => 0,
        "config1" => 1,
        "config2" => 2,
        _ => return None,
    };
    let mut fields = Vec::new();
    for range in ranges.split(',') {
        let (low, high) = range.split_once('-').unwrap_or((range, range));
        let (low, high): (u32, u32) = (low.parse().ok()?, high.parse().ok()?);
        if low > high || high > 63 {
            return None;
        }
        fields.push((low, high));
    }
    Some((word, fields))
}

/// Spreads `value` over the bit ranges; `None` if it has more bits than they hold.
fn scatter(value: u64, fields: &[(u32, u32)]) -> Option<u64> {
    let mut rest = u128::from(value);
    let mut word = 0u64;
    for &(low, high) in fields {
        let width = high - low + 1;
        let mask = (1u128 << width) - 1;
        word |= ((rest & mask) as u64) << low;
        rest >>= width;
    }
    (rest == 0).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formats() -> BTreeMap<String, String> {
        [
            ("event", "config:0-7,32-35"),
            ("umask", "config:8-15"),
            ("ldlat", "config1:0-15"),
            ("swfilt", "config2:0"),
            ("odd", "attr:0"),
        ]
        .map(|(term, field)| (term.to_owned(), field.to_owned()))
        .into()
    }

    #[test]
    fn terms_land_in_their_fields() {
        let words = apply_terms(&formats(), "event=0xd0,umask=0x82,ldlat=3,swfilt").unwrap();
        assert_eq!(words, [0x82d0, 3, 1]);
    }

    #[test]
    fn a_field_in_two_pieces_takes_the_low_bits_first() {
        assert_eq!(
            apply_terms(&formats(), "event=0x1cd").unwrap()[0],
            0x1_0000_00cd
        );
    }

    #[test]
    fn what_does_not_fit_is_named() {
        assert_eq!(
            apply_terms(&formats(), "umask=0x100"),
            Err(bad_value("umask", "0x100"))
        );
        assert_eq!(
            apply_terms(&formats(), "nope=1"),
            Err(FormatError::UnknownTerm("nope".into()))
        );
        assert!(matches!(
            apply_terms(&formats(), "odd"),
            Err(FormatError::Field { .. })
        ));
    }
}
