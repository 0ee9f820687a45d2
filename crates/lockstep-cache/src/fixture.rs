//! A project that uses the framework, of its usual shape and size, written to disk for tests.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

use serde_json::{Map, Value, json};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FixtureSize {
    /// Skills, one in twenty with a heading instead of a frontmatter.
    pub skills: usize,
    /// Agents, which own them in turn.
    pub agents: usize,
    pub external: usize,
    pub personas: usize,
    pub topics: usize,
    pub phases: usize,
    /// Lines of a persona and of a topic.
    pub prose_lines: usize,
}

impl FixtureSize {
    /// The framework as it is: a cache of about 170,000 characters.
    pub const USUAL: Self =
        Self { skills: 250, agents: 41, external: 6, personas: 8, topics: 6, phases: 14, prose_lines: 60 };

    /// Little of everything, for tests of one case.
    pub const SMALL: Self =
        Self { skills: 6, agents: 2, external: 2, personas: 2, topics: 2, phases: 2, prose_lines: 3 };
}

pub fn agent(number: usize) -> String {
    format!("agent-{number:02}")
}

pub fn skill_id(number: usize) -> String {
    format!("FIX-{number:03}")
}

pub fn phase(number: usize) -> String {
    format!("{number:02}-phase")
}

/// Writes a project of a shape below `root`.
pub fn write(root: &Path, shape: FixtureSize) -> io::Result<()> {
    write_file(root, ".isdlc/state.json", "{}\n")?;
    write_file(root, "docs/isdlc/constitution.md", &prose("Constitution", shape.prose_lines * 3))?;
    let phases = |value: fn(usize) -> Value| -> Map<String, Value> {
        (1..=shape.phases).map(|number| (phase(number), value(number))).collect()
    };
    put_json(root, "src/isdlc/config/workflows.json", &json!({"workflows": phases(workflow)}))?;
    put_json(
        root,
        ".claude/hooks/config/iteration-requirements.json",
        &json!({"phase_requirements": phases(requirements)}),
    )?;
    put_json(
        root,
        ".claude/hooks/config/artifact-paths.json",
        &json!({"phases": phases(|number| json!({"paths": [format!("docs/{number}.md")]}))}),
    )?;
    skills(root, shape)?;
    external(root, shape)?;
    for number in 0..shape.personas {
        let text = format!("---\nname: Persona {number}\n---\n{}", prose("Persona", shape.prose_lines));
        write_file(root, &format!("src/claude/agents/persona-kind-{number}.md"), &text)?;
    }
    for number in 0..shape.topics {
        let path = format!("src/claude/skills/analysis-topics/category-{number}/topic-{number}.md");
        write_file(root, &path, &prose("Topic", shape.prose_lines))?;
    }
    Ok(())
}

fn skills(root: &Path, shape: FixtureSize) -> io::Result<()> {
    let mut owned: Vec<Vec<String>> = vec![Vec::new(); shape.agents];
    for number in 1..=shape.skills {
        let id = skill_id(number);
        let description = format!("Does the work number {number} of the framework, when it is needed");
        let text = if number.is_multiple_of(20) {
            format!("# {id}: skill-{number}\n\n## Description\n{description}\n")
        } else {
            format!("---\nname: skill-{number}\ndescription: {description}\nskill_id: {id}\n---\n\n")
        };
        let path = format!("src/claude/skills/area-{}/skill-{number}/SKILL.md", number % 9);
        write_file(root, &path, &(text + &prose("Skill", 30)))?;
        owned[number % shape.agents].push(id);
    }
    let ownership: Map<String, Value> = owned
        .into_iter()
        .enumerate()
        .map(|(at, skills)| {
            let phase = phase(at % shape.phases + 1);
            (
                agent(at),
                json!({"agent_id": at, "phase": phase, "skill_count": skills.len(), "skills": skills}),
            )
        })
        .collect();
    let lookup: Map<String, Value> =
        (1..=shape.skills).map(|number| (skill_id(number), json!(agent(number % shape.agents)))).collect();
    let manifest = json!({
        "version": "5.0.0",
        "total_skills": shape.skills,
        "ownership": ownership,
        "skill_lookup": lookup,
        "path_lookup": {"area-1/skill-1": "agent-01"},
        "skill_paths": {},
    });
    put_json(root, "src/claude/hooks/config/skills-manifest.json", &manifest)
}

fn external(root: &Path, shape: FixtureSize) -> io::Result<()> {
    let mut entries = Vec::new();
    for number in 0..shape.external {
        let file = format!("external-{number}.md");
        write_file(root, &format!(".claude/skills/external/{file}"), &prose("External", shape.prose_lines))?;
        entries.push(json!({
            "name": format!("external-{number}"),
            "file": file,
            "source": "discover",
            "bindings": {
                "phases": [phase(number % shape.phases + 1)],
                "agents": [agent(number % shape.agents)],
                "injection_mode": "always",
                "delivery_type": "context",
            },
        }));
    }
    put_json(root, "docs/isdlc/external-skills-manifest.json", &json!({"skills": entries}))
}

fn workflow(number: usize) -> Value {
    json!({"label": format!("Workflow {number}"), "description": prose("", 3), "phases": [phase(1), phase(2)]})
}

fn requirements(number: usize) -> Value {
    json!({
        "interactive_elicitation": {"enabled": number.is_multiple_of(2), "min_menu_interactions": 3},
        "test_iteration": {"enabled": true, "max_iterations": 10, "circuit_breaker_threshold": 3},
        "constitutional_validation": {"articles": ["I", "IV", "VII"], "note": prose("", 4)},
    })
}

/// Lines of plausible text.
fn prose(title: &str, lines: usize) -> String {
    let mut text = format!("# {title}\n\n");
    for line in 1..=lines {
        writeln!(text, "{line}. The {title} holds “what was agreed” — in full, and nothing that was not.")
            .expect("a string takes everything");
    }
    text
}

fn put_json(root: &Path, path: &str, value: &Value) -> io::Result<()> {
    write_file(root, path, &format!("{value:#}\n"))
}

pub fn write_file(root: &Path, path: &str, text: &str) -> io::Result<()> {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap_or(root))?;
    fs::write(path, text)
}
