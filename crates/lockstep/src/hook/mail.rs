//! Delivers the mailbox to the Lead, once.

use std::io;
use std::path::Path;

use lockstep_config::keys::{AlertFormat, AlertStatus};
use lockstep_model::alert::Alert;
use lockstep_model::decision::Decision;
use lockstep_model::event::EventKind;
use lockstep_model::ids::SessionId;
use lockstep_store::Store;
use lockstep_store::mailbox::{Mail, may_have_mail};

use super::error::{HookError, HookResult};
use super::{HookRun, PendingMail};
use crate::cache::installed_plugins;
use crate::env_vars::client_directory;
use crate::plugin;
use crate::setup::has_plugin;
use crate::task::readers;

impl HookRun {
    /// Delivers the alerts that wait, as one; then the notices.
    pub(super) fn deliver_mail(&mut self, session: &SessionId) -> HookResult<Decision> {
        if !matches!(self.event.kind, EventKind::Stop(_))
            && let Err(fault) = self.report_pending_now(session)
        {
            self.faults.push(fault);
        }
        // Tool events are frequent and check only the flag. The others check the mailbox itself, so that a
        // lost flag delays an alert but never loses it.
        let by_flag = matches!(self.event.kind, EventKind::PostToolUse { .. });
        if by_flag && !may_have_mail(&self.project.state, session) {
            return Ok(Decision::Silent);
        }
        let opened = self
            .store
            .take()
            .map_or_else(|| Store::open_existing(&self.project.state), |store| Ok(Some(store)));
        let Some(mut store) = opened? else { return Ok(Decision::Silent) };
        let mail = store.take_mail(session, self.now.timestamp())?;
        if mail.is_empty() {
            return Ok(Decision::Silent);
        }
        let alert = self.alert_text(session, &mail);
        let notices =
            mail.notices.iter().filter_map(|notice| readers::refresh_notice(&store, session, notice));
        let texts: Vec<_> = alert.into_iter().chain(notices).collect();
        self.pending_mail =
            Some(PendingMail { state: self.project.state.clone(), session: session.clone(), mail });
        Ok(if texts.is_empty() { Decision::Silent } else { Decision::Context(texts.join("\n\n")) })
    }

    /// Returns the text of the alerts, in the configured form.
    fn alert_text(&self, session: &SessionId, mail: &Mail) -> Option<String> {
        let alerts: Vec<Alert> = mail.alerts.iter().map(|taken| taken.alert.clone()).collect();
        let (newest, earlier) = alerts.split_last()?;
        let config = &self.project.config().alert;
        let (detailed, always) =
            (config.format == AlertFormat::Detailed, config.status == AlertStatus::Always);
        match Alert::merge(&alerts).filter(|_| detailed) {
            // The analysis that an alert among these announced has found nothing.
            Some(merged) if !earlier.is_empty() && !always && !merged.is_actionable() => None,
            Some(merged) => {
                let FullList { command, is_skill } = FullList::new(&self.project.root, session);
                Some(merged.render_detailed(&command, is_skill))
            }
            None => Some(newest.render(earlier.len())),
        }
    }
}

/// The command that shows the full list.
struct FullList {
    command: String,
    is_skill: bool,
}

impl FullList {
    /// Refers to the skill if the client has one of that name, otherwise to the command line.
    fn new(root: &Path, session: &SessionId) -> Self {
        let places = ["skills/execution-impact/SKILL.md", "commands/execution-impact.md"];
        let has_skill = [Some(root.join(".claude")), client_directory()]
            .into_iter()
            .flatten()
            .any(|client| places.iter().any(|place| client.join(place).is_file()));
        let is_skill = has_skill
            || has_plugin(root)
            || installed_plugins(root).iter().any(|plugin| plugin.name == plugin::NAME);
        let command =
            if is_skill { SKILL.to_owned() } else { format!("`lockstep impact --session {session}`") };
        Self { command, is_skill }
    }
}

/// The command by which the Lead calls the skill.
const SKILL: &str = "/execution-impact";

impl PendingMail {
    /// Puts the mail back, because the client did not accept the reply.
    pub(super) fn put_back(&self, error: &io::Error) {
        let put = Store::open(&self.state).and_then(|mut store| store.put_back(&self.session, &self.mail));
        HookError::Undelivered(error.to_string()).log(&self.state, "-");
        if let Err(error) = put {
            HookError::from(error).log(&self.state, "-");
        }
    }
}
