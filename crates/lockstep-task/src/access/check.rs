//! The decision, and its explanation: principal, action, rule, and the principals that could.

use std::fmt;

use serde::Serialize;

use super::{AccessTable, AgentRule, CreatePermission, Grant, Principal};
use crate::key_path::KeyPath;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskAction {
    /// Create the task. `open` is the present version of one that is not delivered.
    CreateTask {
        /// The version of the task that is there already.
        open: Option<u64>,
    },
    UpdateTask,
    /// Create an ordinary task of the client's list.
    CreateOther,
    /// Update an ordinary task of the client's list.
    UpdateOther,
    Read,
}

#[derive(Debug, Clone, Copy)]
pub struct AccessRequest<'a> {
    pub principal: &'a Principal,
    /// The skill that the principal runs, if known.
    pub skill: Option<&'a str>,
    pub action: TaskAction,
    /// The places it would change: those of a [`crate::version::diff::DocumentDiff`], and `subject`.
    pub places: &'a [KeyPath],
    /// The `validation_verdict` of the new document.
    pub verdict: Option<&'a str>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccessDecision {
    Granted,
    Refused(AccessDenial),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AccessDenial {
    pub who: String,
    pub what: String,
    pub rule: String,
    /// The principals and skills that have the permission.
    pub who_could: Vec<String>,
}

impl fmt::Display for AccessDenial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} may not {}: {}.", self.who, self.what, self.rule)?;
        match self.who_could.as_slice() {
            [] => write!(f, " Nobody could."),
            names => write!(f, " Who could: {}.", names.join(", ")),
        }
    }
}

impl AccessTable {
    /// Decides one request. The agent's rule must allow it and, if a skill is named, the skill's rule too.
    pub fn check(&self, request: &AccessRequest<'_>) -> AccessDecision {
        let mut refusals = Vec::new();
        refusals.extend(self.agent_denial(request));
        refusals.extend(self.skill_denial(request));
        let Some((what, _)) = refusals.first().cloned() else { return AccessDecision::Granted };
        let rules: Vec<_> = refusals.into_iter().map(|(_, rule)| rule).collect();
        AccessDecision::Refused(AccessDenial {
            who: request.principal.to_string(),
            what,
            rule: rules.join("; "),
            who_could: self.who_could(request),
        })
    }

    /// Returns the refused operation and the agent's rule that refuses it.
    fn agent_denial(&self, request: &AccessRequest<'_>) -> Option<(String, String)> {
        let rule = self.rule(request.principal);
        match request.action {
            TaskAction::Read => None,
            TaskAction::CreateTask { open } => may_create_task(&rule, open),
            TaskAction::CreateOther if rule.create == CreatePermission::Any => None,
            TaskAction::CreateOther => Some(("create a task".to_owned(), create_rule(&rule))),
            TaskAction::UpdateOther if *request.principal == Principal::Lead => None,
            TaskAction::UpdateOther => Some((
                "update this task".to_owned(),
                "only the Lead updates tasks that are not the task".to_owned(),
            )),
            TaskAction::UpdateTask => {
                if rule.update.is_empty() {
                    return Some((
                        "update the task".to_owned(),
                        "an agent that is not named in the access table only reads".to_owned(),
                    ));
                }
                ungranted_places(&rule.update, request).map(|what| {
                    (what, format!("{} may update only {}", request.principal, join_grants(&rule.update)))
                })
            }
        }
    }

    /// Returns the refused operation and the skill's rule that refuses it.
    fn skill_denial(&self, request: &AccessRequest<'_>) -> Option<(String, String)> {
        let writes = matches!(request.action, TaskAction::CreateTask { .. } | TaskAction::UpdateTask);
        let name = request.skill.filter(|_| writes)?;
        let Some(skill) = self.skills.get(name) else {
            let known: Vec<_> = self.skills.keys().map(String::as_str).collect();
            let rule = format!("no skill {name:?} is in the access table, which has {}", known.join(", "));
            return Some((format!("write the task for {name:?}"), rule));
        };
        let grants = skill.grants();
        ungranted_places(&grants, request)
            .map(|what| (what, format!("{name} may write only {}", join_grants(&grants))))
    }

    /// Agents that could where the agent's rule refused, skills that could where the skill's did.
    fn who_could(&self, request: &AccessRequest<'_>) -> Vec<String> {
        let mut names = Vec::new();
        if self.agent_denial(request).is_some() {
            let agents = self.agents.keys().map(|name| Principal::Agent(name.clone()));
            let could =
                |principal: &Principal| self.agent_denial(&AccessRequest { principal, ..*request }).is_none();
            names.extend(std::iter::once(Principal::Lead).chain(agents).filter(could).map(|p| p.to_string()));
        }
        if self.skill_denial(request).is_some() {
            let could = |name: &&String| {
                self.skill_denial(&AccessRequest { skill: Some(name), ..*request }).is_none()
            };
            names.extend(self.skills.keys().filter(could).map(|name| format!("the skill {name}")));
        }
        names
    }
}

fn may_create_task(rule: &AgentRule, open: Option<u64>) -> Option<(String, String)> {
    match (rule.create, open) {
        (CreatePermission::None, _) => Some(("create the task".to_owned(), create_rule(rule))),
        (_, Some(version)) => Some((
            "create another task".to_owned(),
            format!("there is one task, and it is at PT-v{version}: it is updated, or delivered first"),
        )),
        (CreatePermission::Task | CreatePermission::Any, None) => None,
    }
}

fn create_rule(rule: &AgentRule) -> String {
    match rule.create {
        CreatePermission::Task => "it may create the task only, and no other".to_owned(),
        CreatePermission::None | CreatePermission::Any => {
            "only the Lead, and the agents named for it, create tasks".to_owned()
        }
    }
}

/// The places no grant covers, as something that may not be done.
fn ungranted_places(grants: &[Grant], request: &AccessRequest<'_>) -> Option<String> {
    let covered = |place: &KeyPath| grants.iter().any(|grant| grant.covers(place, request.verdict));
    let places: Vec<_> = request.places.iter().filter(|p| !covered(p)).map(KeyPath::to_string).collect();
    (!places.is_empty()).then(|| format!("change {}", places.join(", ")))
}

fn join_grants(grants: &[Grant]) -> String {
    if grants.is_empty() {
        return "nothing".to_owned();
    }
    grants.iter().map(Grant::to_string).collect::<Vec<_>>().join(", ")
}
