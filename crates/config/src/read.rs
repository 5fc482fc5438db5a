//! Reads a tree into the configuration structs. The errors keep what serde knows: the
//! key, the allowed values, and the origin of the value.

use crate::error::{ConfigError, Place, Problem, nearest};
use crate::tree::{Data, Origin, Tree};
use serde::de::{self, DeserializeSeed, IntoDeserializer, Unexpected, Visitor};
use std::collections::btree_map;
use std::fmt;

/// Read the whole tree.
pub(crate) fn read<T: de::DeserializeOwned>(tree: &Tree) -> Result<T, ConfigError> {
    T::deserialize(Reader { tree }).map_err(|e| {
        let e = e.located(tree.origin.value_place());
        let key = e.path.iter().rev().map(String::as_str).collect::<Vec<_>>().join(".");
        ConfigError::Key {
            place: e.place.unwrap_or(Place { layer: String::new(), at: None }),
            key: if key.is_empty() { "the configuration".to_string() } else { key },
            problem: e.problem,
        }
    })
}

/// A problem on its way to the root; each level adds its part of the key, innermost
/// first.
#[derive(Debug)]
struct ReadError {
    problem: Box<Problem>,
    path: Vec<String>,
    place: Option<Place>,
}

impl ReadError {
    fn new(problem: Problem) -> ReadError {
        ReadError { problem: Box::new(problem), path: Vec::new(), place: None }
    }
    fn located(mut self, place: Place) -> ReadError {
        self.place.get_or_insert(place);
        self
    }
    fn under(mut self, key: &str, place: Place) -> ReadError {
        self.path.push(key.to_string());
        self.located(place)
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.problem)
    }
}

impl std::error::Error for ReadError {}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|n| n.to_string()).collect()
}

/// The type that serde expected, in words for the user.
fn in_words(expected: &str) -> String {
    match expected {
        "u32" => "a whole number from 0 to 4294967295".to_string(),
        "u64" => "a whole number, 0 or more".to_string(),
        "a string" => "a text in quotes".to_string(),
        "a sequence" => "a list: [ … ]".to_string(),
        "a boolean" => "true or false".to_string(),
        e if e.starts_with("struct ") || e == "a map" => "a table of keys".to_string(),
        e => e.to_string(),
    }
}

impl de::Error for ReadError {
    fn custom<T: fmt::Display>(message: T) -> ReadError {
        ReadError::new(Problem::Invalid(message.to_string()))
    }
    fn invalid_type(found: Unexpected<'_>, expected: &dyn de::Expected) -> ReadError {
        let found = match found {
            Unexpected::Str(s) => format!("the text {s:?}"),
            Unexpected::Signed(n) => format!("the number {n}"),
            Unexpected::Float(x) => format!("the number {x}"),
            Unexpected::Bool(b) => format!("{b}"),
            Unexpected::Seq => "a list".to_string(),
            Unexpected::Map => "a table".to_string(),
            other => other.to_string(),
        };
        ReadError::new(Problem::WrongType { found, expected: in_words(&expected.to_string()) })
    }
    fn invalid_value(found: Unexpected<'_>, expected: &dyn de::Expected) -> ReadError {
        ReadError::invalid_type(found, expected)
    }
    fn unknown_variant(found: &str, allowed: &'static [&'static str]) -> ReadError {
        ReadError::new(Problem::UnknownMember {
            found: found.to_string(),
            nearest: nearest(found, allowed.iter().copied()),
            allowed: owned(allowed),
        })
    }
    fn unknown_field(found: &str, allowed: &'static [&'static str]) -> ReadError {
        ReadError::new(Problem::UnknownKey {
            nearest: nearest(found, allowed.iter().copied()),
            allowed: owned(allowed),
        })
    }
    fn missing_field(field: &'static str) -> ReadError {
        ReadError { path: vec![field.to_string()], ..ReadError::new(Problem::Missing) }
    }
}

struct Reader<'a> {
    tree: &'a Tree,
}

impl<'de> de::Deserializer<'de> for Reader<'_> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match &self.tree.data {
            Data::Table(t) => visitor.visit_map(Entries { entries: t.iter(), value: None }),
            Data::List(l) => visitor.visit_seq(Items { items: l, next: 0 }),
            Data::Text(s) => visitor.visit_str(s),
            Data::Integer(n) => visitor.visit_i64(*n),
            Data::Float(x) => visitor.visit_f64(*x),
            Data::Bool(b) => visitor.visit_bool(*b),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        match &self.tree.data {
            Data::Text(s) => visitor.visit_enum(s.as_str().into_deserializer()),
            // Only enums of plain names get here; policies have their own readers.
            _ => Err(ReadError::new(Problem::UnknownMember {
                found: self.tree.shown(),
                nearest: None,
                allowed: owned(variants),
            })),
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

struct Entries<'a> {
    entries: btree_map::Iter<'a, String, Tree>,
    value: Option<(&'a str, &'a Tree)>,
}

impl<'de> de::MapAccess<'de> for Entries<'_> {
    type Error = ReadError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, ReadError> {
        let Some((key, value)) = self.entries.next() else { return Ok(None) };
        self.value = Some((key, value));
        let read = seed.deserialize(key.as_str().into_deserializer());
        read.map(Some).map_err(|e: ReadError| e.under(key, value.origin.key_place()))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, ReadError> {
        let Some((key, tree)) = self.value.take() else {
            return Err(de::Error::custom("a value was asked for before its key"));
        };
        seed.deserialize(Reader { tree }).map_err(|e| {
            let place = place_of(&e, &tree.origin);
            e.under(key, place)
        })
    }
}

/// The place of an error: for a missing key the start of its table, else the value.
fn place_of(error: &ReadError, origin: &Origin) -> Place {
    match *error.problem {
        Problem::Missing => origin.key_place(),
        _ => origin.value_place(),
    }
}

struct Items<'a> {
    items: &'a [Tree],
    next: usize,
}

impl<'de> de::SeqAccess<'de> for Items<'_> {
    type Error = ReadError;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, ReadError> {
        let Some(tree) = self.items.get(self.next) else { return Ok(None) };
        self.next += 1;
        let read = seed.deserialize(Reader { tree }).map(Some);
        read.map_err(|e| e.under(&self.next.to_string(), tree.origin.value_place()))
    }
}
