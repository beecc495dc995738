//! From `"14 cycles"` to [`super::Cycles`].

use thiserror::Error;

/// Why a text is not the quantity it should be.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum QuantityError {
    /// No number at its beginning.
    #[error("'{0}' does not begin with a number: write the number, then its unit ({1})")]
    NotANumber(String, String),
    /// A number alone.
    #[error("{0} has no unit: give it one of {1}, as a string")]
    NoUnit(String, String),
    /// A unit of something else.
    #[error("'{0}' is not a unit of {1}: use one of {2}")]
    WrongUnit(String, &'static str, String),
    /// Negative, or so large that it means nothing.
    #[error("{0} is out of range: {1} is from 0 to {2}")]
    OutOfRange(String, &'static str, f64),
    /// A size with a broken byte.
    #[error("{0} is not a whole number of bytes")]
    BrokenByte(String),
}

/// The largest size taken, bytes: numbers up to here are exact as floating point.
const MOST_BYTES: f64 = (1u64 << 53) as f64;

/// What a quantity is called, and its units with their worth.
pub struct Kind {
    /// `a time`.
    pub what: &'static str,
    /// Name and worth in the quantity's own unit.
    pub units: &'static [(&'static str, f64)],
    /// Largest value that means anything.
    pub most: f64,
}

impl Kind {
    /// `ns, us`.
    pub fn unit_names(&self) -> String {
        let names: Vec<&str> = self.units.iter().map(|(name, _)| *name).collect();
        names.join(", ")
    }

    /// The value in the quantity's own unit.
    pub fn parse(&self, text: &str) -> Result<f64, QuantityError> {
        let (number, unit) = split(text);
        let Ok(number) = number.parse::<f64>() else {
            return Err(QuantityError::NotANumber(text.into(), self.unit_names()));
        };
        if unit.is_empty() {
            return Err(QuantityError::NoUnit(text.into(), self.unit_names()));
        }
        let Some((_, worth)) = self.units.iter().find(|(name, _)| *name == unit) else {
            return Err(QuantityError::WrongUnit(
                unit.into(),
                self.what,
                self.unit_names(),
            ));
        };
        let value = number * worth;
        if !(0.0..=self.most).contains(&value) {
            return Err(QuantityError::OutOfRange(text.into(), self.what, self.most));
        }
        Ok(value)
    }
}

/// Number and unit of a text; the unit may be empty.
pub fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+')))
        .unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

/// Number and unit, where a text is that and not a word, a name or a sentence.
pub fn number_and_unit(text: &str) -> Option<(f64, &str)> {
    let (number, unit) = split(text);
    let number = number.parse().ok()?;
    (!unit.contains(char::is_whitespace)).then_some((number, unit))
}

/// A size must be whole.
pub fn whole_bytes(text: &str, bytes: f64) -> Result<u64, QuantityError> {
    if bytes.fract() != 0.0 {
        return Err(QuantityError::BrokenByte(text.into()));
    }
    Ok(bytes as u64)
}

/// Largest value of quantities that have no bound of their own.
pub const MOST: f64 = MOST_BYTES;

/// `FromStr` and `Deserialize` of a quantity.
macro_rules! quantity {
    ($name:ident, $what:literal, [$($unit:literal = $worth:literal),+]) => {
        quantity!(@impl $name, $what, [$($unit = $worth),+], parse::MOST, |_, value| Ok(value));
    };
    ($name:ident, $what:literal, [$($unit:literal = $worth:literal),+], at most $most:literal) => {
        quantity!(@impl $name, $what, [$($unit = $worth),+], $most, |_, value| Ok(value));
    };
    ($name:ident, $what:literal, [$($unit:literal = $worth:literal),+], whole) => {
        quantity!(@impl $name, $what, [$($unit = $worth),+], parse::MOST, parse::whole_bytes);
    };
    (@impl $name:ident, $what:literal, [$($unit:literal = $worth:literal),+], $most:expr, $finish:expr) => {
        impl $name {
            const KIND: parse::Kind = parse::Kind {
                what: $what,
                units: &[$(($unit, $worth)),+],
                most: $most,
            };
        }

        impl std::str::FromStr for $name {
            type Err = QuantityError;

            fn from_str(text: &str) -> Result<Self, QuantityError> {
                let value = Self::KIND.parse(text)?;
                let finish: fn(&str, f64) -> Result<_, QuantityError> = $finish;
                finish(text, value).map(Self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                from.deserialize_str(parse::QuantityVisitor(&Self::KIND, std::marker::PhantomData))
            }
        }
    };
}
pub(super) use quantity;

/// Takes a string; a bare number gets the error that names the units.
pub struct QuantityVisitor<T>(pub &'static Kind, pub std::marker::PhantomData<T>);

impl<T: std::str::FromStr<Err = QuantityError>> serde::de::Visitor<'_> for QuantityVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{} ({})", self.0.what, self.0.unit_names())
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<T, E> {
        let units = self.0.unit_names();
        Err(E::custom(QuantityError::NoUnit(number.to_string(), units)))
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<T, E> {
        let units = self.0.unit_names();
        Err(E::custom(QuantityError::NoUnit(number.to_string(), units)))
    }
}
