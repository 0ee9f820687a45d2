//! Freshness: a touch changes nothing, one changed byte does, and the result names the input.

use std::fs;

use lockstep_cache::extract::{ExtractQuery, ExtractResult, ExtractSource};
use lockstep_cache::fixture::{FixtureSize, agent};
use lockstep_cache::inputs::InputChange;
use lockstep_cache::{CacheSettings, FrameworkPreset, Freshness, SectionConfig, SessionCache};

use crate::project::{Project, touch};

fn changed(path: &str) -> Freshness {
    Freshness::Stale(vec![InputChange::Changed(path.into())])
}

#[test]
fn a_touch_changes_nothing() {
    let project = Project::of(FixtureSize::SMALL);
    let hash = project.build().hash;
    project.age();
    for file in fs::read_dir(project.root().join("src/claude/agents")).unwrap() {
        touch(&file.unwrap().path());
    }
    touch(&project.root().join("src/claude/skills/area-1/skill-1/SKILL.md"));
    let checked = project.cache().check(&project.given).unwrap();
    assert!(checked.passes(true), "{checked:?}");
    assert_eq!(project.cache().freshness(&project.given, None).unwrap(), Freshness::Fresh);
    let again = project.build();
    assert_eq!((again.hash, again.written), (hash, false));
}

#[test]
fn after_a_touch_nothing_is_read_twice() {
    let project = Project::of(FixtureSize::SMALL);
    project.build();
    project.age();
    let skill = project.root().join("src/claude/skills/area-1/skill-1/SKILL.md");
    touch(&skill);
    project.age();
    let record = || project.read(".lockstep/cache/inputs");
    let before = record();
    assert_eq!(project.cache().freshness(&project.given, None).unwrap(), Freshness::Fresh);
    let after = record();
    assert_ne!(after, before, "the new stamp is kept");
    assert_eq!(project.cache().freshness(&project.given, None).unwrap(), Freshness::Fresh);
    assert_eq!(record(), after);
}

#[test]
fn a_time_set_back_hides_no_change() {
    let project = Project::of(FixtureSize::SMALL);
    project.build();
    project.age();
    project.build();
    let path = project.root().join("src/claude/skills/area-1/skill-1/SKILL.md");
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("number 1 ", "number 9 ")).unwrap();
    fs::File::options().append(true).open(&path).unwrap().set_modified(modified).unwrap();
    assert_eq!(
        project.cache().freshness(&project.given, None).unwrap(),
        changed("src/claude/skills/area-1/skill-1/SKILL.md")
    );
}

#[test]
fn one_byte_in_any_input_makes_it_stale_and_is_named() {
    let project = Project::of(FixtureSize::SMALL);
    let inputs = [
        "docs/isdlc/constitution.md",
        "src/isdlc/config/workflows.json",
        ".claude/hooks/config/iteration-requirements.json",
        ".claude/hooks/config/artifact-paths.json",
        "src/claude/hooks/config/skills-manifest.json",
        "src/claude/skills/area-1/skill-1/SKILL.md",
        "docs/isdlc/external-skills-manifest.json",
        ".claude/skills/external/external-0.md",
        "src/claude/agents/persona-kind-1.md",
        "src/claude/skills/analysis-topics/category-1/topic-1.md",
    ];
    for input in inputs {
        let before = project.build().hash;
        project.age();
        let text = project.read(input);
        // The length is the same, and for a while the time: only the content differs.
        project.put(input, &format!(" {}", &text[..text.len() - 1]));
        assert_eq!(project.cache().freshness(&project.given, None).unwrap(), changed(input));
        let checked = project.cache().check(&project.given).unwrap();
        assert_eq!(checked.freshness, changed(input));
        assert!(!checked.passes(true));
        assert_ne!(project.build().hash, before, "{input}");
    }
}

#[test]
fn added_and_removed_inputs_are_named() {
    let project = Project::of(FixtureSize::SMALL);
    project.build();
    project.age();
    project.put("src/claude/skills/area-new/skill-new/SKILL.md", "---\nskill_id: NEW-001\n---\n");
    project.remove("src/claude/agents/persona-kind-0.md");
    let stale = project.cache().freshness(&project.given, None).unwrap();
    assert_eq!(
        stale,
        Freshness::Stale(vec![
            InputChange::Removed("src/claude/agents/persona-kind-0.md".into()),
            InputChange::Added("src/claude/skills/area-new/skill-new/SKILL.md".into()),
        ])
    );
    let built = project.build();
    assert_eq!(
        built.findings[0].to_string(),
        "SKILL_INDEX: no agent owns NEW-001 (src/claude/skills/area-new/skill-new/SKILL.md)"
    );
}

#[test]
fn a_better_place_that_appears_is_noticed() {
    let project = Project::of(FixtureSize::SMALL);
    project.build();
    project.age();
    project.put("src/isdlc/config/artifact-paths.json", "{}\n");
    assert_eq!(
        project.cache().freshness(&project.given, None).unwrap(),
        Freshness::Stale(vec![
            InputChange::Removed(".claude/hooks/config/artifact-paths.json".into()),
            InputChange::Added("src/isdlc/config/artifact-paths.json".into()),
        ])
    );
}

#[test]
fn configuration_and_given_text_are_inputs_too() {
    let mut project = Project::empty();
    project.given.insert("TASK".into(), "do this".into());
    project.build();
    assert_eq!(project.cache().freshness(&project.given, None).unwrap(), Freshness::Fresh);
    project.given.insert("TASK".into(), "do that".into());
    assert_eq!(project.cache().freshness(&project.given, None).unwrap(), changed("given:TASK"));
    project.build();
    project.given.clear();
    assert_eq!(
        project.cache().freshness(&project.given, None).unwrap(),
        Freshness::Stale(vec![InputChange::Removed("given:TASK".into())])
    );
    project.build();
    let other = project.with_budget(100_001);
    assert_eq!(other.freshness(&project.given, None).unwrap(), changed("configuration"));
    let mut sections = FrameworkPreset::Claude.sections();
    sections[0].priority += 1;
    let settings =
        CacheSettings::new(sections, 128_000, ".lockstep/session-cache.md".into(), Vec::new()).unwrap();
    let other = SessionCache::open(project.root(), settings);
    assert_eq!(other.freshness(&project.given, None).unwrap(), changed("configuration"));
}

#[test]
fn a_missing_or_edited_cache_is_not_fresh() {
    let project = Project::of(FixtureSize::SMALL);
    assert_eq!(project.cache().freshness(&project.given, None).unwrap(), Freshness::Missing);
    let path = project.build().path;
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("agreed", "argued")).unwrap();
    assert_eq!(project.cache().freshness(&project.given, None).unwrap(), Freshness::Modified(None));
    assert!(!project.cache().check(&project.given).unwrap().passes(true));
    fs::write(&path, &text[..text.len() / 2]).unwrap();
    assert!(matches!(project.cache().freshness(&project.given, None).unwrap(), Freshness::Modified(Some(_))));
    assert!(project.build().written);
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn without_a_record_it_is_stale_by_an_unknown_input() {
    let project = Project::of(FixtureSize::SMALL);
    project.build();
    project.remove(".lockstep");
    assert_eq!(project.cache().freshness(&project.given, None).unwrap(), Freshness::Fresh);
    project.remove(".lockstep");
    project.put("docs/isdlc/constitution.md", "x\n");
    assert_eq!(project.cache().freshness(&project.given, None).unwrap(), Freshness::Stale(vec![]));
}

#[test]
fn over_budget_and_unresolved_ids_fail_the_check() {
    let project = Project::of(FixtureSize::SMALL);
    project.build();
    assert!(project.cache().check(&project.given).unwrap().passes(true));
    let small = project.with_budget(4_000);
    let built = project.build_with(&small);
    assert!(built.chars <= 4_000 && !built.mitigations.is_empty());
    let checked = small.check(&project.given).unwrap();
    assert_eq!(checked.freshness, Freshness::Fresh);
    assert!(!checked.passes(true));
    project.remove("src/claude/skills/area-1/skill-1");
    project.build();
    let checked = project.cache().check(&project.given).unwrap();
    assert!(!checked.passes(true));
    assert!(checked.findings[0].to_string().contains("owns FIX-001, but no skill has this id"));
}

#[test]
fn extracts_come_from_the_cache_or_from_disk() {
    let project = Project::of(FixtureSize::SMALL);
    project.build();
    let extract = |query| project.cache().extract(&project.given, query).unwrap();
    let constitution = ExtractQuery::Section("CONSTITUTION");
    let fresh = extract(constitution);
    assert_eq!(fresh.origin, ExtractSource::Cache);
    assert_eq!(fresh.answer, ExtractResult::Text(project.read("docs/isdlc/constitution.md")));
    project.put("docs/isdlc/constitution.md", "new\n");
    let stale = extract(constitution);
    assert_eq!((stale.origin, stale.answer), (ExtractSource::Disk, ExtractResult::Text("new\n".into())));

    let agent = agent(1);
    let ExtractResult::Text(text) = extract(ExtractQuery::Agent(&agent)).answer else { panic!() };
    assert!(text.starts_with("## Agent: agent-01\n") && text.contains("### External Skill: external-1"));
    assert!(!text.contains("external-0"));
    let ExtractResult::Text(text) = extract(ExtractQuery::Phase("01-phase")).answer else { panic!() };
    for part in
        ["### ITERATION_REQUIREMENTS: phase_requirements.01-phase", "## Agent: agent-00", "external-0"]
    {
        assert!(text.contains(part), "{part}");
    }
    assert!(
        matches!(extract(ExtractQuery::Section("NO")).answer, ExtractResult::Unknown { known } if known.len() == 8)
    );
}

#[test]
fn sections_over_budget_can_still_be_extracted() {
    let project = Project::of(FixtureSize::SMALL);
    let cache = project.with_budget(2_000);
    project.build_with(&cache);
    let extracted = cache.extract(&project.given, ExtractQuery::Section("ROUNDTABLE_CONTEXT")).unwrap();
    assert_eq!(extracted.origin, ExtractSource::Disk);
    assert!(matches!(extracted.answer, ExtractResult::Text(_)));
}

#[test]
fn extracted_personas_and_topics_ignore_the_budget() {
    let project = Project::of(FixtureSize::SMALL);
    project.put(
        "src/claude/skills/analysis-topics/quality/long.md",
        &format!("# Long topic\n{}", "t".repeat(9_000)),
    );
    project.put("docs/isdlc/constitution.md", &"c".repeat(9_000));
    let cache = project.with_budget(8_000);
    let built = project.build_with(&cache);
    let names: Vec<&str> = built.sections.iter().map(|(name, _)| name.as_str()).collect();
    assert!(names.contains(&"ROUNDTABLE_CONTEXT") && !names.contains(&"CONSTITUTION"), "{built:#?}");
    let ask = |query| cache.extract(&project.given, query).unwrap().answer;
    let ExtractResult::Text(text) = ask(ExtractQuery::Topic("long")) else { panic!() };
    assert!(text.starts_with("### Topic: long\n# Long topic\n") && text.len() > 9_000);
    let ExtractResult::Text(text) = ask(ExtractQuery::Section("ROUNDTABLE_CONTEXT")) else { panic!() };
    assert!(text.contains(&"t".repeat(9_000)), "a section that was shortened is read from its sources");
    assert!(
        matches!(ask(ExtractQuery::Persona("nobody")), ExtractResult::Unknown { known } if !known.is_empty())
    );
}

#[test]
fn a_section_of_the_projects_own() {
    let project = Project::of(FixtureSize::SMALL);
    project.put("docs/rules.md", "be kind\n");
    let own = vec![SectionConfig::new("TEAM_RULES", &["docs/rules.md"], "raw", 1).unwrap()];
    let sections = CacheSettings::override_sections(FrameworkPreset::Isdlc.sections(), own);
    let settings =
        CacheSettings::new(sections, 128_000, ".isdlc/session-cache.md".into(), Vec::new()).unwrap();
    let built = project.build_with(&SessionCache::open(project.root(), settings));
    assert_eq!(built.sections.last().unwrap(), &("TEAM_RULES".to_owned(), 8));
}
