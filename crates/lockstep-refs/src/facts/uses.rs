//! The uses of a file.

use std::borrow::Cow;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::OnceLock;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer, ser};

use super::{Role, Use};
use crate::limits::Limit;
use crate::work::Work;

/// The uses of a file. Most files are read for their definitions only, so stored uses are decoded when they are first needed.
///
/// In the stored form, each use is preceded by its length, so that a reader can skip it.
#[derive(Clone, Default)]
pub struct Uses {
    stored: Box<[u8]>,
    list: OnceLock<Vec<Use>>,
}

/// The name of a use, which can be read without the rest.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NamedUse<'u> {
    /// In UTF-8, unchecked.
    pub(crate) name: &'u [u8],
    pub(crate) role: Role,
    /// The key by which [`Uses::read`] finds it. Keys are in the order of the text.
    pub(crate) key: u32,
}

impl Uses {
    fn list(&self) -> &Vec<Use> {
        self.list.get_or_init(|| {
            if self.stored.is_empty() {
                return Vec::new();
            }
            Work::count_decoded_uses(self.stored.len());
            let uses: Option<Vec<Use>> =
                self.bodies().map(|body| postcard::from_bytes(body?.bytes).ok()).collect();
            uses.unwrap_or_else(|| {
                Limit::StoredUses.reach();
                Vec::new()
            })
        })
    }

    /// The stored uses in their encoded form. `None` stands for one that cannot be read, and nothing follows it.
    fn bodies(&self) -> impl Iterator<Item = Option<Body<'_>>> {
        let mut rest = &*self.stored;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let body = Body::first(rest, self.stored.len() - rest.len());
            rest = body.as_ref().map_or(&[], |(_, behind)| behind);
            Some(body.map(|(body, _)| body))
        })
    }

    /// Returns the names of all uses, without decoding the rest of stored ones.
    pub(crate) fn named(&self) -> impl Iterator<Item = NamedUse<'_>> {
        let stored = self.bodies().map_while(|body| {
            let named = body.and_then(|body| body.named());
            named.is_none().then(|| Limit::StoredUses.reach());
            named
        });
        let list = if self.stored.is_empty() { &**self.list() } else { &[] };
        let read = (0..).zip(list).map(|(key, usage)| NamedUse {
            name: usage.name.as_bytes(),
            role: usage.role,
            key,
        });
        stored.chain(read)
    }

    /// Returns the use with a key.
    pub(crate) fn read(&self, key: u32) -> Option<Cow<'_, Use>> {
        let at = key as usize;
        if self.stored.is_empty() {
            return self.list().get(at).map(Cow::Borrowed);
        }
        let (body, _) = Body::first(self.stored.get(at..)?, at)?;
        Work::count_decoded_use(body.bytes.len());
        postcard::from_bytes(body.bytes).ok().map(Cow::Owned)
    }
}

/// The encoded form of a use.
struct Body<'b> {
    bytes: &'b [u8],
    /// The position of its length in the stored uses.
    key: u32,
}

impl<'b> Body<'b> {
    /// Returns the first use of a list, which begins `at` these bytes, and the rest behind it.
    fn first(list: &'b [u8], at: usize) -> Option<(Self, &'b [u8])> {
        let (length, rest) = postcard::take_from_bytes::<u32>(list).ok()?;
        let (bytes, behind) = rest.split_at_checked(length as usize)?;
        Some((Self { bytes, key: u32::try_from(at).ok()? }, behind))
    }

    fn named(&self) -> Option<NamedUse<'b>> {
        let (name, _, role) = postcard::take_from_bytes::<(&[u8], u32, Role)>(self.bytes).ok()?.0;
        Some(NamedUse { name, role, key: self.key })
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
        self.stored = Box::default();
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
        let mut bytes = Vec::new();
        for usage in self.list() {
            let body = postcard::to_stdvec(usage).map_err(ser::Error::custom)?;
            bytes = postcard::to_extend(&*body, bytes).map_err(ser::Error::custom)?;
        }
        serializer.serialize_bytes(&bytes)
    }
}

impl<'de> Deserialize<'de> for Uses {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(Stored)
    }
}

/// Returns the number of bytes of stored facts without the uses.
pub fn outline_length(stored: &[u8]) -> usize {
    let uses = postcard::take_from_bytes::<usize>(stored);
    uses.map_or(0, |(length, rest)| rest.len().saturating_sub(length))
}

/// Takes the stored form.
struct Stored;

impl Visitor<'_> for Stored {
    type Value = Uses;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("encoded uses")
    }

    fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<Uses, E> {
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
    fn one_stored_use_is_read_without_the_others() {
        let facts = language::facts("a.py", "from b import c\nc(1)\nc.d()\n");
        let bytes = postcard::to_stdvec(&facts).unwrap();
        let mut stored: crate::facts::Facts = postcard::from_bytes(&bytes).unwrap();
        for uses in [&stored.uses, &facts.uses] {
            assert_eq!(uses.named().count(), facts.uses.len());
            for (named, candidate) in uses.named().zip(&facts.uses) {
                assert_eq!((named.name, named.role), (candidate.name.as_bytes(), candidate.role));
                assert_eq!(uses.read(named.key).as_deref(), Some(candidate));
            }
        }
        assert!(stored.uses.list.get().is_none(), "nothing else was decoded");
        stored.uses.pop();
        assert_eq!(stored.uses.named().count(), facts.uses.len() - 1, "changed uses replace the stored ones");
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
