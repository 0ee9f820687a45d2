//! Giving the Lead what waits in its mailbox, once.

use std::io;

use lockstep_model::decision::Decision;
use lockstep_model::event::EventKind;
use lockstep_model::ids::SessionId;
use lockstep_store::Store;
use lockstep_store::mailbox::may_wait;

use super::fault::Fault;
use super::{Hook, Parcel};
use crate::task::readers;

impl Hook {
    /// The newest alert, with the number of those that waited with it; then the notices.
    pub(super) fn deliver(&mut self, session: &SessionId) -> Result<Decision, Fault> {
        // Tool events come by the thousand and ask only the flag. The others look for themselves, so that a flag
        // lost with its process delays an alert but never loses it.
        let by_flag = matches!(self.event.kind, EventKind::PostToolUse { .. });
        if by_flag && !may_wait(&self.project.state, session) {
            return Ok(Decision::Silent);
        }
        let Some(mut store) = Store::open_existing(&self.project.state)? else { return Ok(Decision::Silent) };
        let mail = store.take_mail(session, self.now.timestamp())?;
        if mail.is_empty() {
            return Ok(Decision::Silent);
        }
        let alert = mail.alerts.split_last().map(|(newest, earlier)| newest.alert.render(earlier.len()));
        let notices = mail.notices.iter().filter_map(|notice| readers::as_of_now(&store, session, notice));
        let texts: Vec<_> = alert.into_iter().chain(notices).collect();
        self.parcel = Some(Parcel { state: self.project.state.clone(), session: session.clone(), mail });
        Ok(if texts.is_empty() { Decision::Silent } else { Decision::Context(texts.join("\n\n")) })
    }
}

impl Parcel {
    /// The client did not take the reply: the mail waits again.
    pub(super) fn put_back(&self, error: &io::Error) {
        let put = Store::open(&self.state).and_then(|mut store| store.put_back(&self.session, &self.mail));
        Fault::Undelivered(error.to_string()).log(&self.state, "-");
        if let Err(error) = put {
            Fault::from(error).log(&self.state, "-");
        }
    }
}
