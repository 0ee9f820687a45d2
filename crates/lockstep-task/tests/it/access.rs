//! Access rights: the documented table, cell by cell.

use lockstep_task::access::{AccessDecision, AccessRequest, AccessTable, AgentRule, Principal, TaskAction};
use lockstep_task::document::SECTIONS;
use lockstep_task::key_path::KeyPath;
use lockstep_task::phase::TaskPhase;

fn agent(name: &str) -> Principal {
    Principal::from_agent_name(Some(name))
}

fn places(texts: &[&str]) -> Vec<KeyPath> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

fn check(principal: &Principal, skill: Option<&str>, action: TaskAction, texts: &[&str]) -> AccessDecision {
    check_with(principal, skill, action, texts, None)
}

fn check_with(
    principal: &Principal,
    skill: Option<&str>,
    action: TaskAction,
    texts: &[&str],
    verdict: Option<&str>,
) -> AccessDecision {
    AccessTable::default().check(&AccessRequest { principal, skill, action, places: &places(texts), verdict })
}

fn message(access: AccessDecision) -> String {
    match access {
        AccessDecision::Granted => "granted".to_owned(),
        AccessDecision::Refused(refusal) => refusal.to_string(),
    }
}

#[test]
fn the_principal_is_known_by_the_agent_id() {
    assert_eq!(Principal::of(None, None), Principal::Lead);
    assert_eq!(Principal::of(None, Some("pt-manager")), Principal::Lead);
    assert_eq!(Principal::of(Some("a1"), Some("pt-manager")), agent("pt-manager"));
    assert_eq!(Principal::of(Some("a1"), None), agent("unknown"));
}

#[test]
fn access_table_matches_each_agent() {
    let create = TaskAction::CreateTask { open: None };
    let second = TaskAction::CreateTask { open: Some(3) };
    let all: Vec<_> =
        SECTIONS.iter().map(|section| section.name).chain(["subject", "anything_else"]).collect();
    // Principal; creates the task, a second one, an ordinary one; updates an ordinary one; what it may update.
    let table: [(Principal, [bool; 4], &[&str]); 5] = [
        (Principal::Lead, [true, false, true, true], &all),
        (agent("pt-manager"), [true, false, false, false], &all),
        (agent("delivery-agent"), [false; 4], &["phase_status", "metrics", "subject"]),
        (agent("rsil-agent"), [false; 4], &["phase_status"]),
        (agent("implementer"), [false; 4], &[]),
    ];
    for (principal, [creates, creates_second, creates_other, updates_other], may) in table {
        let granted =
            |action, texts: &[&str]| check(&principal, None, action, texts) == AccessDecision::Granted;
        assert_eq!(granted(create, &["user_intent"]), creates, "{principal} creates");
        assert_eq!(granted(second, &["user_intent"]), creates_second, "{principal} creates a second");
        assert_eq!(granted(TaskAction::CreateOther, &[]), creates_other, "{principal} creates another");
        assert_eq!(granted(TaskAction::UpdateOther, &[]), updates_other, "{principal} updates another");
        assert_eq!(granted(TaskAction::UpdateTask, &[]), !may.is_empty(), "{principal} touches");
        assert!(granted(TaskAction::Read, &[]), "{principal} reads");
        for section in &all {
            assert_eq!(
                granted(TaskAction::UpdateTask, &[section]),
                may.contains(section),
                "{principal} {section}"
            );
        }
    }
}

#[test]
fn access_table_matches_each_skill() {
    // Skill, what it may write besides its phases, its phases.
    let table: [(&str, &[&str], &[TaskPhase]); 9] = [
        (
            "brainstorming-pipeline",
            &["user_intent", "codebase_impact_map", "architecture_decisions", "phase_status", "constraints"],
            &[TaskPhase::P1, TaskPhase::P2, TaskPhase::P3],
        ),
        ("agent-teams-write-plan", &["implementation_plan"], &[TaskPhase::P4]),
        ("plan-validation-pipeline", &["validation_verdict"], &[TaskPhase::P5]),
        (
            "agent-teams-execution-plan",
            &["implementation_results", "codebase_impact_map.interfaces"],
            &[TaskPhase::P6],
        ),
        ("verification-pipeline", &["verification_summary"], &[TaskPhase::P7, TaskPhase::P8]),
        ("delivery-pipeline", &["phase_status", "metrics", "subject"], &[TaskPhase::P9]),
        ("rsil-review", &["phase_status"], &[]),
        ("rsil-global", &["phase_status"], &[]),
        ("permanent-tasks", &["*"], &[]),
    ];
    let defaults = AccessTable::default();
    assert_eq!(defaults.skills.len(), table.len());
    for (skill, writes, phases) in table {
        let rule = &defaults.skills[skill];
        assert_eq!(rule.phases, phases, "{skill}");
        let everything = writes.contains(&"*");
        for section in SECTIONS
            .iter()
            .map(|s| s.name)
            .chain(["codebase_impact_map.interfaces", "codebase_impact_map.modules"])
        {
            let inside =
                |outer: &&str| section.parse::<KeyPath>().unwrap().starts_with(&outer.parse().unwrap());
            let expected = everything || writes.iter().any(inside);
            let granted = check(&Principal::Lead, Some(skill), TaskAction::UpdateTask, &[section])
                == AccessDecision::Granted;
            assert_eq!(granted, expected, "{skill} {section}");
        }
        for phase in TaskPhase::ALL {
            let entry = format!("phase_status.{phase}.status");
            let expected = everything || writes.contains(&"phase_status") || phases.contains(&phase);
            let granted = check(&Principal::Lead, Some(skill), TaskAction::UpdateTask, &[&entry])
                == AccessDecision::Granted;
            assert_eq!(granted, expected, "{skill} {phase}");
        }
    }
    for phase in TaskPhase::ALL {
        assert!(defaults.skill_of(phase).is_some(), "{phase}");
    }
}

#[test]
fn validation_adds_constraints_only_with_conditions() {
    let write = |verdict| {
        check_with(
            &Principal::Lead,
            Some("plan-validation-pipeline"),
            TaskAction::UpdateTask,
            &["constraints.C-9"],
            verdict,
        )
    };
    assert_eq!(write(Some("CONDITIONAL_PASS")), AccessDecision::Granted);
    assert_ne!(write(Some("PASS")), AccessDecision::Granted);
    assert_ne!(write(None), AccessDecision::Granted);
}

#[test]
fn a_refusal_names_writer_place_rule_and_permitted_writers() {
    let create = TaskAction::CreateTask { open: None };
    let mut output = vec![
        check(
            &agent("implementer"),
            None,
            TaskAction::UpdateTask,
            &["phase_status.P6.status", "constraints"],
        ),
        check(&agent("implementer"), None, create, &["user_intent"]),
        check(
            &agent("delivery-agent"),
            None,
            TaskAction::UpdateTask,
            &["phase_status.P9", "constraints.C-1", "user_intent"],
        ),
        check(&agent("rsil-agent"), None, TaskAction::UpdateTask, &["subject"]),
        check(&agent("pt-manager"), None, TaskAction::CreateTask { open: Some(3) }, &["user_intent"]),
        check(&agent("pt-manager"), None, TaskAction::CreateOther, &[]),
        check(&agent("implementer"), None, TaskAction::UpdateOther, &[]),
        check(
            &Principal::Lead,
            Some("agent-teams-write-plan"),
            TaskAction::UpdateTask,
            &["implementation_plan", "constraints.C-4"],
        ),
        check(&agent("rsil-agent"), Some("rsil-review"), TaskAction::UpdateTask, &["metrics"]),
        check(&Principal::Lead, Some("write-plan"), TaskAction::UpdateTask, &["implementation_plan"]),
    ];
    output.push(check(&Principal::Lead, None, TaskAction::CreateTask { open: Some(3) }, &[]));
    insta::assert_snapshot!(output.into_iter().map(message).collect::<Vec<_>>().join("\n"));
}

#[test]
fn a_project_names_its_agents_in_configuration() {
    let project: AccessTable = serde_json::from_str(
        r#"{"agents": {"scribe": {"update": ["metrics", "constraints when CONDITIONAL_PASS"]}, "rsil-agent": {}},
            "skills": {"rsil-global": {"writes": []}}}"#,
    )
    .unwrap();
    assert_eq!(
        project.agents["scribe"],
        AgentRule { update: project.agents["scribe"].update.clone(), ..AgentRule::default() }
    );
    let only_agents: AccessTable = serde_json::from_str(r#"{"agents": {}}"#).unwrap();
    assert_eq!(AccessTable::default().with_overrides(only_agents), AccessTable::default());
    let table = AccessTable::default().with_overrides(project);
    let granted = |name: &str, text: &str| {
        let (principal, places) = (agent(name), places(&[text]));
        table.check(&AccessRequest {
            principal: &principal,
            skill: None,
            action: TaskAction::UpdateTask,
            places: &places,
            verdict: None,
        }) == AccessDecision::Granted
    };
    assert!(granted("scribe", "metrics.spawns") && !granted("scribe", "constraints"));
    assert!(!granted("rsil-agent", "phase_status"), "a rule of the project replaces the default");
    assert!(granted("delivery-agent", "phase_status"), "the others stay");
    assert!(table.skills["rsil-global"].grants().is_empty());
    for bad in [
        r#"{"agents": {"x": {"updates": []}}}"#,
        r#"{"agents": {"x": {"update": ["a b"]}}}"#,
        r#"{"agents": {"x": {"create": "all"}}}"#,
    ] {
        assert!(serde_json::from_str::<AccessTable>(bad).is_err(), "{bad}");
    }
}
