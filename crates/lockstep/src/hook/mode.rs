//! Applies the modes of `[gates]` to an action's verdict.

use lockstep_config::gates::{GateMode, Unreadable};
use lockstep_model::decision::Decision;
use lockstep_model::ids::SessionId;
use lockstep_store::Store;

use super::HookRun;
use super::error::HookError;
use super::routing::HookAction;

impl HookRun {
    /// The mode of an action's gate. While a step is open that began under other rules, the gates of its end and of commits block.
    pub(super) fn mode(&self, action: HookAction) -> GateMode {
        let mode = self.configured_mode(action);
        let may_be_weaker = mode != GateMode::Block && action.is_step_gate() && self.steps().has_steps();
        if may_be_weaker && self.steps().has_changed_rules() { GateMode::Block } else { mode }
    }

    /// The mode of an action's gate by the configuration. Actions that are no gates have the mode `block`: they have nothing to
    /// block.
    fn configured_mode(&self, action: HookAction) -> GateMode {
        let gates = &self.project.config().gates;
        match action {
            HookAction::GateInvocation => self.mode_of_invocation(),
            HookAction::GateBoundary | HookAction::GateStop => gates.stop,
            HookAction::GateCommit => gates.commit,
            HookAction::GateTask | HookAction::MirrorTask => gates.task,
            // The caller of a command is recorded in any case.
            HookAction::GateTaskCommand if gates.task == GateMode::Warn => GateMode::Warn,
            _ => GateMode::Block,
        }
    }

    /// The answer to a command or script that cannot be read, by `[gates] unreadable`.
    pub(super) fn unreadable(&self, reason: String) -> Decision {
        match self.project.config().gates.unreadable {
            Unreadable::Ask => Decision::Ask(reason),
            Unreadable::Deny => Decision::Block(reason),
            Unreadable::Allow => Decision::Silent,
        }
    }

    /// Turns a decision into a warning, for mode `warn`: the Lead receives it at its next event, and nothing is refused.
    pub(super) fn warn(&mut self, action: HookAction, session: &SessionId, decision: Decision) -> Decision {
        let (Decision::Block(text) | Decision::Ask(text)) = decision else { return decision };
        let text = format!("Warning, nothing was refused ([gates] is set to \"warn\"): {text}");
        let put =
            self.store.take().map_or_else(|| Store::open(&self.project.state), Ok).and_then(|mut store| {
                store.put_notice(session, &format!("{action:?}"), &text, self.now.timestamp())
            });
        if let Err(error) = put {
            self.faults.push(HookError::from(error));
        }
        Decision::Silent
    }
}
