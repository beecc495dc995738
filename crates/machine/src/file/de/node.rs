//! The deserializer of a node.

use std::cell::RefCell;

use serde::de::value::StrDeserializer;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::error::{DeError, unknown};
use super::variant::{KIND, Variant};
use crate::error::Problem;
use crate::file::node::{Kind, Node, Value};
use crate::file::read::join;

/// Deserializes `node`, which stands at `key`.
#[derive(Clone)]
pub struct NodeDe<'a> {
    pub node: &'a Node,
    pub key: String,
    /// Is it what goes with a word? Then its key `kind` is not one of its own, and the word alone
    /// is a table without keys.
    pub variant: bool,
    /// Unknown keys, which do not stop the rest from being looked at.
    pub problems: &'a RefCell<Vec<Problem>>,
}

impl<'a> NodeDe<'a> {
    fn inner(&self, node: &'a Node, key: String) -> Self {
        Self {
            node,
            key,
            variant: false,
            problems: self.problems,
        }
    }

    fn placed<T>(&self, result: Result<T, DeError>) -> Result<T, DeError> {
        result.map_err(|error| error.at(&self.node.at, &self.key))
    }

    fn wrong<T>(&self, needed: &str) -> Result<T, DeError> {
        let what = format!("{} stands where {needed} belongs", self.node.what());
        self.placed(Err(DeError::new(what, "")))
    }

    fn whole<T: TryFrom<i64>>(&self, most: impl std::fmt::Display) -> Result<T, DeError> {
        let needed = format!("a whole number from 0 to {most} (no quotes, no unit)");
        match &self.node.kind {
            Kind::Leaf(leaf) => match leaf.value {
                Value::Whole(number) => match T::try_from(number) {
                    Ok(number) => Ok(number),
                    Err(_) => self.wrong(&needed),
                },
                _ => self.wrong(&needed),
            },
            _ => self.wrong(&needed),
        }
    }

    /// The entries of a table, of which only `fields` may be there (`None`: any).
    pub fn entries(&self, fields: Option<&[&str]>) -> Result<Vec<&'a (String, Node)>, DeError> {
        let table = match &self.node.kind {
            Kind::Table(table) => table,
            _ if self.variant => return Ok(Vec::new()),
            _ => return self.wrong("a table"),
        };
        let own = |name: &str| !(self.variant && name == KIND);
        let mut entries = Vec::with_capacity(table.entries.len());
        for entry in table.entries.iter().filter(|(name, _)| own(name)) {
            let (name, node) = entry;
            match fields {
                Some(fields) if !fields.contains(&name.as_str()) => {
                    let problem = unknown("key", name, fields);
                    let problem = problem.into_problem(&node.at, &join(&self.key, name));
                    self.problems.borrow_mut().push(problem);
                }
                _ => entries.push(entry),
            }
        }
        Ok(entries)
    }

    fn visit<V: Visitor<'a>>(
        &self,
        fields: Option<&[&str]>,
        visitor: V,
    ) -> Result<V::Value, DeError> {
        let entries = self.entries(fields)?;
        self.placed(visitor.visit_map(Entries {
            of: self,
            entries: entries.iter(),
            value: None,
        }))
    }
}

struct Entries<'b, 'a> {
    of: &'b NodeDe<'a>,
    entries: std::slice::Iter<'b, &'a (String, Node)>,
    value: Option<&'a (String, Node)>,
}

impl<'a> MapAccess<'a> for Entries<'_, 'a> {
    type Error = DeError;

    fn next_key_seed<K: DeserializeSeed<'a>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, DeError> {
        self.value = self.entries.next().copied();
        let Some((name, _)) = self.value else {
            return Ok(None);
        };
        seed.deserialize(StrDeserializer::new(name)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'a>>(&mut self, seed: V) -> Result<V::Value, DeError> {
        let Some((name, node)) = self.value.take() else {
            return Err(de::Error::custom("a value was asked for before its key"));
        };
        seed.deserialize(self.of.inner(node, join(&self.of.key, name)))
    }
}

struct Items<'b, 'a> {
    of: &'b NodeDe<'a>,
    items: std::iter::Enumerate<std::slice::Iter<'a, Node>>,
}

impl<'a> SeqAccess<'a> for Items<'_, 'a> {
    type Error = DeError;

    fn next_element_seed<T: DeserializeSeed<'a>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, DeError> {
        let Some((index, node)) = self.items.next() else {
            return Ok(None);
        };
        let key = format!("{}[{index}]", self.of.key);
        seed.deserialize(self.of.inner(node, key)).map(Some)
    }
}

impl<'a> Deserializer<'a> for NodeDe<'a> {
    type Error = DeError;

    fn deserialize_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, DeError> {
        match &self.node.kind {
            Kind::Leaf(leaf) => self.placed(match &leaf.value {
                Value::Text(text) => visitor.visit_borrowed_str(text),
                Value::Whole(number) => visitor.visit_i64(*number),
                Value::Real(number) => visitor.visit_f64(*number),
                Value::Flag(flag) => visitor.visit_bool(*flag),
            }),
            Kind::Table(_) => self.visit(None, visitor),
            Kind::List(items) => self.placed(visitor.visit_seq(Items {
                of: &self,
                items: items.iter().enumerate(),
            })),
        }
    }

    fn deserialize_u8<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, DeError> {
        visitor.visit_u8(self.whole(u8::MAX)?)
    }

    fn deserialize_u32<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, DeError> {
        visitor.visit_u32(self.whole(u32::MAX)?)
    }

    fn deserialize_u64<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, DeError> {
        visitor.visit_u64(self.whole(i64::MAX)?)
    }

    fn deserialize_f64<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, DeError> {
        let Kind::Leaf(leaf) = &self.node.kind else {
            return self.wrong("a number");
        };
        match leaf.value {
            Value::Whole(number) => visitor.visit_f64(number as f64),
            Value::Real(number) => visitor.visit_f64(number),
            _ => self.wrong("a number (no quotes, no unit)"),
        }
    }

    fn deserialize_bool<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, DeError> {
        match &self.node.kind {
            Kind::Leaf(leaf) => match leaf.value {
                Value::Flag(flag) => visitor.visit_bool(flag),
                _ => self.wrong("true or false"),
            },
            _ => self.wrong("true or false"),
        }
    }

    fn deserialize_option<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, DeError> {
        if self.node.is_none() {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_struct<V: Visitor<'a>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DeError> {
        self.visit(Some(fields), visitor)
    }

    fn deserialize_enum<V: Visitor<'a>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DeError> {
        let of = self.clone();
        self.placed(Variant::of(of, variants).and_then(|variant| visitor.visit_enum(variant)))
    }

    fn deserialize_newtype_struct<V: Visitor<'a>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, DeError> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        <V: Visitor<'a>>
        i8 i16 i32 i64 i128 u16 u128 f32 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map identifier ignored_any
    }
}
