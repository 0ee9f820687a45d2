//! Building: the content of the cache, and its determinism.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use lockstep_cache::fixture::{FixtureSize, agent, skill_id};
use lockstep_cache::{BuildOptions, CacheError, CacheSettings, FrameworkPreset, SessionCache};

use crate::project::{Project, time};

const ISDLC: [&str; 8] = [
    "CONSTITUTION",
    "WORKFLOW_CONFIG",
    "ITERATION_REQUIREMENTS",
    "ARTIFACT_PATHS",
    "SKILLS_MANIFEST",
    "SKILL_INDEX",
    "EXTERNAL_SKILLS",
    "ROUNDTABLE_CONTEXT",
];

#[test]
fn the_framework_preset_has_every_section_with_its_content() {
    let project = Project::of(FixtureSize::SMALL);
    let built = project.build();
    assert_eq!(built.sections.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ISDLC);
    assert_eq!((&built.skipped, built.findings.len(), built.mitigations.len()), (&vec![], 0, 0));

    assert_eq!(project.text("CONSTITUTION"), project.read("docs/isdlc/constitution.md"));
    assert_eq!(project.text("WORKFLOW_CONFIG"), project.read("src/isdlc/config/workflows.json"));
    let manifest: serde_json::Value = serde_json::from_str(&project.text("SKILLS_MANIFEST")).unwrap();
    assert!(manifest.get("path_lookup").is_none() && manifest.get("skill_paths").is_none());
    assert_eq!(manifest["total_skills"], 6);

    let index = project.text("SKILL_INDEX");
    assert!(index.starts_with(&format!(
        "## Agent: {}\nAVAILABLE SKILLS (consult when relevant using Read tool):\n  {}: skill-2 — Does the work number 2 \
         of the framework, when it is needed\n    → src/claude/skills/area-2/skill-2/SKILL.md\n",
        agent(0),
        skill_id(2),
    )));
    let external = project.text("EXTERNAL_SKILLS");
    assert!(external.starts_with(
        "### External Skill: external-0\nSource: discover\nPhases: 01-phase\nAgents: agent-00\nInjection: always\n\
         Delivery: context\n\n# External\n"
    ));
    assert!(external.contains("\n\n---\n\n### External Skill: external-1\n"));
    let roundtable = project.text("ROUNDTABLE_CONTEXT");
    assert!(roundtable.starts_with("### Persona: Kind 0\n---\nname: Persona 0\n"));
    assert!(roundtable.contains("\n\n\n### Topic: topic-0\n# Topic\n"));
}

#[test]
fn the_usual_framework_is_as_large_as_it_was_in_the_field() {
    let project = Project::of(FixtureSize::USUAL);
    let built = project.build_with(&project.with_budget(1_000_000));
    assert!((160_000..180_000).contains(&built.chars), "{}", built.chars);
    assert_eq!(built.sections.len(), 8);
    assert_eq!(built.findings, []);
}

#[test]
fn same_inputs_same_bytes_wherever_and_whenever() {
    let (one, two) = (Project::of(FixtureSize::SMALL), Project::of(FixtureSize::SMALL));
    assert_eq!(one.build().hash, two.build().hash);
    assert_eq!(one.cache().read().unwrap(), two.cache().read().unwrap());
    let forced = BuildOptions { force: true, deadline: None };
    two.cache().build(&two.given, time(60), forced).unwrap();
    let (first, second) = (one.cache().read().unwrap().unwrap(), two.cache().read().unwrap().unwrap());
    assert_ne!(first, second);
    assert_eq!(
        first.split_once('\n').unwrap().1,
        second.split_once('\n').unwrap().1,
        "only the time differs"
    );
}

#[test]
fn unchanged_rebuild_reads_no_skill_and_writes_nothing() {
    let project = Project::of(FixtureSize::USUAL);
    let first = project.build();
    assert!(first.written && first.opened > 250, "{}", first.opened);
    let before = fs::metadata(&first.path).unwrap().modified().unwrap();
    // Another process, which has only the state on disk.
    let again = project.build();
    assert!(!again.written);
    assert!(again.opened < 30, "{} files were opened", again.opened);
    assert_eq!(fs::metadata(&first.path).unwrap().modified().unwrap(), before);
    assert_eq!((again.hash, again.chars, again.sections), (first.hash, first.chars, first.sections));
}

#[test]
fn without_its_state_everything_is_read_again_and_is_the_same() {
    let project = Project::of(FixtureSize::SMALL);
    let first = project.build();
    let text = project.cache().read().unwrap();
    for damage in ["inputs", "skills"] {
        project.put(&format!(".lockstep/cache/{damage}"), "rubbish");
        assert_eq!(project.build().hash, first.hash);
        assert_eq!(project.cache().read().unwrap(), text);
    }
}

#[test]
fn the_file_is_private() {
    let project = Project::of(FixtureSize::SMALL);
    let mode = fs::metadata(project.build().path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn the_first_place_that_exists_wins_and_is_reported() {
    let project = Project::of(FixtureSize::SMALL);
    project.put(".isdlc/constitution.md", "the other\n");
    let sources = project.build().sources;
    assert_eq!(
        (sources[0].used.as_slice(), sources[0].absent.len()),
        (&["docs/isdlc/constitution.md".to_owned()][..], 0)
    );
    project.remove("docs/isdlc/constitution.md");
    let built = project.build();
    assert_eq!(project.text("CONSTITUTION"), "the other\n");
    assert_eq!(built.sources[0].used, [".isdlc/constitution.md"]);
    assert_eq!(built.sources[0].absent, ["docs/isdlc/constitution.md"]);
}

#[test]
fn an_old_manifest_places_its_skills() {
    let project = Project::of(FixtureSize::SMALL);
    project.put(
        "src/claude/hooks/config/skills-manifest.json",
        r#"{"version": "3.0.0", "ownership": {"old": {"skills": [
            {"id": "OLD-1", "name": "first", "path": "area-1/skill-1"},
            {"id": "OLD-2", "name": "second", "path": "../../../etc"}]}}}"#,
    );
    let built = project.build();
    assert_eq!(
        project.text("SKILL_INDEX"),
        "## Agent: old\nAVAILABLE SKILLS (consult when relevant using Read tool):\n  OLD-1: first — Does the work number 1 \
         of the framework, when it is needed\n    → src/claude/skills/area-1/skill-1/SKILL.md"
    );
    let findings: Vec<_> = built.findings.iter().map(ToString::to_string).collect();
    assert!(
        findings[0].starts_with("SKILL_INDEX: `old` owns OLD-2, but no skill has this id"),
        "{findings:?}"
    );
}

#[test]
fn a_persona_of_the_project_replaces_the_frameworks() {
    let project = Project::of(FixtureSize::SMALL);
    project.put(".isdlc/personas/persona-kind-0.md", "OURS\n");
    project.put(".isdlc/personas/our-own.md", "ALSO OURS\n");
    project.build();
    let text = project.text("ROUNDTABLE_CONTEXT");
    assert!(text.starts_with("### Persona: Kind 0\nOURS\n\n\n### Persona: Kind 1\n"), "{text}");
    assert!(text.contains("### Persona: Our Own\nALSO OURS\n\n\n### Topic"), "{text}");
}

#[test]
fn a_deadline_that_is_over_leaves_the_cache_as_it_was() {
    let project = Project::of(FixtureSize::SMALL);
    project.build();
    let text = project.cache().read().unwrap();
    project.put("docs/isdlc/constitution.md", "changed\n");
    let options = BuildOptions { force: false, deadline: Some(std::time::Instant::now()) };
    let error = project.cache().build(&project.given, time(1), options).unwrap_err();
    assert!(matches!(error, CacheError::DeadlineExceeded), "{error}");
    assert_eq!(project.cache().read().unwrap(), text);
}

#[test]
fn only_a_cache_is_overwritten() {
    let project = Project::of(FixtureSize::SMALL);
    project.put("README.md", "# precious\n");
    for target in ["README.md", "docs"] {
        let settings =
            CacheSettings::new(FrameworkPreset::Isdlc.sections(), 10_000, target.into(), Vec::new()).unwrap();
        let cache = SessionCache::open(project.root(), settings);
        let error = cache.build(&project.given, time(0), BuildOptions::default()).unwrap_err();
        assert!(matches!(error, CacheError::WouldOverwrite { .. }), "{error}");
    }
    assert_eq!(project.read("README.md"), "# precious\n");
}

#[test]
fn a_root_that_is_not_there_is_an_error() {
    let project = Project::empty();
    let root = project.root().join("gone");
    let cache = SessionCache::open(&root, CacheSettings::default_for(&root));
    assert!(cache.build(&project.given, time(0), BuildOptions::default()).is_err());
}
