//! No external name controls the terminal that shows an answer.

use lockstep_testkit::attacks::{HOSTILE_NAME as HOSTILE, controls_terminal};
use lockstep_testkit::{HookEvent, TestEnv};

use crate::active;
use crate::rename_fixtures::commit;

#[track_caller]
fn is_harmless(env: &TestEnv, arguments: &[&str]) {
    let output = env.lockstep(arguments);
    for bytes in [&output.stdout, &output.stderr] {
        let text = String::from_utf8(bytes.clone()).expect("UTF-8");
        assert!(!text.contains(controls_terminal), "{arguments:?}: {text:?}");
    }
}

/// A project in which files, steps, agents and texts have hostile names.
fn hostile_project() -> TestEnv {
    let env = active();
    fill(&env, HOSTILE);
    env
}

/// Gives the name to files, steps, agents and texts of the project.
fn fill(env: &TestEnv, name: &str) {
    let text = name.replace(['\n', '\r', '\u{2028}'], " ");
    env.write(format!("src/{name}.py"), "def greet():\n    pass\n");
    env.write("src/a.py", format!("def hello():\n    return 1  # {text}\n"));
    env.write("src/b.py", format!("from a import hello\n\nhello()  # {text}\n"));
    env.write("docs/x.md", format!("See [a](../src/{text}.py) and `src/a.py`.\n"));
    commit(env);
    let _ = env.lockstep(["step", "new", "01-01", "--project", name]);
    let step = std::fs::read_to_string(env.project().join("steps/01-01.json")).unwrap_or_default();
    let quoted = serde_json::to_string(name).expect("JSON");
    env.write(format!("steps/{name}.json"), step.replace("01-01", quoted.trim_matches('"')));
    let _ = env.hook(&HookEvent::session_start());
    env.write("src/a.py", "def goodbye():\n    return 1\n");
    env.write(format!("src/{name}.py"), "def other():\n    pass\n");
    let _ = env.hook(&HookEvent::bash().by_agent(name, name));
    let _ = env.hook(&HookEvent::edit(format!("src/{name}.py")).by_agent("a1", name));
}

#[test]
fn names_from_outside_control_no_terminal() {
    let env = hostile_project();
    let hostile = format!("src/{HOSTILE}.py");
    for color in ["always", "never"] {
        // Our own colours begin with an escape character, so only the answer without them is checked for it.
        let arguments: &[&[&str]] = &[
            &["impact"],
            &["impact", "--all"],
            &["impact", "--format", "json"],
            &["impact", &hostile],
            &["refs", &hostile],
            &["refs", "hello"],
            &["refs", HOSTILE],
            &["refs", "--dangling"],
            &["map", "build"],
            &["map", "show"],
            &["map", "check"],
            &["map", &hostile],
            &["changes"],
            &["changes", "--format", "json"],
            &["changes", "--agent", HOSTILE],
            &["step", "list"],
            &["step", "show", HOSTILE],
            &["step", "stale"],
            &["gate", "stop", HOSTILE],
            &["gate", "commit", "--explain"],
            &["audit", "show"],
            &["audit", "verify"],
            &["cascade", "start"],
            &["cascade", "next"],
            &["cascade", "status"],
            &["cascade", "report"],
            &["task", "new", HOSTILE],
            &["task", "show"],
            &["task", "history"],
            &["index", "--stats"],
            &["doctor"],
        ];
        for arguments in arguments {
            if color == "never" {
                is_harmless(&env, arguments);
            } else {
                let output = env.lockstep([&["--color", color], *arguments].concat());
                let text = String::from_utf8_lossy(&output.stdout).into_owned();
                assert!(!text.contains("\u{1b}[2J") && !text.contains("\u{1b}]0"), "{arguments:?}: {text:?}");
                assert!(!text.contains(['\u{202e}', '\u{9b}', '\r']), "{arguments:?}: {text:?}");
            }
        }
    }
}

#[test]
fn errors_of_the_configuration_control_no_terminal() {
    let env = active();
    env.configure("[journal]\n\"swe\\u001b[2Jp\\u202e\" = \"off\"\n");
    is_harmless(&env, &["changes"]);
    is_harmless(&env, &["doctor"]);
    env.configure(&format!("[task]\n# {HOSTILE}\n= \u{1b}[2J\n"));
    is_harmless(&env, &["changes"]);
}

#[test]
fn a_name_with_a_line_end_begins_no_line_of_its_own() {
    let env = active();
    let hostile = "a\nFORGED: all is well";
    env.write(format!("src/{hostile}.py"), "def greet():\n    pass\n");
    env.write("src/b.py", "def hello():\n    pass\n");
    commit(&env);
    let _ = env.hook(&HookEvent::session_start());
    env.write(format!("src/{hostile}.py"), "def other():\n    pass\n");
    env.write(format!("steps/{hostile}.json"), "{\"phase_execution_log\": []}");
    let _ = env.hook(&HookEvent::bash().by_agent("a1", "coder"));
    for arguments in [
        &["impact"][..],
        &["changes"],
        &["step", "list"],
        &["step", "stale"],
        &["gate", "commit", "--explain"],
        &["map", "show"],
        &["audit", "show"],
        &["index", "--stats"],
        &["doctor"],
    ] {
        let output = env.lockstep(arguments);
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(!text.lines().any(|line| line.starts_with("FORGED")), "{arguments:?}: {text}");
    }
}

/// A name that controls a terminal and begins lines of its own.
const LINES: &str =
    "n\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}8m\u{202e}\nFORGED: one\r\nFORGED: two\u{e0041}\u{2028}FORGED: three";

/// Every way to call the command: its required arguments alone, and with each option, with a hostile value for each.
fn calls(command: &clap::Command, path: &[String], calls: &mut Vec<Vec<String>>) {
    let subcommands: Vec<_> = command.get_subcommands().filter(|one| one.get_name() != "help").collect();
    for one in &subcommands {
        self::calls(one, &[path, &[one.get_name().to_owned()]].concat(), calls);
    }
    // `hook` and `mcp` are protocols with tests of their own; `--live` starts a client.
    if !subcommands.is_empty() && path.len() != 1 || ["hook", "mcp"].contains(&path[0].as_str()) {
        return;
    }
    let arguments: Vec<_> = command.get_arguments().filter(|one| !is_global(one)).collect();
    let required: Vec<String> = arguments
        .iter()
        .filter(|one| one.is_required_set())
        .flat_map(|one| values(one, "src/b.py"))
        .collect();
    for hostile in [LINES.to_owned(), format!("src/{LINES}.py"), format!("steps/{LINES}.json")] {
        let all = arguments.iter().filter(|one| one.is_required_set());
        let mut call = path.to_vec();
        call.extend(all.flat_map(|one| values(one, &hostile)));
        calls.push(call);
        for optional in arguments.iter().filter(|one| !one.is_required_set()) {
            let mut call = [path, required.as_slice()].concat();
            call.extend(values(optional, &hostile));
            calls.push(call);
        }
    }
}

fn is_global(argument: &clap::Arg) -> bool {
    let own = ["format", "color", "quiet", "verbose", "help", "version", "live"];
    own.contains(&argument.get_id().as_str())
}

fn values(argument: &clap::Arg, hostile: &str) -> Vec<String> {
    let value = match argument.get_possible_values().first() {
        Some(value) => value.get_name().to_owned(),
        None => hostile.to_owned(),
    };
    match (argument.get_long(), argument.get_action().takes_values()) {
        (Some(long), true) => vec![format!("--{long}={value}")],
        (Some(long), false) => vec![format!("--{long}")],
        (None, _) => vec![value],
    }
}

#[test]
fn file_names_cannot_control_the_terminal_or_begin_a_line() {
    let env = TestEnv::named(env!("CARGO_BIN_EXE_lockstep"), LINES);
    env.configure("");
    fill(&env, LINES);
    let mut all = Vec::new();
    for one in lockstep_cli::cli::command().get_subcommands().filter(|one| one.get_name() != "help") {
        calls(one, &[one.get_name().to_owned()], &mut all);
    }
    // The project is removed last.
    all.sort_by_key(|call| call[0] == "uninstall");
    all.dedup();
    let mut broken = Vec::new();
    for call in &all {
        let output = env.lockstep(call);
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        // These print content as it is, for other programs; on a terminal it is filtered.
        let is_content = call.contains(&"--tsv".to_owned())
            || call.starts_with(&["prompt".to_owned(), "render".to_owned()])
            || call.iter().any(|word| word.starts_with("--args="));
        let forged = text.lines().any(|line| line.starts_with("FORGED"));
        if !is_content && (output.code.is_none() || forged || text.contains(controls_terminal)) {
            broken.push(format!("{call:?}:\n{text:?}\n"));
        }
    }
    assert!(all.len() > 200, "{}", all.len());
    assert!(broken.is_empty(), "{} of {}:\n{}", broken.len(), all.len(), broken.concat());
}
