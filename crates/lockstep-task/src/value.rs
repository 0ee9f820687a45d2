//! A YAML value that keeps the order of its keys.
//!
//! Defines the value tree of every document of this crate, without its meaning. A tree keeps data that a
//! typed struct would lose: unknown keys, and their order.

use std::fmt;

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One node of a document.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Value {
    /// `null`, `~`, or a key with nothing behind it.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    Int(i64),
    /// A finite number with a fraction or an exponent, or an integer beyond 64 bits. Its spelling (`1.10`) is
    /// not preserved.
    Float(f64),
    Text(String),
    List(Vec<Value>),
    /// A mapping, in the order it was written.
    Map(Map),
}

/// A mapping whose keys are text, unique, and in the order they were written.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Map(Vec<(String, Value)>);

impl Map {
    /// A mapping without keys.
    pub fn new() -> Self {
        Self::default()
    }

    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.iter().find(|(k, _)| k == key).map(|(_, v)| v)
    }

    /// The value of `key`, made as `null` at the end if it is not there.
    pub fn entry(&mut self, key: &str) -> &mut Value {
        let at = self.0.iter().position(|(k, _)| k == key).unwrap_or_else(|| {
            self.0.push((key.to_owned(), Value::Null));
            self.0.len() - 1
        });
        &mut self.0[at].1
    }

    /// Sets `key`, in its place if it is there, else at the end.
    pub fn set(&mut self, key: &str, value: impl Into<Value>) {
        *self.entry(key) = value.into();
    }

    /// Takes `key` out.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        let at = self.0.iter().position(|(k, _)| k == key)?;
        Some(self.0.remove(at).1)
    }

    /// The keys and values in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(k, v)| (k.as_str(), v))
    }

    /// The keys in order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(k, _)| k.as_str())
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Sorts by a rank; keys of the same rank keep their order.
    pub(crate) fn sort_by_rank(&mut self, rank: impl Fn(&str) -> usize) {
        self.0.sort_by_key(|(k, _)| rank(k));
    }
}

impl FromIterator<(String, Value)> for Map {
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(pairs: I) -> Self {
        let mut map = Self::new();
        for (key, value) in pairs {
            map.set(&key, value);
        }
        map
    }
}

impl Value {
    /// The mapping, if it is one.
    pub fn as_map(&self) -> Option<&Map> {
        match self {
            Self::Map(map) => Some(map),
            _ => None,
        }
    }

    pub fn as_list(&self) -> Option<&[Value]> {
        match self {
            Self::List(items) => Some(items),
            _ => None,
        }
    }

    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The value of `key`, if this is a mapping that has it.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_map()?.get(key)
    }

    /// The mapping, made empty first if this is `null`.
    pub(crate) fn map_mut(&mut self) -> Option<&mut Map> {
        if matches!(self, Self::Null) {
            *self = Self::Map(Map::new());
        }
        match self {
            Self::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The list, made empty first if this is `null`.
    pub(crate) fn list_mut(&mut self) -> Option<&mut Vec<Value>> {
        if matches!(self, Self::Null) {
            *self = Self::List(Vec::new());
        }
        match self {
            Self::List(items) => Some(items),
            _ => None,
        }
    }

    /// Returns true for `null`, blank text, an empty list or an empty mapping.
    pub fn is_blank(&self) -> bool {
        match self {
            Self::Null => true,
            Self::Text(text) => text.trim().is_empty(),
            Self::List(items) => items.is_empty(),
            Self::Map(map) => map.is_empty(),
            Self::Bool(_) | Self::Int(_) | Self::Float(_) => false,
        }
    }

    /// Returns the kind of the value for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Bool(_) => "true or false",
            Self::Int(_) => "a whole number",
            Self::Float(_) => "a number",
            Self::Text(_) => "text",
            Self::List(_) => "a list",
            Self::Map(_) => "a mapping",
        }
    }

    /// The value as one short line, for a message.
    pub fn short_text(&self) -> String {
        const WIDTH: usize = 80;
        let line = serde_json::to_string(self).unwrap_or_else(|_| self.kind().to_owned());
        if line.chars().count() <= WIDTH {
            return line;
        }
        let cut: String = line.chars().take(WIDTH - 1).collect();
        format!("{cut}…")
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<Map> for Value {
    fn from(map: Map) -> Self {
        Self::Map(map)
    }
}

impl From<Vec<Value>> for Value {
    fn from(items: Vec<Value>) -> Self {
        Self::List(items)
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(b) => serializer.serialize_bool(*b),
            Self::Int(n) => serializer.serialize_i64(*n),
            Self::Float(n) => serializer.serialize_f64(*n),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(items) => items.serialize(serializer),
            Self::Map(map) => map.serialize(serializer),
        }
    }
}

impl Serialize for Map {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.len()))?;
        for (key, value) in self.iter() {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Value::deserialize(deserializer)
    }

    fn visit_bool<E>(self, b: bool) -> Result<Value, E> {
        Ok(Value::Bool(b))
    }

    fn visit_i64<E>(self, n: i64) -> Result<Value, E> {
        Ok(Value::Int(n))
    }

    fn visit_u64<E>(self, n: u64) -> Result<Value, E> {
        // Larger numbers are stored as text rather than rounded.
        Ok(i64::try_from(n).map_or_else(|_| Value::Text(n.to_string()), Value::Int))
    }

    fn visit_f64<E>(self, n: f64) -> Result<Value, E> {
        Ok(Value::Float(n))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Value::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        // The reader refuses duplicate keys, so pairs may be appended without a search.
        let mut pairs = Vec::new();
        while let Some(pair) = access.next_entry()? {
            pairs.push(pair);
        }
        Ok(Value::Map(Map(pairs)))
    }
}
