//! Prompts: five parts, their contents, and their share of the context.

use std::collections::BTreeMap;

use lockstep_cascade::event::CascadeDependent;
use lockstep_cascade::prompt::{self, ChangedSymbol, PromptContext, PromptError};
use lockstep_cascade::tier::Tier;
use lockstep_cascade::{Cascade, StartOptions};

use crate::driver::{Play, ROOT, breaks, report, root_changed};

fn symbols() -> BTreeMap<String, Vec<ChangedSymbol>> {
    let renamed =
        ChangedSymbol { name: "old".to_owned(), what: "renamed".to_owned(), becomes: Some("new".to_owned()) };
    let removed = ChangedSymbol { name: "gone".to_owned(), what: "removed".to_owned(), becomes: None };
    BTreeMap::from([(ROOT.to_owned(), vec![renamed, removed])])
}

/// Prompts of a project whose root cause changed from `fn old()` to `fn new()`, and whose other files use it
/// in line 3.
struct Project {
    template: Option<&'static str>,
    context_tokens: usize,
    lines: usize,
}

impl Project {
    fn prompt(&self, cascade: &Cascade, group: &str) -> Result<prompt::Prompt, PromptError> {
        let text = |digest: &str| Some(format!("// {digest}\npub fn old() {{}}\n"));
        let present = |path: &str| {
            Some(match path {
                ROOT => "// root 1\npub fn new() {}\n".to_owned(),
                _ => format!("// {path}\n\nuse old;\n{}", "// filler\n".repeat(self.lines)),
            })
        };
        let symbols = symbols();
        let architecture = ["`a/1.rs` imports `src/root.rs`".to_owned()];
        prompt::implementer(
            cascade,
            cascade.group(group).unwrap(),
            &PromptContext {
                text: &text,
                present: &present,
                symbols: &symbols,
                architecture: &architecture,
                context_tokens: self.context_tokens,
                delivery: "Print both; the exit code is the status.",
                template: self.template,
            },
        )
    }
}

const PLAIN: Project = Project { template: None, context_tokens: 200_000, lines: 60 };

fn cascade(files: &[&str], tier: Tier) -> Cascade {
    let dependents = files
        .iter()
        .map(|file| CascadeDependent { evidence: vec![format!("{file}:3:use old;")], ..breaks(file, ROOT) })
        .collect();
    Cascade::start(Ok(report(dependents)), StartOptions { tier: Some(tier), ..root_changed() })
}

#[test]
fn each_tier_has_its_context() {
    insta::assert_snapshot!(
        "trivial",
        PLAIN.prompt(&cascade(&["a/1.rs"], Tier::Trivial), "1a").unwrap().text
    );
    insta::assert_snapshot!(
        "standard",
        PLAIN.prompt(&cascade(&["a/1.rs"], Tier::Standard), "1a").unwrap().text
    );
    let complex = cascade(&["a/1.rs", ".claude/skills/x/SKILL.md"], Tier::Complex);
    insta::assert_snapshot!("complex_code", PLAIN.prompt(&complex, "1a").unwrap().text);
    insta::assert_snapshot!("complex_infra", PLAIN.prompt(&complex, "1b").unwrap().text);
}

#[test]
fn a_retry_prompt_lists_only_the_remaining_lines() {
    let mut play = Play::start(&["a.rs", "b.rs"]);
    play.hand("1a");
    play.fix("a.rs", "1").done("1a");
    let text = PLAIN.prompt(&play.cascade, "1a").unwrap().text;
    assert!(
        text.contains("What was left:\n\n- Group 1a, attempt 1: b.rs: it is unchanged and still stale"),
        "{text}"
    );
    assert!(!text.contains("Update references in `a.rs`"), "{text}");
}

#[test]
fn transitive_dependents_and_other_groups_are_not_in_it() {
    let mut dependents: Vec<CascadeDependent> =
        ["a/1", "a/2", "b/3", "b/4"].iter().map(|file| breaks(file, ROOT)).collect();
    dependents.push(CascadeDependent { direct: false, ..breaks("far", ROOT) });
    let cascade = Cascade::start(Ok(report(dependents)), root_changed());
    let text = PLAIN.prompt(&cascade, "1a").unwrap().text;
    assert!(text.contains("`a/1`") && !text.contains("b/3") && !text.contains("far"), "{text}");
}

#[test]
fn no_prompt_takes_more_than_its_share() {
    let files: Vec<String> = (0..30).map(|n| format!("dir/some_file_{n}.rs")).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let mut sizes = Vec::new();
    for context_tokens in [200_000, 20_000, 12_000, 9_000] {
        for tier in Tier::ALL {
            let project = Project { context_tokens, lines: 2_000, ..PLAIN };
            let prompt = project.prompt(&cascade(&files, tier), "1a").unwrap();
            assert_eq!(prompt.budget, context_tokens * 9 / 10);
            assert!(prompt.chars <= prompt.budget && prompt.chars == prompt.text.chars().count());
            for part in ["## Context", "## Task", "## Constraints", "## Expected Output", "## Delivery"] {
                assert!(prompt.text.contains(part), "{part} is missing at {context_tokens}");
            }
            sizes.push(prompt.chars);
        }
    }
    assert!(sizes.first() > sizes.last(), "less context, less text");
    let many: Vec<String> = (0..5_000).map(|n| format!("dir/some_file_{n}.rs")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let prompt =
        Project { context_tokens: 20_000, ..PLAIN }.prompt(&cascade(&many, Tier::Trivial), "1a").unwrap();
    assert!(prompt.text.contains("... and 4950 more files"), "{}", prompt.text);
}

#[test]
fn a_project_may_have_a_template_of_its_own() {
    let own = Project { template: Some("{{ role }} does {{ group }}: {{ files[0].path }}"), ..PLAIN };
    let cascade = cascade(&["a.rs"], Tier::Trivial);
    assert_eq!(own.prompt(&cascade, "1a").unwrap().text, "implementer does 1a: a.rs\n");
    for (template, why) in [
        ("{{ nothing }}", "undefined"),
        ("{% if %}", "syntax"),
        ("{% for a in range(100000) %}{% for b in range(100000) %}x{% endfor %}{% endfor %}", ""),
        ("{% include '/etc/passwd' %}", ""),
    ] {
        let error =
            Project { template: Some(template), ..PLAIN }.prompt(&cascade, "1a").unwrap_err().to_string();
        assert!(error.contains("cascade-implementer.md") && error.contains(why), "{template}: {error}");
    }
    let error = Project { template: Some("xxxxxxxxxx"), context_tokens: 10, ..PLAIN }
        .prompt(&cascade, "1a")
        .unwrap_err();
    assert!(matches!(error, PromptError::TooLarge { chars: 11, budget: 9, .. }), "{error}");
}

#[test]
fn the_analyst_prompt_can_be_rendered() {
    let mut play = Play::start(&["a.rs"]);
    play.hand("1a");
    play.fix("a.rs", "1").done("1a");
    let none = BTreeMap::new();
    let material = PromptContext {
        text: &|_| Some("old\n".to_owned()),
        present: &|_| Some("new\n".to_owned()),
        symbols: &none,
        architecture: &[],
        context_tokens: 200_000,
        delivery: "Answer in text.",
        template: None,
    };
    insta::assert_snapshot!("analyst", prompt::analyst(&play.cascade, &material).unwrap().text);
}
