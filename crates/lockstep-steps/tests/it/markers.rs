//! Markers: both spellings, ad-hoc prompts, and every slip that must not turn a check off.

use lockstep_steps::markers::{Dialect, MarkerKind, MarkerNames, may_ask, parse, read_with};
use proptest::prelude::*;

#[test]
fn both_spellings_and_every_marker() {
    for colon in [":", " :", " : "] {
        let prompt = format!(
            "<!-- DES-VALIDATION{colon} required -->\n<!--DES-ORIGIN{colon} command:/nw:execute-->\n\
             <!-- DES-STEP-FILE{colon} steps/01-01.json --> <!-- DES-AGENT{colon} crafter -->\n\
             <!-- DES-COMMAND{colon} /nw:execute -->\n"
        );
        let markers = parse(&prompt);
        assert_eq!(markers.problems, [], "{prompt}");
        assert!(markers.validation_required && !markers.is_ad_hoc());
        assert_eq!(markers.origin.as_deref(), Some("command:/nw:execute"));
        assert_eq!(markers.step_file.as_deref(), Some("steps/01-01.json"));
        assert_eq!(markers.agent.as_deref(), Some("crafter"));
        assert_eq!(markers.command(), Some("/nw:execute"));
    }
    assert_eq!(parse("<!-- DES-ORIGIN: command:/nw:split -->").command(), Some("/nw:split"));
}

#[test]
fn ad_hoc_prompts_are_not_checked() {
    for prompt in [
        "",
        "Look at the code.",
        "The design describes a node <!-- note --> and desks: many.",
        "Explain the marker:\n```\n<!-- DES-VALIDATION: required -->\n```\n",
        "DES-VALIDATION: required is what the document says about it.",
        "<!-- DES-STEP-FILE: steps/01-01.json -->",
        "<!-- describe: this -->",
        "<!-- TODO: x --> the command line",
    ] {
        assert!(parse(prompt).is_ad_hoc(), "{prompt}: {:?}", parse(prompt).problems);
    }
}

#[test]
fn a_misspelt_marker_is_named_and_is_no_ad_hoc_prompt() {
    for (prompt, element) in [
        ("<!-- DES-VALIDATION: yes -->", "DES-VALIDATION"),
        ("<!-- DES-VALIDATION: Required -->", "DES-VALIDATION"),
        ("<!-- DES-VALIDATION: -->", "DES-VALIDATION"),
        ("<!-- DES-VALIDATION required -->", "DES-VALIDATION"),
        ("<!-- DES-VALIDATION -->", "DES-VALIDATION"),
        ("<!-- des-validation: required -->", "DES-VALIDATION"),
        ("<!-- DES_VALIDATION: required -->", "DES-VALIDATION"),
        ("<!-- DES VALIDATION: required -->", "DES-VALIDATION"),
        ("<!-- DES-VALIDATOIN: required -->", "DES-VALIDATION"),
        ("<!-- DSE-VALIDATION: required -->", "DES-VALIDATION"),
        ("<!-- DES-VALIDATE: required -->", "DES-VALIDATION"),
        ("<!-- DES-VALIDATION: required", "DES-VALIDATION"),
        ("DES-VALIDATION: required", "DES-VALIDATION"),
        ("<!-- DES-STEPFILE: steps/01-01.json -->", "DES-STEP-FILE"),
        ("<!-- DES-STEP-FILE: a.json -->\n<!-- DES-STEP-FILE: b.json -->", "DES-STEP-FILE"),
        ("<!-- DES-ORIGIN: command:/a --><!-- DES-COMMAND: /b -->", "DES-COMMAND"),
    ] {
        let markers = parse(prompt);
        let named: Vec<_> = markers.problems.iter().map(|problem| problem.element.as_str()).collect();
        assert_eq!(named, [element], "{prompt}");
        assert!(!markers.is_ad_hoc(), "{prompt}");
        assert!(!markers.problems[0].suggestion.is_empty());
    }
}

proptest! {
    #[test]
    fn no_text_panics(prompt in "(?s).{0,200}") {
        let _ = parse(&prompt);
    }

    /// One letter of the marker wrong: never an ad-hoc prompt.
    #[test]
    fn one_wrong_letter_never_turns_the_check_off(at in 0_usize..14, letter in "[A-Z]") {
        let mut name = "DES-VALIDATION".to_owned();
        name.replace_range(at..=at, &letter);
        let prompt = format!("<!-- {name}: required -->");
        prop_assert!(!parse(&prompt).is_ad_hoc(), "{}", prompt);
    }
}

#[test]
fn an_unknown_marker_is_a_warning() {
    for name in ["DES-COMMENT", "DES-EVENT", "DES-AGENT-MODEL", "DES-REVIEW", "DES-VALIDATION-NOTE", "DES-X"]
    {
        for prompt in [
            format!("<!-- {name}: something -->"),
            format!("<!-- DES-VALIDATION: required -->\n<!-- DES-STEP-FILE: a.json -->\n<!-- {name} : x -->"),
        ] {
            let markers = parse(&prompt);
            assert_eq!(markers.problems, [], "{prompt}");
            assert_eq!(markers.warnings.len(), 1, "{prompt}");
            assert!(markers.warnings[0].contains(name));
            assert_eq!(markers.is_ad_hoc(), !markers.validation_required, "{prompt}");
        }
    }
}

#[test]
fn prompts_in_nwaves_dialect_are_recognised_by_their_markers() {
    let asks = "<!-- DES-VALIDATION : required -->\n";
    for (markers, dialect) in [
        ("<!-- DES-PROJECT-ID : auth -->\n<!-- DES-STEP-ID : 01-01 -->", Dialect::Nwave),
        ("<!-- DES-PROJECT-ID : auth -->\n<!-- DES-MODE : orchestrator -->", Dialect::Nwave),
        ("<!-- DES-STEP-ID : 01-01 -->", Dialect::Nwave),
        ("<!-- DES-PROJECT-ID : auth -->\n<!-- DES-STEP-FILE : steps/01-01.json -->", Dialect::Steps),
        ("<!-- DES-AGENT: crafter -->", Dialect::Steps),
    ] {
        let read = parse(&format!("{asks}{markers}"));
        assert_eq!(read.dialect(), dialect, "{markers}");
        assert_eq!((read.problems, read.warnings), (vec![], vec![]), "{markers}");
    }
    let exempt = parse("step 01-02 is done\n<!-- DES-ENFORCEMENT : exempt -->\n<!-- DES-STEP-ID : 01-01 -->");
    assert_eq!(exempt.dialect(), Dialect::AdHoc);
}

#[test]
fn markers_may_have_other_names() {
    let names =
        MarkerNames::default().with(MarkerKind::Validation, "QA-CHECK").with(MarkerKind::StepFile, "QA-STEP");
    let prompt = "<!-- QA-CHECK: required -->\n<!-- QA-STEP: steps/a.json -->\n<!-- QA-OWNER: me -->";
    let markers = read_with(prompt, &names);
    assert_eq!((markers.dialect(), markers.step_file.as_deref()), (Dialect::Steps, Some("steps/a.json")));
    assert_eq!((markers.problems.len(), markers.warnings.len()), (0, 1));
    assert!(read_with("<!-- DES-VALIDATION: required -->", &names).is_ad_hoc());
    assert!(!read_with("<!-- QA-CHEK: required -->", &names).is_ad_hoc());
    assert!(may_ask(prompt) && may_ask("<!-- DES-VALIDATION: yes -->"));
    assert!(!may_ask("<!-- TODO: this --> is required"));
}
