//! Lockstep's own verbs in a shell command: their caller is recorded, and the rules of the task apply as in
//! the client's list.

use lockstep_config::gates::GateMode;
use lockstep_model::decision::Decision;
use lockstep_model::event::{Actor, EventKind, ToolCall};
use lockstep_model::ids::SessionId;
use lockstep_steps::commit_detection::{OwnCall, own_calls};
use lockstep_task::access::{
    AccessDecision, AccessDenial, AccessRequest, AccessTable, Principal, TaskAction,
};
use lockstep_task::audit::TaskAuditVerdict;
use lockstep_task::scratch;

use super::HookRun;
use super::error::{HookError, HookResult};
use crate::task::access;
use crate::task::callers::{Callers, SeenAgent};
use crate::task::writer::{TaskAuditOutcome, TaskWriter};

impl HookRun {
    /// Before a shell command that calls Lockstep: an agent may write only what it could write in the
    /// client's list.
    pub(super) fn gate_task_command(&mut self, session: &SessionId) -> HookResult<Decision> {
        let EventKind::PreToolUse(call) = &self.event.kind else { return Ok(Decision::Silent) };
        let Some(command) = call.tool.command() else { return Ok(Decision::Silent) };
        let calls: Vec<OwnCall> = own_calls(command).into_iter().filter(concerns_task).collect();
        let agent = self.seen_agent();
        let principal = Principal::of(agent.agent_id.as_deref(), agent.agent_type.as_deref());
        if principal != Principal::Lead && self.project.config().gates.task != GateMode::Off {
            if let Some(fault) = HookError::from_config_problems(&self.project) {
                return Err(fault);
            }
            let table = access(&self.project);
            if let Some((call, refusal)) =
                calls.iter().find_map(|call| Some((call, refuse(call, &principal, &table)?)))
            {
                return self.refuse_command(session, &principal, agent, call, &refusal);
            }
        }
        let tool_call = tool_call_key(call, &agent);
        Callers::of(&self.project.state, session).note(&tool_call, agent, &calls, self.now.timestamp())?;
        Ok(Decision::Silent)
    }

    /// Before a shell command that calls a verb which an agent's session may not call. The command itself refuses
    /// as well, but only if the environment tells it that it runs in such a session.
    pub(super) fn gate_approval(&self) -> Decision {
        let EventKind::PreToolUse(call) = &self.event.kind else { return Decision::Silent };
        let reserved = call.tool.command().and_then(reserved_call);
        match reserved.filter(|_| self.steps().has_steps()) {
            None => Decision::Silent,
            Some(verb) => Decision::Block(format!(
                "lockstep: an agent's session does not call `lockstep {verb}`; ask a person to run it in a terminal"
            )),
        }
    }

    /// After a command that concerns the task.
    pub(super) fn forget_task_command(&mut self, session: &SessionId) -> HookResult<Decision> {
        let call = match &self.event.kind {
            EventKind::PostToolUse { call, .. } | EventKind::PostToolUseFailure(call) => Some(call),
            _ => None,
        };
        if let Some(call) = call.filter(|call| call.tool.command().is_some()) {
            let key = tool_call_key(call, &self.seen_agent());
            Callers::of(&self.project.state, session).remove(&key);
        }
        Ok(Decision::Silent)
    }

    fn seen_agent(&self) -> SeenAgent {
        match &self.event.actor {
            Actor::Lead => SeenAgent { agent_id: None, agent_type: None },
            Actor::Subagent { id, agent_type } => {
                SeenAgent { agent_id: Some(id.to_string()), agent_type: agent_type.clone() }
            }
        }
    }

    fn refuse_command(
        &self,
        session: &SessionId,
        principal: &Principal,
        agent: SeenAgent,
        call: &OwnCall,
        refusal: &AccessDenial,
    ) -> HookResult<Decision> {
        let writer = TaskWriter {
            principal: principal.clone(),
            agent_id: agent.agent_id,
            skill: None,
            session: Some(session.to_string()),
            tool: format!("Bash: lockstep {}", call.verb),
            why: None,
            task_id: None,
        };
        let verdict = TaskAuditOutcome {
            verdict: TaskAuditVerdict::Refused,
            version: None,
            sections: &[],
            reason: Some(refusal.to_string()),
        };
        writer.audit(&self.project, self.now.timestamp(), verdict)?;
        Ok(Decision::Block(format!(
            "lockstep: `lockstep {}` was refused by the rules of the task:\n- {refusal}",
            call.verb
        )))
    }
}

/// The verbs that accept what gates refuse, or remove them. `uninstall --dry-run` and `--help` change nothing.
const RESERVED: [&str; 4] = ["audit accept", "step accept", "trust", "uninstall"];

/// Returns the verb reserved for people that a shell command calls.
pub(super) fn reserved_call(command: &str) -> Option<&'static str> {
    let reads = |call: &OwnCall| {
        call.words.iter().flatten().any(|word| matches!(word.as_str(), "--dry-run" | "--help" | "-h"))
    };
    own_calls(command).iter().filter(|call| !reads(call)).find_map(|call| {
        RESERVED.into_iter().find(|verb| {
            call.verb == *verb || call.verb.strip_prefix(verb).is_some_and(|rest| rest.starts_with(' '))
        })
    })
}

/// Returns true if a shell command calls a verb that reads or writes the task.
pub(super) fn calls_task(command: &str) -> bool {
    own_calls(command).iter().any(concerns_task)
}

/// Returns true if a call concerns the task. A verb that only the shell knows may be any.
fn concerns_task(call: &OwnCall) -> bool {
    call.verb == "step adopt"
        || matches!(call.verb.split(' ').next(), Some("task" | "phase" | "scratch" | "mcp" | "$"))
}

/// Returns the reason why an agent may not make a call. `None` if it may, or if that depends on the sections
/// it writes.
fn refuse(call: &OwnCall, principal: &Principal, table: &AccessTable) -> Option<AccessDenial> {
    let check = |action| match table.check(&AccessRequest {
        principal,
        skill: None,
        action,
        places: &[],
        verdict: None,
    }) {
        AccessDecision::Granted => None,
        AccessDecision::Refused(refusal) => Some(refusal),
    };
    let refusal = match call.verb.as_str() {
        "task new" => check(TaskAction::CreateTask { open: None }),
        "task update" | "task deliver" | "task reopen" | "task restore" | "phase complete" | "mcp" => {
            check(TaskAction::UpdateTask)
        }
        "task migrate" if writes(call) => check(TaskAction::UpdateTask),
        "scratch set" => scratch::may_write(principal, table).err(),
        "step adopt" => Some(AccessDenial {
            who: principal.to_string(),
            what: "adopt a step".to_owned(),
            rule: "the state of a step that was begun elsewhere is vouched for by the Lead".to_owned(),
            who_could: vec![Principal::Lead.to_string()],
        }),
        _ => return None,
    };
    refusal.or_else(|| claim(call, principal))
}

/// An agent writes in its own name.
fn claim(call: &OwnCall, principal: &Principal) -> Option<AccessDenial> {
    let claimed =
        call.writes_as.as_deref().filter(|name| Principal::from_agent_name(Some(name)) != *principal)?;
    // A name that only the shell knows is checked when the command runs, with its real value.
    (!claimed.contains('$') && !claimed.is_empty()).then(|| AccessDenial {
        who: principal.to_string(),
        what: format!("write the task as {claimed:?}"),
        rule: "an agent writes in its own name".to_owned(),
        who_could: vec![Principal::Lead.to_string()],
    })
}

fn writes(call: &OwnCall) -> bool {
    call.words.as_ref().is_none_or(|words| words.iter().any(|word| word == "--write"))
}

/// The name of a tool call: its id, else its agent and its command.
fn tool_call_key(call: &ToolCall, agent: &SeenAgent) -> String {
    match (&call.id, call.tool.command()) {
        (Some(id), _) => id.to_string(),
        (None, Some(command)) => {
            format!("{}\n{command}", agent.agent_id.as_deref().unwrap_or_default())
        }
        (None, _) => String::new(),
    }
}
