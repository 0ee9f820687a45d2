//! A project without a framework.

use std::path::PathBuf;

use lockstep_cache::{
    CacheSettings, ContentProvider, FrameworkPreset, InstalledPlugin, ProvidedText, SectionConfig,
    SessionCache,
};

use crate::project::Project;

#[test]
fn skills_agents_conventions_and_given_text() {
    let mut project = Project::empty();
    let plugin = tempfile::tempdir().unwrap();
    lockstep_cache::fixture::write_file(
        plugin.path(),
        "skills/deploy/SKILL.md",
        "---\nname: deploy\ndescription: Ships it\n---\n",
    )
    .unwrap();
    lockstep_cache::fixture::write_file(
        plugin.path(),
        "agents/ops.md",
        "---\nname: ops\ndescription: Runs it\n---\n",
    )
    .unwrap();
    project.put(
        ".claude/skills/review/SKILL.md",
        "---\nname: review\ndescription: >-\n  Reviews\n  changes\n---\n",
    );
    project.put(".claude/skills/node_modules/x/SKILL.md", "---\nname: no\n---\n");
    project.put(".claude/skills/.hidden/SKILL.md", "---\nname: no\n---\n");
    project.put(".claude/agents/tester.md", "---\nname: tester\ndescription: Tests\n---\n");
    project.put("CONVENTIONS.md", "Tabs.\n");
    project.given.insert("TASK".into(), "the task".into());

    let mut sections = FrameworkPreset::Claude.sections();
    sections[6] = SectionConfig::new("CONVENTIONS", &["CONVENTIONS.md", "gone.md"], "files", 4).unwrap();
    let plugins = vec![InstalledPlugin { name: "ship".into(), dir: plugin.path().to_path_buf() }];
    let settings =
        CacheSettings::new(sections, 128_000, ".lockstep/session-cache.md".into(), plugins).unwrap();
    let built = project.build_with(&SessionCache::open(project.root(), settings));

    let output = |path: PathBuf| path.display().to_string();
    assert_eq!(
        project.text("SKILL_INDEX"),
        format!(
            "AVAILABLE SKILLS (consult when relevant using Read tool):\n  review — Reviews changes\n    → \
             .claude/skills/review/SKILL.md\n  ship:deploy — Ships it\n    → {}",
            output(plugin.path().join("skills/deploy/SKILL.md"))
        )
    );
    assert_eq!(
        project.text("AGENTS"),
        format!(
            "  tester — Tests\n    → .claude/agents/tester.md\n  ship:ops — Runs it\n    → {}",
            output(plugin.path().join("agents/ops.md"))
        )
    );
    assert_eq!(project.text("CONVENTIONS"), "### CONVENTIONS.md\nTabs.\n");
    assert_eq!(project.text("TASK"), "the task");
    assert!(project.text("INSTRUCTIONS").starts_with("Lockstep watches this project"));
    assert_eq!(project.skipped("HOTSPOTS"), "nothing was given for it");
    let findings: Vec<_> = built.findings.iter().map(ToString::to_string).collect();
    assert_eq!(findings, ["CONVENTIONS: gone.md is not used: it is not there"]);
}

struct Broken;

impl ContentProvider for Broken {
    fn given(&self, section: &str) -> ProvidedText {
        ProvidedText::Unknown(format!("{section} could not be read -->\n"))
    }
}

#[test]
fn unknown_agent_is_an_error_not_an_empty_result() {
    let project = Project::empty();
    let built = project.cache().build(&Broken, crate::project::time(0), Default::default()).unwrap();
    assert_eq!(project.skipped("TASK"), "TASK could not be read - ->");
    assert_eq!(built.skipped.len(), 6);
}
