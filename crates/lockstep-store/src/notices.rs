//! Notices: messages for the Lead of a session besides alerts, delivered through the same mailbox.

use jiff::Timestamp;
use lockstep_model::ids::SessionId;

use crate::mailbox::set_flag;
use crate::{Store, StoreResult};

impl Store {
    /// Adds a notice. It replaces a waiting one with the same subject, because only the newest is valid.
    pub fn put_notice(
        &mut self,
        session: &SessionId,
        subject: &str,
        text: &str,
        at: Timestamp,
    ) -> StoreResult {
        let state = self.state.clone();
        self.write(|db| {
            db.execute(
                "DELETE FROM notice WHERE session = ?1 AND subject = ?2 AND taken_at IS NULL",
                (session.as_str(), subject),
            )?;
            db.execute(
                "INSERT INTO notice (session, subject, text, put_at) VALUES (?1, ?2, ?3, ?4)",
                (session.as_str(), subject, text, at.as_millisecond()),
            )?;
            Ok(set_flag(&state, session))
        })?
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StateDir;
    use crate::mailbox::may_have_mail;

    #[test]
    fn newest_notice_of_a_subject_is_taken_once_and_can_be_put_back() {
        let root = tempfile::tempdir().unwrap();
        let state = StateDir::for_project(root.path());
        let mut store = Store::open(&state).unwrap();
        let session = SessionId::new("s").unwrap();
        let at = Timestamp::UNIX_EPOCH;
        store.put_notice(&session, "readers", "old", at).unwrap();
        store.put_notice(&session, "readers", "new", at).unwrap();
        store.put_notice(&session, "list", "other", at).unwrap();
        assert!(may_have_mail(&state, &session));
        let mail = store.take_mail(&session, at).unwrap();
        assert_eq!(mail.notices.iter().map(|n| n.text.as_str()).collect::<Vec<_>>(), ["new", "other"]);
        assert!(mail.alerts.is_empty() && !may_have_mail(&state, &session));
        assert!(store.take_mail(&session, at).unwrap().is_empty());
        store.put_back(&session, &mail).unwrap();
        assert!(may_have_mail(&state, &session));
        assert_eq!(store.take_mail(&session, at).unwrap(), mail);
    }
}
