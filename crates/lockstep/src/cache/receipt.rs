//! Receipts: records of deliveries with their time, their duration and the cache. One line of JSON each, in
//! `.lockstep/cache/`.

use std::fs;
use std::path::PathBuf;

use lockstep_store::{StateDir, StoreError, append_once};
use serde::{Deserialize, Serialize};

/// A longer file is rotated; the previously rotated one is removed.
const MAX_BYTES: u64 = 128 << 10;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Receipt {
    pub(crate) at: String,
    pub(crate) session: String,
    pub(crate) event: String,
    /// The reason for the session's start; for a subagent, its type.
    pub(crate) to: String,
    /// Which part of how many entries.
    pub(crate) part: (usize, usize),
    pub(crate) hash: String,
    /// The length as counted by the client.
    pub(crate) chars: usize,
    /// The reason why the cache was stale, if it was.
    pub(crate) stale: Option<String>,
    /// The time to prepare the text, in microseconds.
    pub(crate) micros: u64,
}

fn file(state: &StateDir) -> PathBuf {
    state.path().join("cache/receipts.jsonl")
}

pub(crate) fn append_receipt(state: &StateDir, receipt: &Receipt) -> Result<(), StoreError> {
    state.ensure_dir("cache")?;
    let line = serde_json::to_string(receipt).expect("a receipt is text and numbers") + "\n";
    let path = file(state);
    if append_once(&path, line.as_bytes())? > MAX_BYTES {
        // If this fails, the file grows until a later receipt succeeds.
        let _ = fs::rename(&path, path.with_extension("old.jsonl"));
    }
    Ok(())
}

/// Returns the stored receipts, oldest first.
pub(crate) fn read_receipts(state: &StateDir) -> Vec<Receipt> {
    let text = |path: PathBuf| lockstep_fs::read_to_string(path).unwrap_or_default();
    let all = text(file(state).with_extension("old.jsonl")) + &text(file(state));
    all.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_receipts_remain_and_the_file_stays_small() {
        let root = tempfile::tempdir().unwrap();
        let state = StateDir::for_project(root.path());
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
            append_receipt(&state, &receipt(number)).unwrap();
        }
        assert_eq!(read_receipts(&state).last(), Some(&receipt(1_999)));
        let files = fs::read_dir(root.path().join(".lockstep/cache")).unwrap();
        let sizes: Vec<u64> = files.map(|file| file.unwrap().metadata().unwrap().len()).collect();
        assert!(sizes.len() == 2 && sizes.iter().all(|size| *size < MAX_BYTES + 1_000), "{sizes:?}");
    }
}
