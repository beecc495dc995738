//! Words: `"lru"`, or `{ kind = "qlru", hit = 0 }` where a word has numbers.

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, EnumAccess, VariantAccess, Visitor};

use super::error::{DeError, unknown};
use super::node::NodeDe;
use crate::file::node::Kind;

/// The key that says which word a table is about.
pub const KIND: &str = "kind";

/// A word and the numbers that go with it.
pub struct Variant<'a> {
    name: &'a str,
    of: NodeDe<'a>,
}

impl<'a> Variant<'a> {
    /// The variant that a node means.
    pub fn of(of: NodeDe<'a>, variants: &'static [&'static str]) -> Result<Self, DeError> {
        let known = || format!("known: {}", variants.join(", "));
        let word = match &of.node.kind {
            Kind::Table(table) => table
                .get(KIND)
                .ok_or_else(|| DeError::new("the key `kind` is missing", known()))?,
            _ => of.node,
        };
        let Some(name) = word.text() else {
            let what = format!("{} stands where a word belongs", word.what());
            return Err(DeError::new(what, known()));
        };
        if !variants.contains(&name) {
            return Err(unknown("word", name, variants).at(&word.at, &of.key));
        }
        Ok(Self {
            name,
            of: NodeDe {
                variant: true,
                ..of
            },
        })
    }
}

impl<'a> EnumAccess<'a> for Variant<'a> {
    type Error = DeError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'a>>(self, seed: V) -> Result<(V::Value, Self), DeError> {
        let name = seed.deserialize(StrDeserializer::<DeError>::new(self.name))?;
        Ok((name, self))
    }
}

impl<'a> VariantAccess<'a> for Variant<'a> {
    type Error = DeError;

    fn unit_variant(self) -> Result<(), DeError> {
        self.of.entries(Some(&[])).map(drop)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'a>>(self, seed: T) -> Result<T::Value, DeError> {
        seed.deserialize(self.of)
    }

    fn tuple_variant<V: Visitor<'a>>(self, _: usize, visitor: V) -> Result<V::Value, DeError> {
        self.of.deserialize_seq(visitor)
    }

    fn struct_variant<V: Visitor<'a>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DeError> {
        self.of.deserialize_struct("", fields, visitor)
    }
}
