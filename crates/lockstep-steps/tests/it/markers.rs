//! Markers: both spellings, ad-hoc prompts, and every slip that must not turn a check off.

use lockstep_steps::markers::read;
use proptest::prelude::*;

#[test]
fn both_spellings_and_every_marker() {
    for colon in [":", " :", " : "] {
        let prompt = format!(
            "<!-- DES-VALIDATION{colon} required -->\n<!--DES-ORIGIN{colon} command:/nw:execute-->\n\
             <!-- DES-STEP-FILE{colon} steps/01-01.json --> <!-- DES-AGENT{colon} crafter -->\n\
             <!-- DES-COMMAND{colon} /nw:execute -->\n"
        );
        let markers = read(&prompt);
        assert_eq!(markers.problems, [], "{prompt}");
        assert!(markers.validation_required && !markers.is_ad_hoc());
        assert_eq!(markers.origin.as_deref(), Some("command:/nw:execute"));
        assert_eq!(markers.step_file.as_deref(), Some("steps/01-01.json"));
        assert_eq!(markers.agent.as_deref(), Some("crafter"));
        assert_eq!(markers.command(), Some("/nw:execute"));
    }
    assert_eq!(read("<!-- DES-ORIGIN: command:/nw:split -->").command(), Some("/nw:split"));
}

#[test]
fn prompts_that_nobody_checks() {
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
        assert!(read(prompt).is_ad_hoc(), "{prompt}: {:?}", read(prompt).problems);
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
        let markers = read(prompt);
        let named: Vec<_> = markers.problems.iter().map(|problem| problem.element.as_str()).collect();
        assert_eq!(named, [element], "{prompt}");
        assert!(!markers.is_ad_hoc(), "{prompt}");
        assert!(!markers.problems[0].suggestion.is_empty());
    }
}

proptest! {
    #[test]
    fn no_text_panics(prompt in "(?s).{0,200}") {
        let _ = read(&prompt);
    }

    /// One letter of the marker wrong: never an ad-hoc prompt.
    #[test]
    fn one_wrong_letter_never_turns_the_check_off(at in 0_usize..14, letter in "[A-Z]") {
        let mut name = "DES-VALIDATION".to_owned();
        name.replace_range(at..=at, &letter);
        let prompt = format!("<!-- {name}: required -->");
        prop_assert!(!read(&prompt).is_ad_hoc(), "{}", prompt);
    }
}
