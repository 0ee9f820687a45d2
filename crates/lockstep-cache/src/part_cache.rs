//! Cached parts: made once, and sent again while none of their inputs has changed.
//!
//! `.lockstep/cache/ready/` has the [`watch`](crate::watch) list and one file per requested part. The key of
//! a part covers everything else it depends on: the list, the configuration, the provided values, and the
//! program version. Digests of provided values are stored too, while the provider's stamp stays the same.
//! Losing or damaging any of it costs only time.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use blake3::{Hash, Hasher};
use lockstep_fs::FileStamp;
use lockstep_store::{StateDir, StoreError};

use crate::build_record::TrackedInput;
use crate::settings::CacheSettings;
use crate::state_files;

/// The directory, the list in it, and the digests of provided values.
const DIR: &str = "cache/ready";
const LIST: &str = "watch";
const GIVEN: &str = "given";

/// The first line of a cached part. Another digit is another format.
const FIRST: &str = "lockstep ready 1";

/// The maximum number of cached parts. A session has a few dozen; further parts are not cached.
const MAX_PARTS: usize = 400;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachedPart {
    pub hash: String,
    /// The text to send; `None` if there is none for the recipient.
    pub text: Option<String>,
}

pub(crate) fn load_watch_list(state: &StateDir) -> Vec<u8> {
    lockstep_fs::read(dir(state).join(LIST)).unwrap_or_default()
}

/// Returns the cached part for `asked` with this key.
pub(crate) fn load_part(state: &StateDir, asked: &str, seal: &Hash) -> Option<CachedPart> {
    decode(&lockstep_fs::read_to_string(dir(state).join(name(asked))).ok()?, seal)
}

pub(crate) fn save_part(
    state: &StateDir,
    list: &[u8],
    asked: &str,
    seal: &Hash,
    ready: &CachedPart,
) -> Result<(), StoreError> {
    let dir = state.ensure_dir(DIR)?;
    if fs::read_dir(&dir).is_ok_and(|entries| entries.count() > MAX_PARTS) {
        // A process that is reading one of them finds it missing and creates it again.
        let _ = fs::remove_dir_all(&dir);
        state.ensure_dir(DIR)?;
    }
    if load_watch_list(state) != list {
        state_files::replace(&dir, LIST, list)?;
    }
    state_files::replace(&dir, &name(asked), encode(ready, seal).as_bytes())
}

/// Returns the values stored under this key.
pub(crate) fn load_values(state: &StateDir, seal: &Hash) -> Option<BTreeMap<String, TrackedInput>> {
    let text = lockstep_fs::read_to_string(dir(state).join(GIVEN)).ok()?;
    let lines = decode_with_key(&text, seal)?.lines();
    let value = |line: &str| {
        let (digest, name) = line.split_once('\t')?;
        Some((name.to_owned(), TrackedInput::Value(Hash::from_hex(digest).ok()?)))
    };
    lines.map(value).collect()
}

/// Keeps them, if all of them are values.
pub(crate) fn keep_values(
    state: &StateDir,
    seal: &Hash,
    values: &BTreeMap<String, TrackedInput>,
) -> Result<(), StoreError> {
    let line = |(name, look): (&String, &TrackedInput)| match look {
        TrackedInput::Value(digest) => Some(format!("{}\t{name}\n", digest.to_hex())),
        _ => None,
    };
    let body: Option<String> = values.iter().map(line).collect();
    match body {
        Some(body) => {
            state_files::replace(&state.ensure_dir(DIR)?, GIVEN, encode_with_key(&body, seal).as_bytes())
        }
        None => Ok(()),
    }
}

/// The common beginning of all keys of this program with these settings.
pub(crate) struct PartKeys(KeyHasher);

impl PartKeys {
    /// Returns `None` if the program cannot be identified.
    pub(crate) fn of(settings: &CacheSettings) -> Option<Self> {
        let mut fields = KeyHasher(Hasher::new());
        fields.add(&executable_stamp()?.to_bytes());
        fields.add(settings.fingerprint().as_bytes());
        fields.add(settings.target().as_bytes());
        Some(Self(fields))
    }

    /// Returns the key of everything besides the request that determines a part, or `None` if something is
    /// unknown.
    pub(crate) fn of_parts(&self, list: &[u8], values: &BTreeMap<String, TrackedInput>) -> Option<Hash> {
        let mut fields = self.0.clone();
        fields.add(list);
        for (name, look) in values {
            let TrackedInput::Value(digest) = look else { return None };
            fields.add(name.as_bytes());
            fields.add(digest.as_bytes());
        }
        Some(fields.0.finalize())
    }

    /// Returns the key of the provided values: the provider's stamp.
    pub(crate) fn of_values(&self, stamp: &[u8]) -> Hash {
        let mut fields = self.0.clone();
        fields.add(stamp);
        fields.0.finalize()
    }
}

/// The fields of a key, each with its length to keep them separate.
#[derive(Clone)]
struct KeyHasher(Hasher);

impl KeyHasher {
    fn add(&mut self, bytes: &[u8]) {
        self.0.update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
    }
}

/// Another program may put another part together.
fn executable_stamp() -> Option<FileStamp> {
    Some(FileStamp::from(&fs::metadata(std::env::current_exe().ok()?).ok()?))
}

fn dir(state: &StateDir) -> PathBuf {
    state.path().join(Path::new(DIR))
}

/// Returns the file name of a request. Agents' names are untrusted and never become paths.
fn name(asked: &str) -> String {
    blake3::hash(asked.as_bytes()).to_hex()[..32].to_owned()
}

fn encode(ready: &CachedPart, seal: &Hash) -> String {
    match &ready.text {
        Some(text) => encode_with_key(&format!("{}\n{text}", ready.hash), seal),
        None => encode_with_key(&ready.hash, seal),
    }
}

fn decode(text: &str, seal: &Hash) -> Option<CachedPart> {
    let body = decode_with_key(text, seal)?;
    Some(match body.split_once('\n') {
        Some((hash, text)) => CachedPart { hash: hash.to_owned(), text: Some(text.to_owned()) },
        None => CachedPart { hash: body.to_owned(), text: None },
    })
}

fn encode_with_key(body: &str, seal: &Hash) -> String {
    format!("{FIRST}\t{}\t{}\n{body}", seal.to_hex(), blake3::hash(body.as_bytes()).to_hex())
}

/// Returns the content if it has this key and is complete.
fn decode_with_key<'a>(text: &'a str, seal: &Hash) -> Option<&'a str> {
    let (head, body) = text.split_once('\n')?;
    let (found, digest) = head.strip_prefix(FIRST)?.strip_prefix('\t')?.split_once('\t')?;
    let whole = Hash::from_hex(digest).ok()? == blake3::hash(body.as_bytes());
    (whole && Hash::from_hex(found).ok()? == *seal).then_some(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn part_round_trips_and_rejects_corruption_or_another_key() {
        let (seal, other) = (blake3::hash(b"1"), blake3::hash(b"2"));
        for text in [Some("a\n\nb\n"), Some(""), None] {
            let ready = CachedPart { hash: "0123abcd".into(), text: text.map(str::to_owned) };
            let encoded = encode(&ready, &seal);
            assert_eq!(decode(&encoded, &seal), Some(ready));
            assert_eq!(decode(&encoded, &other), None);
            for cut in 0..encoded.len() {
                assert_eq!(decode(&encoded[..cut], &seal), None, "cut at {cut}");
            }
        }
    }
}
