//! The rules as data: agents and skills, with the documented defaults.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::grant::Grant;
use super::{Principal, UNKNOWN};
use crate::key_path::KeyPath;
use crate::phase::TaskPhase;

/// Which tasks an agent may create.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CreatePermission {
    #[default]
    None,
    /// The task, if there is none yet.
    Task,
    Any,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AgentRule {
    /// Which tasks it may create.
    pub create: CreatePermission,
    pub update: Vec<Grant>,
    /// Set if the agent runs in its own context and therefore may not write scratch.
    pub fork: bool,
    /// Set if the agent may still update a delivered task, if no skill is named.
    pub after_delivery: bool,
}

/// Permissions of a skill, and the sections it requires.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SkillRule {
    /// The phases it runs. It may write their entries in `phase_status`.
    pub phases: Vec<TaskPhase>,
    /// Additional places it may write.
    pub writes: Vec<Grant>,
    /// The sections that must be there when it starts.
    pub must_read: Vec<String>,
    /// The sections it is shown where they are there.
    pub may_read: Vec<String>,
    /// True if it may still write to a delivered task.
    pub after_delivery: bool,
}

impl SkillRule {
    /// Everything it may write: its grants, and its phases' entries in `phase_status`.
    pub fn grants(&self) -> Vec<Grant> {
        let own = self
            .phases
            .iter()
            .map(|phase| Grant { place: KeyPath::section("phase_status").child(phase.name()), when: None });
        self.writes.iter().cloned().chain(own).collect()
    }
}

/// Permissions of agents and skills. The Lead has no row: it may do everything.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AccessTable {
    /// Agents by type. One that is not named here only reads.
    pub agents: BTreeMap<String, AgentRule>,
    pub skills: BTreeMap<String, SkillRule>,
}

impl AccessTable {
    /// Returns the defaults, with every agent and skill of `project` replacing the one of the same name.
    #[must_use]
    pub fn with_overrides(mut self, project: Self) -> Self {
        self.agents.extend(project.agents);
        self.skills.extend(project.skills);
        self
    }

    /// A table without any rule.
    pub fn empty() -> Self {
        Self { agents: BTreeMap::new(), skills: BTreeMap::new() }
    }

    pub fn rule(&self, principal: &Principal) -> AgentRule {
        let everything = || AgentRule {
            create: CreatePermission::Any,
            update: vec![Grant::everything()],
            ..AgentRule::default()
        };
        match principal {
            Principal::Lead => everything(),
            Principal::Agent(name) => self.agents.get(name).cloned().unwrap_or_default(),
            // The caller may be a script of the Lead. It is recorded as unknown, and a row of that name
            // restricts it.
            Principal::Unknown => self.agents.get(UNKNOWN).cloned().unwrap_or_else(everything),
        }
    }

    /// Returns true if a delivered task is still open to a writer: a review is recorded after the delivery.
    pub fn writes_after_delivery(&self, principal: &Principal, skill: Option<&str>) -> bool {
        match skill {
            Some(name) => self.skills.get(name).is_some_and(|rule| rule.after_delivery),
            None => self.rule(principal).after_delivery,
        }
    }

    /// The skill that runs a phase, by name and rule.
    pub fn skill_of(&self, phase: TaskPhase) -> Option<(&str, &SkillRule)> {
        let runs = |rule: &SkillRule| rule.phases.contains(&phase);
        self.skills.iter().find(|(_, rule)| runs(rule)).map(|(name, rule)| (name.as_str(), rule))
    }
}

impl Default for AccessTable {
    fn default() -> Self {
        Self { agents: default_agents(), skills: default_skills() }
    }
}

fn grants(texts: &[&str]) -> Vec<Grant> {
    texts.iter().map(|text| text.parse().expect("the default grants are places")).collect()
}

fn default_agents() -> BTreeMap<String, AgentRule> {
    let fork = |create, update: &[&str]| AgentRule {
        create,
        update: grants(update),
        fork: true,
        after_delivery: false,
    };
    let reviewer = AgentRule { after_delivery: true, ..fork(CreatePermission::None, &["phase_status"]) };
    BTreeMap::from([
        ("pt-manager".to_owned(), fork(CreatePermission::Task, &["*"])),
        ("delivery-agent".to_owned(), fork(CreatePermission::None, &["phase_status", "metrics", "subject"])),
        ("rsil-agent".to_owned(), reviewer),
    ])
}

/// Name, phases, writes, must read, may read.
type SkillRow = (
    &'static str,
    &'static [TaskPhase],
    &'static [&'static str],
    &'static [&'static str],
    &'static [&'static str],
);

const SKILLS: [SkillRow; 9] = [
    (
        "brainstorming-pipeline",
        &[TaskPhase::P1, TaskPhase::P2, TaskPhase::P3],
        &["user_intent", "codebase_impact_map", "architecture_decisions", "phase_status", "constraints"],
        &["user_intent"],
        &["constraints", "codebase_impact_map"],
    ),
    (
        "agent-teams-write-plan",
        &[TaskPhase::P4],
        &["implementation_plan"],
        &["user_intent", "codebase_impact_map", "architecture_decisions", "constraints"],
        &[],
    ),
    (
        "plan-validation-pipeline",
        &[TaskPhase::P5],
        &["validation_verdict", "constraints when CONDITIONAL_PASS"],
        &["user_intent", "architecture_decisions", "constraints", "implementation_plan"],
        &[],
    ),
    (
        "agent-teams-execution-plan",
        &[TaskPhase::P6],
        &["implementation_results", "codebase_impact_map.interfaces"],
        &[
            "user_intent",
            "codebase_impact_map",
            "architecture_decisions",
            "implementation_plan",
            "constraints",
        ],
        &["validation_verdict"],
    ),
    (
        "verification-pipeline",
        &[TaskPhase::P7, TaskPhase::P8],
        &["verification_summary"],
        &["user_intent", "codebase_impact_map", "implementation_results", "constraints"],
        &[],
    ),
    (
        "delivery-pipeline",
        &[TaskPhase::P9],
        &["phase_status", "metrics", "subject"],
        &[
            "user_intent",
            "codebase_impact_map",
            "architecture_decisions",
            "phase_status",
            "constraints",
            "implementation_plan",
            "implementation_results",
            "validation_verdict",
            "verification_summary",
        ],
        &["budget_constraints"],
    ),
    ("rsil-review", &[], &["phase_status"], &["phase_status"], &[]),
    ("rsil-global", &[], &["phase_status"], &["phase_status"], &["constraints"]),
    ("permanent-tasks", &[], &["*"], &[], &["*"]),
];

fn default_skills() -> BTreeMap<String, SkillRule> {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let rule = |(name, phases, writes, must_read, may_read): SkillRow| {
        let rule = SkillRule {
            phases: phases.to_vec(),
            writes: grants(writes),
            must_read: owned(must_read),
            may_read: owned(may_read),
            after_delivery: name == "rsil-review",
        };
        (name.to_owned(), rule)
    };
    SKILLS.into_iter().map(rule).collect()
}
