//! The object database: loose objects, packs, and the databases that `alternates` names.

use std::fs;
use std::path::{Path, PathBuf};

use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;

use super::pack::Pack;

/// Larger objects are not read, because no analysis needs them.
pub(super) const MAX_BYTES: usize = 16 << 20;

/// The id of an object: 20 bytes, or 32 in a repository of the newer format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Oid(pub(super) Vec<u8>);

impl Oid {
    pub(super) fn from_hex(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        if !matches!(digits.len(), 40 | 64) || !text.is_ascii() {
            return None;
        }
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        digits.chunks(2).map(byte).collect::<Option<_>>().map(Self)
    }

    fn hex(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Commit,
    Tree,
    Blob,
    Tag,
}

pub(super) struct Object {
    pub(super) kind: Type,
    pub(super) data: Vec<u8>,
}

pub(super) struct Entry {
    pub(super) id: Oid,
    pub(super) is_tree: bool,
    /// True if it is a regular file: not a link, not a submodule.
    pub(super) is_file: bool,
}

/// The databases of a repository, its own first.
#[derive(Debug)]
pub(super) struct Objects {
    directories: Vec<PathBuf>,
}

impl Objects {
    pub(super) fn new(directory: &Path) -> Self {
        const MAX_ALTERNATES: usize = 10;
        let mut directories = vec![directory.to_owned()];
        let mut at = 0;
        while at < directories.len() && directories.len() < MAX_ALTERNATES {
            let named =
                lockstep_fs::read_to_string(directories[at].join("info/alternates")).unwrap_or_default();
            let lines = named.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
            let found: Vec<PathBuf> = lines.map(|line| directories[at].join(line)).collect();
            directories.extend(found);
            at += 1;
        }
        Self { directories }
    }

    pub(super) fn blob(&self, id: &Oid) -> Option<Vec<u8>> {
        let object = self.object(id, 0)?;
        (object.kind == Type::Blob).then_some(object.data)
    }

    pub(super) fn tree_of(&self, commit: &Oid) -> Option<Oid> {
        let object = self.object(commit, 0)?;
        let text = std::str::from_utf8(&object.data).ok()?;
        Oid::from_hex(text.lines().next()?.strip_prefix("tree ")?).filter(|_| object.kind == Type::Commit)
    }

    /// Returns the entry of a tree: `None` if the tree is unreadable, `Some(None)` if it has no such entry.
    pub(super) fn entry(&self, tree: &Oid, name: &str) -> Option<Option<Entry>> {
        let entries = self.entries(tree)?;
        Some(entries.into_iter().find(|(found, _)| found == name.as_bytes()).map(|(_, entry)| entry))
    }

    /// Returns the entries of a tree with their names; `None` if the tree is unreadable.
    pub(super) fn entries(&self, tree: &Oid) -> Option<Vec<(Vec<u8>, Entry)>> {
        let object = self.object(tree, 0).filter(|object| object.kind == Type::Tree)?;
        let mut rest = object.data.as_slice();
        let mut entries = Vec::new();
        while !rest.is_empty() {
            let space = rest.iter().position(|byte| *byte == b' ')?;
            let end = rest.iter().position(|byte| *byte == 0)?;
            let (mode, name) = (rest.get(..space)?, rest.get(space + 1..end)?);
            let id = Oid(rest.get(end + 1..end + 1 + tree.0.len())?.to_vec());
            let entry = Entry { id, is_tree: mode == b"40000", is_file: mode.starts_with(b"100") };
            entries.push((name.to_vec(), entry));
            rest = &rest[end + 1 + tree.0.len()..];
        }
        Some(entries)
    }

    pub(super) fn object(&self, id: &Oid, depth: usize) -> Option<Object> {
        self.directories.iter().find_map(|directory| loose(directory, id)).or_else(|| {
            let packs = self.directories.iter().flat_map(|directory| packs(directory));
            packs.into_iter().find_map(|pack| pack.object(self, id, depth))
        })
    }
}

fn loose(directory: &Path, id: &Oid) -> Option<Object> {
    let hex = id.hex();
    let bytes = lockstep_fs::read(directory.join(&hex[..2]).join(&hex[2..])).ok()?;
    let data = decompress_to_vec_zlib_with_limit(&bytes, MAX_BYTES).ok()?;
    let end = data.iter().position(|byte| *byte == 0)?;
    let kind = match data[..end].split(|byte| *byte == b' ').next()? {
        b"commit" => Type::Commit,
        b"tree" => Type::Tree,
        b"blob" => Type::Blob,
        b"tag" => Type::Tag,
        _ => return None,
    };
    Some(Object { kind, data: data[end + 1..].to_vec() })
}

fn packs(directory: &Path) -> Vec<Pack> {
    let entries = fs::read_dir(directory.join("pack")).into_iter().flatten().flatten();
    let indexes = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "idx"));
    indexes.map(|index| Pack { index }).collect()
}
