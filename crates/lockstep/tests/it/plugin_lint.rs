//! Checks the plugin's texts against the program, the client and the access table: a command that does not
//! parse, an unknown field or tool, or a row that differs from the configuration would mislead every session.

use std::collections::{BTreeMap, BTreeSet};

use lockstep_cli::plugin::{FILES, HOOKS_FILE, hooks_json};
use lockstep_task::access::{AccessTable, AgentRule, CreatePermission, Principal, SkillRule};
use lockstep_testkit::client::find_client_or_skip;
use serde_json::Value;

use crate::doc_examples::repository;

/// The fields that Claude Code 2.1.197 accepts in a skill's frontmatter; fields that it marks as internal are
/// left out.
const SKILL_FIELDS: &[&str] = &[
    "name",
    "description",
    "model",
    "allowed-tools",
    "disallowed-tools",
    "argument-hint",
    "disable-model-invocation",
    "user-invocable",
    "effort",
    "shell",
    "when_to_use",
    "paths",
    "hooks",
    "context",
    "agent",
];

/// The same for an agent. A plugin's agent has no `permissionMode`, `hooks` and `mcpServers`: the client ignores them there.
const AGENT_FIELDS: &[&str] = &[
    "name",
    "description",
    "model",
    "tools",
    "disallowedTools",
    "effort",
    "maxTurns",
    "skills",
    "memory",
    "background",
    "isolation",
];

/// The client's own tools that an agent may be given.
const TOOLS: &[&str] = &[
    "Agent",
    "Bash",
    "Edit",
    "Glob",
    "Grep",
    "NotebookEdit",
    "Read",
    "SendMessage",
    "Skill",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "WebFetch",
    "WebSearch",
    "Write",
];

/// The client's name for a tool of a plugin's server: `mcp__plugin_PLUGIN_SERVER__TOOL`.
const OUR_TOOLS: &str = "mcp__plugin_lockstep_lockstep__";

/// Tools of our server that read.
const READING_TOOLS: &[&str] = &["impact", "references", "dangling_references", "map_entry"];

/// A skill or an agent.
struct Text {
    file: &'static str,
    /// The name of its folder, or of its file.
    place: String,
    fields: BTreeMap<String, Value>,
    body: &'static str,
}

fn texts(folder: &str) -> Vec<Text> {
    let of = |(file, text): &(&'static str, &'static str)| {
        let rest = file.strip_prefix(folder)?;
        let place = rest.strip_suffix("/SKILL.md").or_else(|| rest.strip_suffix(".md"))?.to_owned();
        let (front, body) = text.strip_prefix("---\n")?.split_once("\n---\n")?;
        let fields = serde_saphyr::from_str(front).unwrap_or_else(|error| panic!("{file}: {error}"));
        Some(Text { file, place, fields, body })
    };
    let texts: Vec<Text> = FILES.iter().filter_map(of).collect();
    let there = FILES.iter().filter(|(file, _)| file.starts_with(folder)).count();
    assert_eq!(texts.len(), there, "every file of {folder} has a frontmatter");
    texts
}

fn skills() -> Vec<Text> {
    texts("skills/")
}

fn agents() -> Vec<Text> {
    texts("agents/")
}

fn names(texts: &[Text]) -> BTreeSet<String> {
    texts.iter().map(|text| text.place.clone()).collect()
}

impl Text {
    fn field(&self, name: &str) -> Option<&str> {
        self.fields.get(name).map(|value| value.as_str().unwrap_or_else(|| panic!("{}: {name}", self.file)))
    }

    /// The comma-separated items of a field.
    fn items(&self, name: &str) -> Vec<&str> {
        self.field(name).map(|text| text.split(", ").collect()).unwrap_or_default()
    }
}

#[test]
fn the_twelve_skills_and_the_agents_are_there() {
    assert_eq!(
        names(&skills()),
        [
            "execution-impact",
            "execution-cascade",
            "manage-codebase",
            "brainstorming-pipeline",
            "agent-teams-write-plan",
            "plan-validation-pipeline",
            "agent-teams-execution-plan",
            "verification-pipeline",
            "permanent-tasks",
            "delivery-pipeline",
            "rsil-global",
            "rsil-review",
        ]
        .map(str::to_owned)
        .into()
    );
    let coordinators = [
        "research",
        "architecture",
        "planning",
        "validation",
        "execution",
        "testing",
        "infra-quality",
        "verification",
    ];
    let agents: BTreeSet<String> =
        ["implementer", "infra-implementer", "analyst", "pt-manager", "delivery-agent", "rsil-agent"]
            .map(str::to_owned)
            .into_iter()
            .chain(coordinators.map(|name| format!("{name}-coordinator")))
            .collect();
    assert_eq!(names(&self::agents()), agents);
}

#[test]
fn every_frontmatter_is_as_the_client_takes_it() {
    for (texts, known) in [(skills(), SKILL_FIELDS), (agents(), AGENT_FIELDS)] {
        for text in texts {
            let file = text.file;
            for field in text.fields.keys() {
                assert!(
                    known.contains(&field.as_str()),
                    "{file}: the client does not know the field {field}"
                );
            }
            assert_eq!(text.field("name"), Some(text.place.as_str()), "{file}: its name is its folder's");
            let description = text.field("description").unwrap_or_default();
            assert!((20..=1024).contains(&description.chars().count()), "{file}: {description}");
            assert!(
                description.contains("Use ") || description.contains("Started by"),
                "{file} does not say when"
            );
            assert!(text.body.lines().count() <= 80, "{file} is not short");
        }
    }
}

#[test]
fn skill_tools_exist_and_disallowed_tools_are_not_granted() {
    for agent in agents() {
        let given = agent.items("tools");
        assert!(!given.is_empty(), "{} has whatever there is", agent.file);
        for tool in given.iter().chain(&agent.items("disallowedTools")) {
            let ours = tool.strip_prefix(OUR_TOOLS).is_some_and(|tool| READING_TOOLS.contains(&tool));
            assert!(TOOLS.contains(tool) || ours, "{}: the client does not know the tool {tool}", agent.file);
        }
        for tool in agent.items("disallowedTools") {
            assert!(!given.contains(&tool), "{} gives and takes {tool}", agent.file);
        }
    }
}

/// The server has the tools that agents are given.
#[test]
fn the_servers_tools_are_there() {
    let page = lockstep_cli::reference_pages::mcp_page();
    for tool in READING_TOOLS {
        assert!(page.contains(&format!("`{tool}`")), "{tool}");
    }
}

/// Agents that may write the task according to the access table have the tool for it; the others are denied
/// it by name.
#[test]
fn the_agents_tools_are_what_the_access_table_needs() {
    let table = AccessTable::default();
    for agent in agents() {
        let AgentRule { create, update, .. } = table.rule(&Principal::Agent(agent.place.clone()));
        for (tool, may) in
            [("TaskCreate", create != CreatePermission::None), ("TaskUpdate", !update.is_empty())]
        {
            assert_eq!(agent.items("tools").contains(&tool), may, "{}: {tool}", agent.file);
            assert_eq!(agent.items("disallowedTools").contains(&tool), !may, "{}: {tool}", agent.file);
        }
    }
    let named: BTreeSet<String> = table.agents.keys().cloned().collect();
    assert!(named.is_subset(&names(&agents())), "every agent of the table is in the plugin");
    let has = |name: &str, tool: &str| {
        agents().iter().find(|agent| agent.place == name).unwrap().items("tools").contains(&tool)
    };
    assert!(has("implementer", "Bash") && !has("infra-implementer", "Bash"));
    for tool in ["Edit", "Write", "NotebookEdit", "Bash"] {
        assert!(!has("analyst", tool), "the analyst only reads");
    }
}

/// The row below the heading of the interface table.
fn row(skill: &Text) -> [Vec<String>; 4] {
    let heading = "| phases | must read | may read | writes |\n|---|---|---|---|\n";
    let (_, rest) = skill.body.split_once(heading).unwrap_or_else(|| panic!("{} has no row", skill.file));
    let cells = rest.lines().next().unwrap().trim_matches('|').split('|');
    let items = |cell: &str| match cell.trim() {
        "–" => Vec::new(),
        text => text.split(", ").map(str::to_owned).collect(),
    };
    cells.map(items).collect::<Vec<_>>().try_into().unwrap()
}

#[test]
fn every_row_agrees_with_the_access_configuration() {
    let table = AccessTable::default();
    for skill in skills() {
        let rule = table.skills.get(&skill.place).cloned().unwrap_or_default();
        let SkillRule { phases, must_read, may_read, .. } = &rule;
        let phases: Vec<String> = phases.iter().map(|phase| phase.name().to_owned()).collect();
        let writes: Vec<String> = rule.grants().iter().map(ToString::to_string).collect();
        assert_eq!(row(&skill), [phases, must_read.clone(), may_read.clone(), writes], "{}", skill.file);
    }
    let named: BTreeSet<String> = table.skills.keys().cloned().collect();
    assert!(named.is_subset(&names(&skills())), "every skill of the table is in the plugin");
}

/// Every `lockstep …` of a text: lines of its shell blocks, and code spans.
pub(crate) fn commands(body: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let mut in_block = false;
    for line in body.lines() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        } else if in_block {
            commands.push(line.trim().to_owned());
        } else {
            commands.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    commands.retain(|command| command == "lockstep" || command.starts_with("lockstep "));
    commands
}

/// The words of a command; `<placeholder>` and `$VARIABLE` become something that fits.
pub(crate) fn words(command: &str) -> Vec<String> {
    let of = |word: &str| match word.trim_matches('"') {
        "<version>" => "1".to_owned(),
        "<phase>" => "P1".to_owned(),
        "<name=value>" => "a=b".to_owned(),
        word if word.starts_with('$') => "s1".to_owned(),
        word if word.starts_with('<') => "x".to_owned(),
        word => word.to_owned(),
    };
    command.split_whitespace().map(of).collect()
}

#[test]
fn every_command_parses() {
    let mut parsed = 0;
    let tree = lockstep_cli::cli::command();
    for text in skills().into_iter().chain(agents()) {
        for command in commands(text.body) {
            let words = words(&command);
            if words.len() == 1 {
                continue;
            }
            if let Err(error) = tree.clone().try_get_matches_from(&words) {
                panic!("{}: `{command}`: {error}", text.file);
            }
            parsed += 1;
        }
    }
    assert!(parsed > 80, "only {parsed} commands were found");
}

#[test]
fn named_agents_and_skills_exist() {
    let (skills, agents) = (skills(), agents());
    let (skill_names, agent_names) = (names(&skills), names(&agents));
    for text in skills.iter().chain(&agents) {
        for span in text.body.split('`').skip(1).step_by(2) {
            if let Some(agent) = span.strip_prefix("lockstep:") {
                assert!(agent_names.contains(agent), "{}: no agent {agent}", text.file);
            }
            if let Some(skill) = span.strip_prefix('/') {
                assert!(skill_names.contains(skill), "{}: no skill {skill}", text.file);
            }
        }
    }
    // If a skill's agent is not named with its plugin, the client silently starts its ordinary agent.
    for skill in &skills {
        let agent =
            skill.field("agent").map(|agent| agent.strip_prefix("lockstep:").expect("with its plugin"));
        assert_eq!(agent.is_some(), skill.field("context") == Some("fork"), "{}", skill.file);
        assert!(agent.is_none_or(|agent| agent_names.contains(agent)), "{}", skill.file);
    }
}

#[test]
fn every_skill_describes_work_without_lockstep() {
    for skill in skills() {
        for heading in ["\n## Reads and writes\n", "\n## Do\n", "\n## Without Lockstep\n"] {
            assert_eq!(skill.body.matches(heading).count(), 1, "{}: {heading}", skill.file);
        }
        assert!(skill.body.contains("If `lockstep` is not found"), "{}", skill.file);
        assert!(skill.body.to_lowercase().contains("exit"), "{} does not say what outcomes mean", skill.file);
    }
}

#[test]
fn the_hooks_are_those_of_the_routing_table() {
    let (_, text) = FILES.iter().find(|(file, _)| *file == HOOKS_FILE).unwrap();
    assert_eq!(*text, hooks_json(), "`cargo xtask docs` writes it anew");
}

#[test]
fn manifests_name_this_version_and_nothing_is_left_out() {
    let json = |file: &str| -> Value {
        serde_json::from_str(&std::fs::read_to_string(repository().join(file)).unwrap()).unwrap()
    };
    let plugin = json("plugin/.claude-plugin/plugin.json");
    assert_eq!(
        (&plugin["name"], &plugin["version"]),
        (&"lockstep".into(), &env!("CARGO_PKG_VERSION").into())
    );
    let marketplace = json(".claude-plugin/marketplace.json");
    assert_eq!(marketplace["plugins"][0]["source"], "./plugin");
    assert_eq!(marketplace["plugins"][0]["description"], plugin["description"]);
    assert_eq!(json("plugin/.mcp.json")["mcpServers"]["lockstep"]["args"], serde_json::json!(["mcp"]));
}

/// The client's own judgement, with its warnings as errors.
#[test]
fn the_client_finds_nothing_wrong_with_it() {
    let Some(client) = find_client_or_skip() else { return };
    let home = tempfile::tempdir().unwrap();
    for folder in [repository().join("plugin"), repository().to_owned()] {
        let output = std::process::Command::new(client.program())
            .args(["plugin", "validate", "--strict"])
            .arg(&folder)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", home.path())
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    }
}
