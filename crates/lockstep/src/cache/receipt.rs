//! Receipts: what was delivered, when, how long it took, of which cache. One line of JSON each, in `.lockstep/cache/`.

use std::fs;
use std::path::PathBuf;

use lockstep_store::{StateDir, StoreError, append_once};
use serde::{Deserialize, Serialize};

/// A longer file is put aside, and the one put aside before goes.
const MAX_BYTES: u64 = 128 << 10;

/// One delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Receipt {
    /// When.
    pub(crate) at: String,
    /// The session.
    pub(crate) session: String,
    /// The event that carried it.
    pub(crate) event: String,
    /// Why the session started; for a subagent, its type.
    pub(crate) to: String,
    /// Which part of how many entries.
    pub(crate) part: (usize, usize),
    /// The hash of the cache.
    pub(crate) hash: String,
    /// How long the text was, as the client counts.
    pub(crate) chars: usize,
    /// Why the cache was stale, if it was.
    pub(crate) stale: Option<String>,
    /// How long it took to have it ready, in microseconds.
    pub(crate) micros: u64,
}

fn file(state: &StateDir) -> PathBuf {
    state.path().join("cache/receipts.jsonl")
}

/// Keeps a receipt.
pub(crate) fn keep(state: &StateDir, receipt: &Receipt) -> Result<(), StoreError> {
    state.ensure("cache")?;
    let line = serde_json::to_string(receipt).expect("a receipt is text and numbers") + "\n";
    let path = file(state);
    if append_once(&path, line.as_bytes())? > MAX_BYTES {
        // When this fails the file grows on, and the next receipt tries again.
        let _ = fs::rename(&path, path.with_extension("old.jsonl"));
    }
    Ok(())
}

/// The newest receipts that are kept, the oldest first.
pub(crate) fn kept(state: &StateDir) -> Vec<Receipt> {
    let text = |path: PathBuf| fs::read_to_string(path).unwrap_or_default();
    let all = text(file(state).with_extension("old.jsonl")) + &text(file(state));
    all.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_are_kept_and_the_file_stays_small() {
        let root = tempfile::tempdir().unwrap();
        let state = StateDir::of(root.path());
        let receipt = |number: usize| Receipt {
            at: number.to_string(),
            session: "s".into(),
            event: "SessionStart".into(),
            to: "startup".into(),
            part: (1, 1),
            hash: "0123abcd".into(),
            chars: number,
            stale: None,
            micros: 1,
        };
        for number in 0..2_000 {
            keep(&state, &receipt(number)).unwrap();
        }
        assert_eq!(kept(&state).last(), Some(&receipt(1_999)));
        let files = fs::read_dir(root.path().join(".lockstep/cache")).unwrap();
        let sizes: Vec<u64> = files.map(|file| file.unwrap().metadata().unwrap().len()).collect();
        assert!(sizes.len() == 2 && sizes.iter().all(|size| *size < MAX_BYTES + 1_000), "{sizes:?}");
    }
}
