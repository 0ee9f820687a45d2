//! Runs each `$ command` in the console blocks of the documents, and compares its output.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use lockstep_testkit::{HookEvent, TestEnv};
use lockstep_wire::claude::samples;

use crate::inactive;

pub(crate) fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

/// A command and the output that the document shows below it.
struct Shown {
    command: String,
    output: String,
}

/// The console blocks of a document, in order.
fn console(document: &str) -> Vec<Shown> {
    let text = fs::read_to_string(repository().join(document)).unwrap();
    let mut rendered: Vec<Shown> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        match (inside, line.strip_prefix("$ ")) {
            (false, _) => inside = line == "```console",
            (true, None) if line == "```" => inside = false,
            (true, Some(command)) => {
                rendered.push(Shown { command: command.to_owned(), output: String::new() })
            }
            (true, None) => {
                let output = &mut rendered.last_mut().expect("a block begins with a command").output;
                output.push_str(line);
                output.push('\n');
            }
        }
    }
    assert!(!rendered.is_empty(), "{document} shows nothing");
    rendered
}

/// Plays the session of the documents, event by event.
fn session(env: &TestEnv) {
    let after = |seconds| env.advance(jiff::SignedDuration::from_secs(seconds));
    env.write("a.py", "def hello(): pass\n");
    // Else the first stop starts the build, and waits for it only a moment.
    env.lockstep(["index", "--quiet"]).assert_success();
    env.hook(&HookEvent::session_start()).assert_silent();
    env.write("a.py", "def greet(): pass\n");
    env.hook(&HookEvent::edit("a.py").by_agent("a1", "implementer")).assert_silent();
    env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
    let (event, alert) = env.hook(&HookEvent::agent_done()).context().expect("the Lead is told");
    assert_eq!(event, "PostToolUse");
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    assert!(readme.contains(&format!("```text\n{alert}\n```")), "README.md does not show:\n{alert}");
    after(2);
    env.write("notes.md", "renamed\n");
    env.hook(&HookEvent::write("notes.md")).assert_silent();
    after(2);
    env.hook(&HookEvent::from_sample(samples::PRE_TOOL_USE_BASH)).assert_silent();
    env.write("list.txt", "greet\n");
    env.hook(&HookEvent::bash()).assert_silent();
    env.hook(&HookEvent::stop()).assert_silent();
    env.hook(&HookEvent::session_end()).assert_silent();
}

/// Without what differs from run to run.
fn steady(text: &str) -> String {
    let line = |line: &str| match (line.split_once("the slowest ("), line.split_once("revision: ")) {
        (Some((before, _)), _) => format!("{before}the slowest (…) in … ms\n"),
        // The number of index updates depends on timing.
        (_, Some((before, _))) => format!("{before}revision: …\n"),
        // The number of files depends on what the plugin has.
        _ if line.contains("index: the index of ") => {
            "ok       index: the index of … files is fresh\n".to_owned()
        }
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

fn play(document: &str) {
    let env = inactive();
    env.git(["init", "--quiet"]);
    env.write(".claude/settings.json", "{\n  \"model\": \"opus\"\n}\n");
    env.write("a.py", "def hello(): pass\n");
    env.write("b.py", "from a import hello\n\nhello()\n");
    env.write("list.txt", "hello\n");
    let bin = env.outside_dir().join("bin");
    fs::create_dir(&bin).unwrap();
    symlink(env!("CARGO_BIN_EXE_lockstep"), bin.join("lockstep")).unwrap();
    for Shown { command, output } in console(document) {
        let words: Vec<&str> = command.split(' ').collect();
        let text = match words[0] {
            "claude" => {
                session(&env);
                String::new()
            }
            "lockstep" => {
                let mut lockstep = env.command(&words[1..]);
                lockstep.env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
                env.run(lockstep, b"").assert_success()
            }
            "sed" => {
                env.git(["add", "--all"]);
                env.git(["commit", "--quiet", "--message", "before the change"]);
                env.shell(&command);
                String::new()
            }
            "cat" => fs::read_to_string(env.project().join(words[1])).unwrap(),
            other => panic!("{document} shows a command nobody runs here: {other}"),
        };
        assert_eq!(steady(&env.redact_paths(&text)), steady(&output), "{document}: $ {command}");
    }
}

#[test]
fn examples_of_the_readme_work() {
    play("README.md");
}

#[test]
fn examples_of_the_tour_work() {
    play("docs/guide/tour.md");
}

#[test]
fn examples_of_the_plugin_guide_work() {
    play("docs/guide/plugin.md");
}

/// Claims such as "`[alert] lead = "breaking"` is the default": each names a key that exists, and its default.
#[test]
fn claims_about_configuration_keys_are_what_the_program_has() {
    let defaults: std::collections::BTreeMap<String, String> = lockstep_config::key_schema::all_keys()
        .map(|key| (format!("[{}] {}", key.section, key.name), key.default_toml()))
        .collect();
    let mut claims = Vec::new();
    for path in documents().into_iter().filter(|path| !path.ends_with("CHANGELOG.md")) {
        let text = fs::read_to_string(&path).unwrap();
        let prose: String = text.split("```").step_by(2).collect();
        let pieces: Vec<&str> = prose.split('`').collect();
        for (at, code) in
            pieces.iter().enumerate().skip(1).step_by(2).filter(|(_, code)| code.starts_with('['))
        {
            let code = code.split_whitespace().collect::<Vec<_>>().join(" ");
            let (key, value) =
                code.split_once(" = ").map_or((code.as_str(), None), |(key, value)| (key, Some(value)));
            let is_section = |name: &str| defaults.keys().any(|known| known.starts_with(&format!("{name} ")));
            let names_a_key = key
                .split_once(' ')
                .is_some_and(|(section, name)| is_section(section) && !name.contains(['…', '|']));
            if !names_a_key {
                continue;
            }
            let Some(default) = defaults.get(key) else {
                panic!("{}: there is no key `{key}`", path.display())
            };
            let after =
                pieces.get(at + 1).and_then(|rest| rest.split(['.', ':', '`']).next()).unwrap_or_default();
            if let Some(value) = value.filter(|_| after.contains("the default")) {
                assert_eq!(value, default, "{}: the default of `{key}`", path.display());
                claims.push(key.to_owned());
            }
            if let Some((before, _)) = after.split_once(" by default") {
                let number: String =
                    before.chars().rev().take_while(|c| c.is_ascii_digit() || *c == ',').collect();
                let number: String = number.chars().rev().filter(char::is_ascii_digit).collect();
                if !number.is_empty() {
                    assert_eq!(
                        number,
                        default.replace('_', ""),
                        "{}: the default of `{key}`",
                        path.display()
                    );
                    claims.push(key.to_owned());
                }
            }
        }
    }
    for key in ["[alert] lead", "[alert] subagent", "[cache] budget_chars"] {
        assert!(
            claims.iter().any(|claim| claim == key),
            "no document says what the default of {key} is: {claims:?}"
        );
    }
}

#[test]
fn no_document_has_a_placeholder_for_an_owner() {
    for path in documents() {
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains("github.com/OWNER"), "{}", path.display());
    }
}

/// Every Markdown file at the root and below `docs`.
fn documents() -> Vec<PathBuf> {
    let mut folders = vec![repository().to_owned(), repository().join("docs")];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && folder != repository() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    found
}

#[test]
fn links_between_documents_lead_somewhere() {
    for path in documents() {
        let text = fs::read_to_string(&path).unwrap();
        // Text in a block is shown, not linked.
        let prose: String = text.split("```").step_by(2).collect();
        let links = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        // External links are not checked: a test accesses nothing outside this machine.
        for link in links.filter(|link| !link.starts_with("https://")) {
            let target = link.split('#').next().unwrap();
            assert!(path.parent().unwrap().join(target).exists(), "{} links to {link}", path.display());
        }
    }
}

/// Commands in prose must exist. Those with `…` or `|` stand for several.
#[test]
fn commands_in_documents_exist() {
    let tree = lockstep_cli::cli::command();
    for path in documents().into_iter().filter(|path| !path.ends_with("CHANGELOG.md")) {
        let text = fs::read_to_string(&path).unwrap();
        let prose: String = text.split("```").step_by(2).collect();
        for command in crate::plugin_lint::commands(&prose) {
            let several = command.contains(['…', '|', '<', '[', '>']) || command.ends_with("lockstep");
            let words = crate::plugin_lint::words(&command);
            if several || words.last().is_some_and(|word| word.starts_with("--")) {
                continue;
            }
            let verb = words
                .iter()
                .skip(1)
                .find(|word| word.chars().all(|c| c.is_lowercase() || c == '-') && !word.starts_with('-'));
            let is_there = |verb: &String| tree.get_subcommands().any(|known| known.get_name() == verb);
            assert!(verb.is_none_or(is_there), "{}: `{command}`", path.display());
        }
    }
}

#[test]
fn every_check_of_the_doctor_is_explained() {
    let env = crate::active();
    env.git(["init", "--quiet"]);
    // The checks of steps are made where there are some.
    env.lockstep(["step", "new", "01-01", "--project", "p", "--description", "Work"]).assert_success();
    let page = fs::read_to_string(repository().join("docs/guide/troubleshooting.md")).unwrap();
    let output = env.lockstep(["doctor", "--format", "json"]);
    let checks: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let checks = checks["checks"].as_array().expect("a list of checks").clone();
    assert!(checks.len() > 5 && checks.iter().any(|check| check["name"] == "commit gate"), "{checks:?}");
    for check in checks {
        let name = check["name"].as_str().expect("a name");
        assert!(page.contains(&format!("| `{name}` |")), "{name} is not explained");
    }
}

#[test]
fn every_schema_is_listed_with_its_file() {
    let env = inactive();
    let page = fs::read_to_string(repository().join("docs/reference/formats.md")).unwrap();
    let listed = env.lockstep(["schema"]).assert_success();
    let names: Vec<&str> = listed.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.len() > 10, "{listed}");
    for name in names {
        assert!(page.contains(&format!("schema `{name}`")), "{name} is not listed");
    }
}

/// Runs the commands of the CI page's workflow, as its runner would in a clone of a project that follows the
/// page.
#[test]
fn ci_recipe_fails_only_on_breaks() {
    let page = fs::read_to_string(repository().join("docs/guide/ci.md")).unwrap();
    let recipe = page.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let scripts: Vec<&str> = recipe.lines().collect();
    assert!(scripts.len() == 4 && scripts[0].starts_with("git fetch"), "{scripts:#?}");

    let env = crate::configured("[map]\npath = \"docs/map.md\"\n");
    env.git(["init", "--quiet", "--initial-branch=main"]);
    env.write("a.py", "def hello():\n    pass\n");
    env.write("b.py", "from a import hello\n\nhello()\n");
    env.lockstep(["step", "new", "01-01", "--project", "p", "--description", "Work"]).assert_success();
    let commit = |message: &str| {
        env.lockstep(["map", "update", "--quiet"]).assert_success();
        env.git(["add", "--all"]);
        env.git(["commit", "--quiet", "--message", message]);
    };
    commit("first");
    let passes = |name: &str| {
        let clone = env.outside_dir().join(name);
        let (source, target) = (env.project().display().to_string(), clone.display().to_string());
        env.git(["clone", "--quiet", &source, &target]);
        let program = Path::new(env!("CARGO_BIN_EXE_lockstep")).parent().unwrap();
        scripts.iter().find_map(|script| {
            let output = Command::new("bash")
                .args(["-e", "-c", script])
                .current_dir(&clone)
                .env("HOME", env.home())
                .env("PATH", format!("{}:{}", program.display(), std::env::var("PATH").unwrap()))
                .env("LOCKSTEP_NOW", env.now())
                .output()
                .unwrap();
            let text = [output.stdout, output.stderr].concat();
            (!output.status.success()).then(|| format!("{script}\n{}", String::from_utf8_lossy(&text)))
        })
    };
    env.git(["checkout", "--quiet", "-b", "work"]);
    env.write("a.py", "def greet():\n    pass\n");
    commit("a rename");
    let failed = passes("broken").expect("the user of the old name was left behind");
    assert!(failed.contains("lockstep impact"), "{failed}");
    env.write("b.py", "from a import greet\n\ngreet()\n");
    commit("and who follows it");
    assert_eq!(passes("well"), None);
}
