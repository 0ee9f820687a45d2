//! `.lockstep/log/hooks.log`: one line for everything a hook could not do. `doctor` reads it.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use jiff::{Timestamp, Zoned};
use lockstep_model::change::format_timestamp;

use crate::{StateDir, StoreError, StoreResult, append_once};

/// A log over this size is moved aside (one older file is kept) before the next line.
const MAX_BYTES: u64 = 1 << 20;

/// The longest message kept; a fault may quote input of any size.
const MAX_MESSAGE_CHARS: usize = 1_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    /// When, as the journal spells it.
    pub at: String,
    /// The event that was being handled, `-` when it could not be read.
    pub event: String,
    pub message: String,
}

pub fn write(state: &StateDir, at: &Zoned, event: &str, message: &str) -> StoreResult {
    state.ensure_dir("log")?;
    let path = state.hook_log();
    rotate(&path)?;
    let line = format!("{}\t{}\t{}\n", format_timestamp(at), single_line(event), single_line(message));
    append_once(&path, line.as_bytes()).map(drop)
}

/// The entries at or after `read_since`, oldest first.
pub fn read_since(state: &StateDir, since: Timestamp) -> StoreResult<Vec<LogEntry>> {
    let mut entries = Vec::new();
    for path in [rotated_path(&state.hook_log()), state.hook_log()] {
        let text = match lockstep_fs::read(&path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(StoreError::io("read", &path)(error)),
        };
        entries.extend(
            text.lines()
                .filter_map(parse)
                .filter(|entry| entry.at.parse::<Timestamp>().is_ok_and(|at| at >= since)),
        );
    }
    Ok(entries)
}

fn parse(line: &str) -> Option<LogEntry> {
    let mut columns = line.splitn(3, '\t').map(str::to_owned);
    Some(LogEntry { at: columns.next()?, event: columns.next()?, message: columns.next()? })
}

fn rotate(path: &Path) -> StoreResult {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_file() && meta.len() > MAX_BYTES => {
            match fs::rename(path, rotated_path(path)) {
                // Another hook was first.
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
                result => result.map_err(StoreError::io("move", path)),
            }
        }
        _ => Ok(()),
    }
}

fn rotated_path(path: &Path) -> std::path::PathBuf {
    path.with_extension("log.1")
}

fn single_line(text: &str) -> String {
    let text = if text.is_empty() { "-" } else { text };
    text.chars().take(MAX_MESSAGE_CHARS).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Zoned {
        text.parse().unwrap()
    }

    #[test]
    fn log_entries_are_found_by_time() {
        let root = tempfile::tempdir().unwrap();
        let state = StateDir::for_project(root.path());
        assert!(read_since(&state, Timestamp::MIN).unwrap().is_empty());
        write(&state, &at("2026-02-13T10:00:00+09:00[Asia/Tokyo]"), "Stop", "old").unwrap();
        write(&state, &at("2026-02-14T10:00:00+09:00[Asia/Tokyo]"), "", "two\nlines\tand a tab").unwrap();
        let found = read_since(&state, "2026-02-14T00:00:00+09:00".parse().unwrap()).unwrap();
        assert_eq!(
            found,
            [LogEntry {
                at: "2026-02-14T10:00:00+09:00".to_owned(),
                event: "-".to_owned(),
                message: "two lines and a tab".to_owned(),
            }]
        );
    }

    #[test]
    fn the_log_does_not_grow_without_bound() {
        let root = tempfile::tempdir().unwrap();
        let state = StateDir::for_project(root.path());
        state.ensure_dir("log").unwrap();
        fs::write(state.hook_log(), vec![b'x'; MAX_BYTES as usize + 1]).unwrap();
        let now = at("2026-02-14T10:00:00+09:00[Asia/Tokyo]");
        write(&state, &now, "Stop", &"y".repeat(5_000_000)).unwrap();
        assert!(fs::metadata(state.hook_log()).unwrap().len() < 2_000);
        assert!(rotated_path(&state.hook_log()).exists());
        assert_eq!(read_since(&state, Timestamp::MIN).unwrap().len(), 1);
    }
}
