//! What `[gates]` makes of an action's verdict.

use lockstep_config::gates::GateMode;
use lockstep_model::decision::Decision;
use lockstep_model::event::{EventKind, Tool};
use lockstep_model::ids::SessionId;
use lockstep_steps::markers::Dialect;
use lockstep_store::Store;

use super::Hook;
use super::fault::Fault;
use super::route::Action;

impl Hook {
    /// The mode of an action's gate. Actions that are no gates have the mode `block`: they have nothing to block.
    pub(super) fn mode(&self, action: Action) -> GateMode {
        let gates = &self.project.config().gates;
        match action {
            Action::GateInvocation => self.mode_of_prompt(),
            Action::GateBoundary | Action::GateStop => gates.stop,
            Action::GateCommit => gates.commit,
            Action::GateTask | Action::MirrorTask => gates.task,
            // Who runs a command is noted in any case.
            Action::GateTaskCommand if gates.task == GateMode::Warn => GateMode::Warn,
            _ => GateMode::Block,
        }
    }

    /// The mode of gate 1, which depends on the rules that the prompt asks to be checked by.
    fn mode_of_prompt(&self) -> GateMode {
        let EventKind::PreToolUse(call) = &self.event.kind else { return GateMode::Off };
        let Tool::Agent { prompt, .. } = &call.tool else { return GateMode::Off };
        let gates = &self.project.config().gates;
        match self.steps().markers(prompt).dialect() {
            Dialect::AdHoc => GateMode::Off,
            Dialect::Steps => gates.prompt,
            Dialect::Nwave => gates.nwave,
        }
    }

    /// What is left of a decision of a gate whose mode is `warn`: the Lead is told at its next event, and nothing is refused.
    pub(super) fn warn(&mut self, action: Action, session: &SessionId, decision: Decision) -> Decision {
        let Decision::Block(text) = decision else { return decision };
        let text = format!("Warning, nothing was refused ([gates] is set to \"warn\"): {text}");
        let put =
            self.store.take().map_or_else(|| Store::open(&self.project.state), Ok).and_then(|mut store| {
                store.put_notice(session, &format!("{action:?}"), &text, self.now.timestamp())
            });
        if let Err(error) = put {
            self.faults.push(Fault::from(error));
        }
        Decision::Silent
    }
}
