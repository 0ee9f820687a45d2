//! Giving a session that starts, or a subagent, its part of the session cache.

use std::time::Instant;

use lockstep_index::reported_writes;
use lockstep_model::decision::Decision;
use lockstep_model::event::{Actor, EventKind};
use lockstep_model::ids::SessionId;

use super::HookRun;
use super::error::{HookError, HookResult};
use crate::cache::SessionCacheError;
use crate::cache::delivery::{DeliveredPart, REBUILD_TIMEOUT, Recipient, deliver};
use crate::cache::receipt::{self, Receipt};

impl HookRun {
    /// Delivers the cache. Without a cache, there is no output. Other failures are logged, and the text is
    /// still sent.
    pub(super) fn deliver_cache(&mut self, session: &SessionId) -> HookResult<Decision> {
        let to = match (&self.event.kind, &self.event.actor) {
            (EventKind::SessionStart { source }, _) => Recipient::Session { source, part: self.part },
            (_, Actor::Subagent { agent_type: Some(agent_type), .. }) => Recipient::Subagent { agent_type },
            // The recipient's part is unknown.
            _ => return Ok(Decision::Silent),
        };
        let store = self.store.take();
        let delivered =
            deliver(&self.project, store, to, self.now.timestamp(), Instant::now() + REBUILD_TIMEOUT)?;
        let Some(delivered) = delivered else { return Ok(Decision::Silent) };
        let receipt = self.receipt(session, to, &delivered);
        let result =
            receipt::append_receipt(&self.project.state, &receipt).map_err(SessionCacheError::Receipt);
        self.faults.extend(result.err().map(HookError::from));
        self.faults.extend(delivered.stale.map(|why| SessionCacheError::NotRebuilt(why).into()));
        if delivered.rebuilt {
            self.account_for_cache();
        }
        Ok(Decision::Context(delivered.text))
    }

    fn receipt(&self, session: &SessionId, to: Recipient<'_>, delivered: &DeliveredPart) -> Receipt {
        let (to, part) = match to {
            Recipient::Session { source, part } => (source, (part.number, part.of)),
            Recipient::Subagent { agent_type } => (agent_type, (1, 1)),
        };
        Receipt {
            at: self.now.timestamp().to_string(),
            session: session.to_string(),
            event: self.event.kind.name().to_owned(),
            to: to.to_owned(),
            part,
            hash: delivered.hash.clone(),
            chars: delivered.chars,
            stale: delivered.stale.clone(),
            micros: self.start.elapsed().as_micros().try_into().unwrap_or(u64::MAX),
        }
    }

    /// Records our own change of the cache file, so that a sweep does not attribute it to an agent.
    fn account_for_cache(&mut self) {
        let Ok(cache) = crate::cache::open(&self.project) else { return };
        let noted = reported_writes::record(&self.project.root, &self.project.state, &cache.path());
        self.faults.extend(noted.err().map(HookError::from));
    }
}
