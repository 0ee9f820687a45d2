//! The value tree of every document of this crate, without its meaning.
//!
//! A tree keeps data that a typed struct would lose: unknown keys, and their order. JSON's model fits, because a
//! document has text keys and no anchors; `serde_json` keeps the order of keys in this workspace.

pub use serde_json::Value;

/// A mapping whose keys are text, unique, and in the order they were written.
pub type Map = serde_json::Map<String, Value>;

/// Reading and editing of values.
pub trait ValueExt {
    fn as_list(&self) -> Option<&[Value]>;
    /// Returns true for `null`, blank text, an empty list or an empty mapping.
    fn is_blank(&self) -> bool;
    fn kind(&self) -> &'static str;
    /// The value as one short line, for a message.
    fn short_text(&self) -> String;
    /// The mapping, made empty first if this is `null`.
    fn map_mut(&mut self) -> Option<&mut Map>;
    /// The list, made empty first if this is `null`.
    fn list_mut(&mut self) -> Option<&mut Vec<Value>>;
}

/// Editing of mappings that keeps the order of their keys.
pub trait MapExt {
    /// Sets `key`, in its place if it is there, else at the end.
    fn set(&mut self, key: &str, value: impl Into<Value>);
    /// Sorts by a rank; keys of the same rank keep their order.
    fn sort_by_rank(&mut self, rank: impl Fn(&str) -> usize);
}

impl ValueExt for Value {
    fn as_list(&self) -> Option<&[Value]> {
        self.as_array().map(Vec::as_slice)
    }

    fn is_blank(&self) -> bool {
        match self {
            Self::Null => true,
            Self::String(text) => text.trim().is_empty(),
            Self::Array(items) => items.is_empty(),
            Self::Object(map) => map.is_empty(),
            Self::Bool(_) | Self::Number(_) => false,
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Bool(_) => "true or false",
            Self::Number(number) if number.is_f64() => "a number",
            Self::Number(_) => "a whole number",
            Self::String(_) => "text",
            Self::Array(_) => "a list",
            Self::Object(_) => "a mapping",
        }
    }

    fn short_text(&self) -> String {
        const WIDTH: usize = 80;
        let line = self.to_string();
        if line.chars().count() <= WIDTH {
            return line;
        }
        let cut: String = line.chars().take(WIDTH - 1).collect();
        format!("{cut}…")
    }

    fn map_mut(&mut self) -> Option<&mut Map> {
        if self.is_null() {
            *self = Self::Object(Map::new());
        }
        self.as_object_mut()
    }

    fn list_mut(&mut self) -> Option<&mut Vec<Value>> {
        if self.is_null() {
            *self = Self::Array(Vec::new());
        }
        self.as_array_mut()
    }
}

impl MapExt for Map {
    fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.insert(key.to_owned(), value.into());
    }

    fn sort_by_rank(&mut self, rank: impl Fn(&str) -> usize) {
        let mut pairs: Vec<_> = std::mem::take(self).into_iter().collect();
        pairs.sort_by_key(|(key, _)| rank(key));
        self.extend(pairs);
    }
}
