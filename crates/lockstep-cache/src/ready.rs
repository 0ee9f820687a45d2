//! Parts that are ready: made once, and sent again for as long as nothing that they were made of has changed.
//!
//! In `.lockstep/cache/ready/`: the [`watch`](crate::watch) list, and a file for each part that was asked for. A part is
//! sealed with everything else that it depends on: the list, the configuration, what was given, and the program that made
//! it. What was given is known by its digests, and these are kept too, for as long as the provider's stamp stays the same.
//! Losing any of it, or finding it damaged, costs time, nothing else.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use blake3::{Hash, Hasher};
use lockstep_store::{StateDir, StoreError};

use crate::record::Look;
use crate::settings::Settings;
use crate::state;
use lockstep_store::stamp::Stamp;

/// The directory; the list in it, and the digests of what was given.
const DIR: &str = "cache/ready";
const LIST: &str = "watch";
const GIVEN: &str = "given";

/// How a sealed file begins. Another digit is another format.
const FIRST: &str = "lockstep ready 1";

/// How many parts are kept. A session has a few dozen; who asks for more is not served faster.
const MOST: usize = 400;

/// What was made for one question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ready {
    /// The cache's hash.
    pub hash: String,
    /// The text to send; `None` where there is nothing for who asked.
    pub text: Option<String>,
}

/// The watch list that is kept; empty if there is none.
pub(crate) fn kept_list(state: &StateDir) -> Vec<u8> {
    fs::read(dir(state).join(LIST)).unwrap_or_default()
}

/// What is kept for `asked` under this seal.
pub(crate) fn kept(state: &StateDir, asked: &str, seal: &Hash) -> Option<Ready> {
    decode(&fs::read_to_string(dir(state).join(name(asked))).ok()?, seal)
}

/// Keeps what was made for `asked`.
pub(crate) fn keep(
    state: &StateDir,
    list: &[u8],
    asked: &str,
    seal: &Hash,
    ready: &Ready,
) -> Result<(), StoreError> {
    let dir = state.ensure(DIR)?;
    if fs::read_dir(&dir).is_ok_and(|entries| entries.count() > MOST) {
        // Whoever is reading one of them finds it gone and makes it anew.
        let _ = fs::remove_dir_all(&dir);
        state.ensure(DIR)?;
    }
    if kept_list(state) != list {
        state::replace(&dir, LIST, list)?;
    }
    state::replace(&dir, &name(asked), encode(ready, seal).as_bytes())
}

/// The values that were kept under this seal.
pub(crate) fn kept_values(state: &StateDir, seal: &Hash) -> Option<BTreeMap<String, Look>> {
    let text = fs::read_to_string(dir(state).join(GIVEN)).ok()?;
    let lines = unsealed(&text, seal)?.lines();
    let value = |line: &str| {
        let (digest, name) = line.split_once('\t')?;
        Some((name.to_owned(), Look::Value(Hash::from_hex(digest).ok()?)))
    };
    lines.map(value).collect()
}

/// Keeps them, if all of them are values.
pub(crate) fn keep_values(
    state: &StateDir,
    seal: &Hash,
    values: &BTreeMap<String, Look>,
) -> Result<(), StoreError> {
    let line = |(name, look): (&String, &Look)| match look {
        Look::Value(digest) => Some(format!("{}\t{name}\n", digest.to_hex())),
        _ => None,
    };
    let body: Option<String> = values.iter().map(line).collect();
    match body {
        Some(body) => state::replace(&state.ensure(DIR)?, GIVEN, sealed(&body, seal).as_bytes()),
        None => Ok(()),
    }
}

/// What every seal of this program with these settings begins with.
pub(crate) struct Seals(Fields);

impl Seals {
    /// `None` where it cannot be told which program this is.
    pub(crate) fn of(settings: &Settings) -> Option<Self> {
        let mut fields = Fields(Hasher::new());
        fields.add(&program()?.bytes());
        fields.add(settings.fingerprint().as_bytes());
        fields.add(settings.target().as_bytes());
        Some(Self(fields))
    }

    /// Everything besides the question that decides what an answer is. `None` where something of it cannot be told.
    pub(crate) fn of_parts(&self, list: &[u8], values: &BTreeMap<String, Look>) -> Option<Hash> {
        let mut fields = self.0.clone();
        fields.add(list);
        for (name, look) in values {
            let Look::Value(digest) = look else { return None };
            fields.add(name.as_bytes());
            fields.add(digest.as_bytes());
        }
        Some(fields.0.finalize())
    }

    /// What decides what is given: the provider's stamp.
    pub(crate) fn of_values(&self, stamp: &[u8]) -> Hash {
        let mut fields = self.0.clone();
        fields.add(stamp);
        fields.0.finalize()
    }
}

/// What a seal is made of, each with its length, which keeps one from running into the next.
#[derive(Clone)]
struct Fields(Hasher);

impl Fields {
    fn add(&mut self, bytes: &[u8]) {
        self.0.update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
    }
}

/// Another program may put another part together.
fn program() -> Option<Stamp> {
    Some(Stamp::plain(&fs::metadata(std::env::current_exe().ok()?).ok()?))
}

fn dir(state: &StateDir) -> PathBuf {
    state.path().join(Path::new(DIR))
}

/// Agents' names come from outside and never become paths.
fn name(asked: &str) -> String {
    blake3::hash(asked.as_bytes()).to_hex()[..32].to_owned()
}

fn encode(ready: &Ready, seal: &Hash) -> String {
    match &ready.text {
        Some(text) => sealed(&format!("{}\n{text}", ready.hash), seal),
        None => sealed(&ready.hash, seal),
    }
}

fn decode(text: &str, seal: &Hash) -> Option<Ready> {
    let body = unsealed(text, seal)?;
    Some(match body.split_once('\n') {
        Some((hash, text)) => Ready { hash: hash.to_owned(), text: Some(text.to_owned()) },
        None => Ready { hash: body.to_owned(), text: None },
    })
}

fn sealed(body: &str, seal: &Hash) -> String {
    format!("{FIRST}\t{}\t{}\n{body}", seal.to_hex(), blake3::hash(body.as_bytes()).to_hex())
}

/// What was sealed with this seal and is whole.
fn unsealed<'a>(text: &'a str, seal: &Hash) -> Option<&'a str> {
    let (head, body) = text.split_once('\n')?;
    let (found, digest) = head.strip_prefix(FIRST)?.strip_prefix('\t')?.split_once('\t')?;
    let whole = Hash::from_hex(digest).ok()? == blake3::hash(body.as_bytes());
    (whole && Hash::from_hex(found).ok()? == *seal).then_some(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_comes_back_and_damage_and_another_seal_are_nothing() {
        let (seal, other) = (blake3::hash(b"1"), blake3::hash(b"2"));
        for text in [Some("a\n\nb\n"), Some(""), None] {
            let ready = Ready { hash: "0123abcd".into(), text: text.map(str::to_owned) };
            let kept = encode(&ready, &seal);
            assert_eq!(decode(&kept, &seal), Some(ready));
            assert_eq!(decode(&kept, &other), None);
            for cut in 0..kept.len() {
                assert_eq!(decode(&kept[..cut], &seal), None, "cut at {cut}");
            }
        }
    }
}
