//! The uses of a file.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::OnceLock;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer, ser};

use super::Use;
use crate::language::Language;
use crate::limits::Limit;
use crate::work::Work;

/// The uses of a file. Most files are read for their definitions only, so stored uses are decoded when they are first needed.
#[derive(Clone, Default)]
pub struct Uses {
    stored: Box<[u8]>,
    list: OnceLock<Vec<Use>>,
}

impl Uses {
    fn list(&self) -> &Vec<Use> {
        self.list.get_or_init(|| {
            if self.stored.is_empty() {
                return Vec::new();
            }
            Work::count_decoded_uses(self.stored.len());
            postcard::from_bytes(&self.stored).unwrap_or_else(|_| {
                Limit::StoredUses.reach();
                Vec::new()
            })
        })
    }
}

impl Deref for Uses {
    type Target = Vec<Use>;

    fn deref(&self) -> &Vec<Use> {
        self.list()
    }
}

impl DerefMut for Uses {
    fn deref_mut(&mut self) -> &mut Vec<Use> {
        self.list();
        self.list.get_mut().expect("it was initialised by the line above")
    }
}

impl<'u> IntoIterator for &'u Uses {
    type Item = &'u Use;
    type IntoIter = std::slice::Iter<'u, Use>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl PartialEq for Uses {
    fn eq(&self, other: &Self) -> bool {
        self.list() == other.list()
    }
}

impl Eq for Uses {}

impl fmt::Debug for Uses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.list().fmt(f)
    }
}

impl Serialize for Uses {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes = postcard::to_stdvec(self.list()).map_err(ser::Error::custom)?;
        serializer.serialize_bytes(&bytes)
    }
}

impl<'de> Deserialize<'de> for Uses {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(Stored)
    }
}

/// Stored facts without the uses: a view of their bytes, for readers that look at many files and need little of each.
#[derive(Debug, Clone, Copy)]
pub struct Outline<'b>(&'b [u8]);

impl<'b> Outline<'b> {
    /// `None` if the bytes are no stored facts.
    pub fn new(stored: &'b [u8]) -> Option<Self> {
        let (length, rest) = postcard::take_from_bytes::<usize>(stored).ok()?;
        rest.get(length..).map(Self)
    }

    /// The number of bytes of stored facts without the uses.
    pub fn len_of(stored: &[u8]) -> usize {
        Outline::new(stored).map_or(0, |outline| outline.0.len())
    }

    /// The package or namespace that the file declares. The outer `None` if the bytes are no stored facts.
    pub fn package(self) -> Option<Option<Box<str>>> {
        let (head, _) = postcard::take_from_bytes::<(Language, Option<Box<str>>)>(self.0).ok()?;
        Some(head.1)
    }
}

/// Takes the stored form.
struct Stored;

impl Visitor<'_> for Stored {
    type Value = Uses;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("encoded uses")
    }

    fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<Uses, E> {
        if bytes.is_empty() {
            return Err(E::custom("a list has at least its length"));
        }
        Ok(Uses { stored: bytes.into(), list: OnceLock::new() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language;
    use crate::limits::Limits;

    #[test]
    fn stored_uses_are_decoded_when_they_are_needed() {
        let facts = language::facts("a.py", "from b import c\nc(1)\nc.d()\n");
        let bytes = postcard::to_stdvec(&facts).unwrap();
        let stored: crate::facts::Facts = postcard::from_bytes(&bytes).unwrap();
        assert!(stored.uses.list.get().is_none());
        assert_eq!(stored, facts);
        assert_eq!(stored.uses.len(), facts.uses.len());
        assert_eq!(postcard::to_stdvec(&stored).unwrap(), bytes);
    }

    #[test]
    fn an_outline_has_the_package() {
        let facts = language::facts(
            "a.go",
            "package kit\n\nimport \"other/thing\"\n\nfunc Make() { thing.Call() }\n",
        );
        let bytes = postcard::to_stdvec(&facts).unwrap();
        let outline = Outline::new(&bytes).unwrap();
        assert_eq!(outline.package(), Some(Some("kit".into())));
        assert!(Outline::new(&[]).is_none() && Outline::new(&[200, 1]).is_none());
    }

    #[test]
    fn places_that_a_limit_leaves_out_are_counted() {
        let nested = |open: &str, close: &str| format!("{}1{}", open.repeat(300), close.repeat(300));
        let names: String = (0..70).map(|at| format!("name{at} ")).collect();
        for (path, text) in [
            ("a.py", format!("x = {}\n", nested("[", "]"))),
            ("a.ts", format!("const x = {};\n", nested("[", "]"))),
            ("a.rs", format!("fn f() {{ let x = {}; }}\n", nested("[", "]"))),
            ("a.go", format!("package a\nvar x = {}\n", nested("f(", ")"))),
            ("a.h", format!("#define ALL {names}\n")),
        ] {
            let facts = language::facts(path, &text);
            assert!(facts.omitted > 0, "{path}: {} problems", facts.problems);
            assert_eq!(language::facts(path, "").omitted, 0, "{path}");
        }
    }

    #[test]
    fn uses_that_cannot_be_decoded_are_named_as_a_limit() {
        let begun = Limits::of_thread();
        let damaged = Uses { stored: [9, 200].into(), list: OnceLock::new() };
        assert!(damaged.is_empty());
        assert!(!Limits::of_thread().since(&begun).is_empty());
    }
}
