//! Dismissals: findings that need nothing, with the reason, until either of their files changes again.

use std::path::Path;

use jiff::Timestamp;
use rusqlite::OptionalExtension as _;

use crate::reports::content_fingerprint;
use crate::{Store, StoreResult};

impl Store {
    /// Remembers that `dependent` needs nothing because of `changed`, as both are now.
    pub fn dismiss(&mut self, changed: &Path, dependent: &Path, why: &str, at: Timestamp) -> StoreResult {
        let states = (content_fingerprint(changed), content_fingerprint(dependent));
        self.write(|db| {
            db.execute(
                "INSERT OR REPLACE INTO dismissed VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                (
                    changed.as_os_str().as_encoded_bytes(),
                    dependent.as_os_str().as_encoded_bytes(),
                    &states.0,
                    &states.1,
                    why,
                    at.as_millisecond(),
                ),
            )
        })?;
        Ok(())
    }

    /// Returns the reason if the finding was dismissed and both files are unchanged since.
    pub fn dismissal(&self, changed: &Path, dependent: &Path) -> StoreResult<Option<String>> {
        let row: Option<(String, String, String)> = self.read(|db| {
            db.query_row(
                "SELECT changed_state, dependent_state, why FROM dismissed WHERE changed = ?1 AND dependent = ?2",
                (changed.as_os_str().as_encoded_bytes(), dependent.as_os_str().as_encoded_bytes()),
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
            )
            .optional()
        })?;
        Ok(row
            .filter(|(was, then, _)| {
                (was, then) == (&content_fingerprint(changed), &content_fingerprint(dependent))
            })
            .map(|row| row.2))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::StateDir;

    #[test]
    fn a_dismissal_holds_until_either_file_changes() {
        let root = tempfile::tempdir().unwrap();
        let mut store = Store::open(&StateDir::for_project(root.path())).unwrap();
        let [a, b] = ["a", "b"].map(|name| root.path().join(name));
        let now = Timestamp::UNIX_EPOCH;
        for changing in [&a, &b] {
            fs::write(&a, "1").unwrap();
            fs::write(&b, "1").unwrap();
            assert_eq!(store.dismissal(&b, &a).unwrap(), None);
            store.dismiss(&a, &b, "generated", now).unwrap();
            assert_eq!(store.dismissal(&a, &b).unwrap().as_deref(), Some("generated"));
            fs::write(changing, "2").unwrap();
            assert_eq!(store.dismissal(&a, &b).unwrap(), None);
        }
    }
}
