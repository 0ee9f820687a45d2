//! The scratch of each session, as text. The writer defines its content.

use jiff::Timestamp;
use lockstep_model::ids::SessionId;
use rusqlite::OptionalExtension as _;

use crate::{Store, StoreResult};

impl Store {
    /// A session's scratch, if it has some.
    pub fn scratch(&self, session: &SessionId) -> StoreResult<Option<String>> {
        self.read(|db| {
            db.query_row("SELECT content FROM scratch WHERE session = ?1", [session.as_str()], |row| {
                row.get(0)
            })
            .optional()
        })
    }

    /// Replaces a session's scratch if it still is `before`. Returns false if another process has changed it.
    pub fn swap_scratch(
        &mut self,
        session: &SessionId,
        before: Option<&str>,
        content: &str,
        at: Timestamp,
    ) -> StoreResult<bool> {
        self.write(|db| {
            let present: Option<String> = db
                .query_row("SELECT content FROM scratch WHERE session = ?1", [session.as_str()], |row| {
                    row.get(0)
                })
                .optional()?;
            if present.as_deref() != before {
                return Ok(false);
            }
            db.execute(
                "INSERT INTO scratch VALUES (?1, ?2, ?3)
                 ON CONFLICT (session) DO UPDATE SET content = ?2, at = ?3",
                (session.as_str(), content, at.as_millisecond()),
            )?;
            Ok(true)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StateDir;

    #[test]
    fn scratch_is_swapped_and_belongs_to_its_session() {
        let root = tempfile::tempdir().unwrap();
        let mut store = Store::open(&StateDir::for_project(root.path())).unwrap();
        let [a, b] = ["a", "b"].map(|id| SessionId::new(id).unwrap());
        let at = Timestamp::UNIX_EPOCH;
        assert!(store.swap_scratch(&a, None, "x", at).unwrap());
        assert!(!store.swap_scratch(&a, None, "y", at).unwrap());
        assert!(store.swap_scratch(&a, Some("x"), "y", at).unwrap());
        assert_eq!(store.scratch(&a).unwrap().as_deref(), Some("y"));
        assert_eq!(store.scratch(&b).unwrap(), None);
    }
}
