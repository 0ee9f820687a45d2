//! Archives whose bytes depend on their content only: sorted entries, one time, no owners.

use std::io::Write as _;

use flate2::{Compression, GzBuilder};
use sha2::{Digest as _, Sha256};

use crate::XtaskResult;

/// A file of an archive.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// Relative, with `/`.
    pub(super) path: String,
    pub(super) mode: u32,
    pub(super) bytes: Vec<u8>,
}

impl Entry {
    pub(super) fn file(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), mode: 0o644, bytes: bytes.into() }
    }

    pub(super) fn program(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), mode: 0o755, bytes: bytes.into() }
    }
}

pub(super) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Compresses without a name or a time.
pub(super) fn gzip(bytes: &[u8]) -> XtaskResult<Vec<u8>> {
    let mut encoder = GzBuilder::new().mtime(0).operating_system(255).write(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}

/// Packs files without entries for their directories.
pub(super) fn tar_gz(entries: Vec<Entry>, time: u64) -> XtaskResult<Vec<u8>> {
    gzip(&tar(entries, time, false)?)
}

/// Packs files; with `directories`, each directory precedes its files, as dpkg requires.
pub(super) fn tar(mut entries: Vec<Entry>, time: u64, directories: bool) -> XtaskResult<Vec<u8>> {
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    let mut builder = tar::Builder::new(Vec::new());
    let mut names: Vec<String> = Vec::new();
    for entry in &entries {
        for (at, _) in entry.path.match_indices('/').filter(|_| directories) {
            let directory = entry.path[..=at].to_owned();
            if directory != "./" && !names.contains(&directory) {
                let mut header = header(time, 0o755, 0);
                header.set_entry_type(tar::EntryType::Directory);
                builder.append_data(&mut header, &directory, &[][..])?;
                names.push(directory);
            }
        }
        let mut header = header(time, entry.mode, entry.bytes.len() as u64);
        builder.append_data(&mut header, &entry.path, &*entry.bytes)?;
    }
    Ok(builder.into_inner()?)
}

fn header(time: u64, mode: u32, size: u64) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_mtime(time);
    header.set_mode(mode);
    header.set_size(size);
    header.set_uid(0);
    header.set_gid(0);
    header
}
