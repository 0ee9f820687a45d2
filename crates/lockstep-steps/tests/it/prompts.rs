//! Prompts: sections, their content, and texts that count as neither.

use std::sync::LazyLock;

use lockstep_steps::command_table::CommandTable;
use lockstep_steps::markers::parse;
use lockstep_steps::problem::{ProblemKind, StepProblem};
use lockstep_steps::prompt_check::{PromptCheck, PromptRules, check, turn_budget};
use lockstep_steps::section_definitions::SectionDefinitions;
use proptest::prelude::*;

const PHASES: &str = "PREPARE RED_ACCEPTANCE RED_UNIT GREEN_UNIT CHECK_ACCEPTANCE GREEN_ACCEPTANCE REVIEW REFACTOR_L1 \
                      REFACTOR_L2 REFACTOR_L3 REFACTOR_L4 POST_REFACTOR_REVIEW FINAL_VALIDATE COMMIT";

pub(crate) fn whole() -> String {
    format!(
        "<!-- DES-VALIDATION: required -->\n<!-- DES-ORIGIN: command:/nw:execute -->\n<!-- DES-STEP-FILE: steps/01-01.json -->\n\n\
         ## AGENT_IDENTITY\nA crafter.\n\n## TASK_CONTEXT\nAdd login.\n\n## TDD_14_PHASES\n{PHASES}\n\n\
         ## QUALITY_GATES\nG1 G2 G3 G4 G5 G6\n\n## OUTCOME_RECORDING\nWith lockstep.\n\n\
         ## BOUNDARY_RULES\nALLOWED: src\nFORBIDDEN: docs\n\n## TIMEOUT_INSTRUCTION\nStop after 50 turns.\n"
    )
}

fn checked(prompt: &str) -> PromptCheck {
    checked_with(prompt, "tdd-14")
}

fn checked_with(prompt: &str, set: &str) -> PromptCheck {
    static TABLES: LazyLock<(CommandTable, SectionDefinitions)> =
        LazyLock::new(|| (CommandTable::built_in(), SectionDefinitions::built_in()));
    let machine = crate::machine();
    let rules = PromptRules {
        commands: &TABLES.0,
        definitions: &TABLES.1,
        phases: &machine.phase_set(set).unwrap().phases,
    };
    check(prompt, &parse(prompt), rules)
}

fn elements(problems: &[StepProblem]) -> Vec<(ProblemKind, &str)> {
    problems.iter().map(|problem| (problem.error_type, problem.element.as_str())).collect()
}

#[test]
fn a_whole_prompt_passes_in_every_spelling_of_its_sections() {
    let whole = whole();
    for prompt in [
        whole.clone(),
        whole.replace("## ", "# "),
        whole.replace("## ", "### "),
        whole.replace("## AGENT_IDENTITY", "<!-- SECTION: AGENT_IDENTITY -->"),
        whole.replace("## AGENT_IDENTITY", "<!--SECTION:AGENT_IDENTITY-->"),
        whole.replace("## TDD_14_PHASES", "## TDD"),
        whole.replace("DES-ORIGIN:", "DES-ORIGIN :").replace("DES-VALIDATION:", "DES-VALIDATION :"),
        whole.replace('\n', "\r\n"),
    ] {
        assert_eq!(checked(&prompt).errors, [], "{prompt}");
    }
}

#[test]
fn all_missing_parts_are_reported_at_once() {
    let prompt = "<!-- DES-VALIDATION: required -->\n<!-- DES-COMMAND: /nw:execute -->\nDo it.\n";
    use ProblemKind::Missing;
    let checked = checked(prompt);
    assert_eq!(
        elements(&checked.errors),
        [
            (Missing, "DES-STEP-FILE"),
            (Missing, "AGENT_IDENTITY"),
            (Missing, "TASK_CONTEXT"),
            (Missing, "TDD_14_PHASES"),
            (Missing, "QUALITY_GATES"),
            (Missing, "OUTCOME_RECORDING"),
            (Missing, "BOUNDARY_RULES"),
            (Missing, "TIMEOUT_INSTRUCTION"),
        ]
    );
    assert!(!checked.valid);
    assert_eq!(checked.errors[1].message, "Mandatory section 'AGENT_IDENTITY' not found");
    assert_eq!(checked.errors[1].suggestion, "Add ## AGENT_IDENTITY section to prompt template");
}

#[test]
fn a_longer_name_does_not_stand_in_for_a_phase() {
    let prompt = whole().replace(" REVIEW ", " ");
    assert_eq!(elements(&checked(&prompt).errors), [(ProblemKind::Incomplete, "REVIEW")]);
}

#[test]
fn a_phase_named_elsewhere_does_not_count() {
    let prompt = whole().replace(" REVIEW ", " ").replace("Add login.", "Add login. Then REVIEW.");
    assert_eq!(elements(&checked(&prompt).errors), [(ProblemKind::Incomplete, "REVIEW")]);
}

#[test]
fn sections_inside_a_code_fence_are_no_sections() {
    for fence in ["```", "~~~", "````markdown"] {
        let close = fence.trim_end_matches("markdown");
        let prompt = whole().replace("## QUALITY_GATES\nG1", &format!("{fence}\n## QUALITY_GATES\nG1"));
        let prompt = prompt.replace("\n## OUTCOME_RECORDING", &format!("\n{close}\n## OUTCOME_RECORDING"));
        assert_eq!(elements(&checked(&prompt).errors), [(ProblemKind::Missing, "QUALITY_GATES")], "{prompt}");
    }
}

#[test]
fn a_section_begins_at_the_start_of_a_line_and_ends_at_the_next_heading() {
    let indented = whole().replace("## TASK_CONTEXT", "see ## TASK_CONTEXT");
    assert_eq!(elements(&checked(&indented).errors), [(ProblemKind::Missing, "TASK_CONTEXT")]);
    let longer = whole().replace("## TASK_CONTEXT", "## TASK_CONTEXT_OLD");
    assert_eq!(elements(&checked(&longer).errors), [(ProblemKind::Missing, "TASK_CONTEXT")]);
    let ended = whole().replace("G5 G6", "G5\n## NOTES\nG6");
    assert_eq!(elements(&checked(&ended).errors), [(ProblemKind::Incomplete, "G6")]);
    let below = whole().replace("G5 G6", "G5\n### Last\nG6");
    assert_eq!(checked(&below).errors, []);
    let empty = whole().replace("A crafter.", "");
    assert_eq!(elements(&checked(&empty).errors), [(ProblemKind::Incomplete, "AGENT_IDENTITY")]);
}

#[test]
fn a_command_decides_how_much_is_checked() {
    let with = |command: &str, rest: &str| {
        checked(&format!("<!-- DES-VALIDATION: required -->\n<!-- DES-COMMAND: {command} -->\n{rest}")).errors
    };
    assert_eq!(elements(&with("/nw:split", "")), [(ProblemKind::Missing, "TASK_CONTEXT")]);
    assert_eq!(with("/nw:split", "## TASK_CONTEXT\nSplit it.\n"), []);
    assert_eq!(with("/nw:review", ""), []);
    assert_eq!(with("/unheard-of", "").len(), 8, "what nobody has decided is checked in full");
}

#[test]
fn another_phase_set_asks_for_its_own_phases() {
    let three = whole().replace(PHASES, "RED GREEN COMMIT");
    assert_eq!(checked_with(&three, "tdd-3").errors, []);
    assert_eq!(checked_with(&three.replace("TDD_14_PHASES", "TDD_3_PHASES"), "tdd-3").errors, []);
    assert_eq!(
        elements(&checked_with(&three.replace("GREEN ", ""), "tdd-3").errors),
        [(ProblemKind::Incomplete, "GREEN")]
    );
}

#[test]
fn the_turns_are_read_from_their_own_section() {
    let definitions = SectionDefinitions::built_in();
    assert_eq!(turn_budget(&whole(), &definitions), Some(50));
    assert_eq!(turn_budget("## TASK_CONTEXT\n9 turns\n", &definitions), None);
    assert_eq!(turn_budget("## TIMEOUT_INSTRUCTION\nEarly.\n", &definitions), None);
}

proptest! {
    #[test]
    fn no_text_panics(text in "(?s).{0,300}") {
        let _ = checked(&format!("<!-- DES-VALIDATION: required -->\n{text}"));
    }

    /// If any line of a valid prompt is removed, the check reports exactly its content.
    #[test]
    fn no_line_that_matters_can_go_unnoticed(at in 4_usize..24) {
        let whole = whole();
        let lines: Vec<&str> = whole.lines().collect();
        let kept: Vec<&str> = lines.iter().enumerate().filter(|(n, _)| *n != at).map(|(_, line)| *line).collect();
        prop_assert_eq!(checked(&kept.join("\n")).valid, lines.get(at).is_none_or(|line| line.is_empty()));
    }
}
