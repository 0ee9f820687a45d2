//! The command line as a whole: help, completions, configuration, exit codes.

use std::collections::BTreeSet;
use std::fs;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::{active, configured};

/// Returns every command without subcommands, as its words.
fn verbs() -> Vec<Vec<String>> {
    fn collect(command: &clap::Command, words: &[String], found: &mut Vec<Vec<String>>) {
        if !command.has_subcommands() {
            return found.push(words.to_vec());
        }
        for verb in command.get_subcommands().filter(|verb| verb.get_name() != "help" && !verb.is_hide_set())
        {
            collect(verb, &[words, &[verb.get_name().to_owned()]].concat(), found);
        }
    }
    let mut found = Vec::new();
    collect(&lockstep_cli::cli::command(), &[], &mut found);
    found
}

#[test]
fn every_answer_of_every_verb_is_data_if_a_program_asks_for_it() {
    let env = configured("[alert]\n");
    env.write("a.py", "def f():\n    pass\n");
    for verb in verbs().iter().filter(|verb| !matches!(verb[0].as_str(), "hook" | "mcp")) {
        // A git hook gives `gate refs` the moves; without one there is nothing to answer.
        if verb.join(" ") == "gate refs" {
            continue;
        }
        for tail in
            [&["--format", "json"][..], &["--format", "json", "no-such"], &["no-such", "x", "--format=json"]]
        {
            let words: Vec<&str> = verb.iter().map(String::as_str).chain(tail.iter().copied()).collect();
            let output = env.lockstep(&words);
            let data: Value = serde_json::from_slice(&output.stdout)
                .unwrap_or_else(|error| panic!("{words:?}: {error}: {}", output.snapshot()));
            if let Some(code) = data.pointer("/error/exit_code") {
                assert_eq!(code.as_i64(), output.code.map(i64::from), "{words:?}");
            }
        }
    }
}

#[test]
fn a_repository_without_files_or_commits_is_named_as_such() {
    let env = crate::inactive();
    env.git(["init", "--quiet", "--bare", "bare.git"]);
    for verb in [&["impact"][..], &["init", "--dry-run"]] {
        let output = env.lockstep([&["-C", "bare.git"][..], verb].concat());
        output.assert_failure(2);
        assert!(output.snapshot().contains("is a bare git repository"), "{output:?}");
    }
    env.git(["init", "--quiet", "new"]);
    let output = env.lockstep(["-C", "new", "impact", "--rev", "HEAD"]);
    assert!(output.snapshot().contains("nothing was committed yet"), "{output:?}");
}

#[test]
fn the_help_of_every_verb_has_an_example_that_names_it() {
    let env = active();
    let verbs = verbs();
    assert!(verbs.len() >= 4, "{verbs:?}");
    for verb in verbs {
        let words: Vec<&str> = verb.iter().map(String::as_str).chain(["--help"]).collect();
        let help = env.lockstep(&words).assert_success();
        let (_, examples) = help.split_once("\nExample").unwrap_or_else(|| panic!("no example:\n{help}"));
        assert!(examples.contains(&format!("lockstep {}", verb.join(" "))), "{help}");
        assert!(help.contains("Usage: lockstep"), "{help}");
    }
}

/// The commands of a help text's Examples section, without their explanations.
fn examples(help: &str) -> Vec<String> {
    let Some((_, section)) = help.split_once("\nExamples:\n") else { return Vec::new() };
    let lines = section.lines().take_while(|line| line.starts_with("  ")).map(str::trim_start);
    let command = |line: &str| line.split("  ").next().unwrap_or_default().to_owned();
    lines.filter(|line| line.contains("lockstep ")).map(command).collect()
}

/// The arguments of every call of `lockstep` in a shell command line.
fn calls(line: &str) -> Vec<Vec<String>> {
    let mut calls = Vec::new();
    for part in line.split(" | ").flat_map(|part| part.split(" && ")) {
        let Some((before, rest)) = part.split_once("lockstep ") else { continue };
        // `claude mcp add lockstep -- lockstep mcp` runs another program.
        if before.starts_with("claude") {
            continue;
        }
        let rest = rest.split(['>', '<', ')']).next().unwrap_or_default();
        calls.push(shell_words(rest));
    }
    calls
}

/// `lockstep` and the words of its arguments; single quotes join words.
fn shell_words(arguments: &str) -> Vec<String> {
    let mut words = vec!["lockstep".to_owned()];
    let (mut word, mut quoted) = (None::<String>, false);
    for c in arguments.chars() {
        match c {
            '\'' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            ' ' if !quoted => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[test]
fn every_command_has_examples_that_parse() {
    fn walk(tree: &clap::Command, command: &clap::Command, found: &mut usize) {
        let mut own = command.clone().term_width(400);
        let help = own.render_long_help().to_string();
        let lines = examples(&help);
        assert!(!lines.is_empty(), "`{}` has no Examples section:\n{help}", command.get_name());
        for line in &lines {
            for call in calls(line) {
                let parsed = tree.clone().try_get_matches_from(&call);
                assert!(parsed.is_ok(), "{line}: {call:?}: {}", parsed.unwrap_err());
                *found += 1;
            }
        }
        let children = command.get_subcommands();
        children
            .filter(|child| child.get_name() != "help" && !child.is_hide_set())
            .for_each(|child| walk(tree, child, found));
    }
    let tree = lockstep_cli::cli::command();
    let mut found = 0;
    let mut built = tree.clone();
    built.build();
    walk(&tree, &built, &mut found);
    assert!(found > 150, "{found} examples");
}

#[test]
fn help_lists_the_first_commands_first_and_the_rest_in_groups() {
    let env = active();
    let help = env.lockstep(["--help"]).assert_success();
    let at = |text: &str| help.find(text).unwrap_or_else(|| panic!("{text:?} is not in\n{help}"));
    let order = [
        "\nStart here:\n  impact ",
        "\n  refs ",
        "\n  init ",
        "\nAgents:\n",
        "\nMap and cascade:\n",
        "\nWorkflow framework:\n",
        "\nMaintenance:\n",
        "\nGlobal options:\n",
        "\nExamples:\n",
    ];
    assert!(order.windows(2).all(|pair| at(pair[0]) < at(pair[1])), "{help}");
    assert!(!help.contains("does nothing at all"), "impact and refs work without lockstep.toml:\n{help}");
    // A command's own options come before those that every command has.
    let help = env.lockstep(["impact", "--help"]).assert_success();
    assert!(help.find("--staged") < help.find("\nGlobal options:\n"), "{help}");
    assert!(help.find("\nGlobal options:\n") < help.find("--color"), "{help}");
    // Hooks do not format this list, and their help works all the same.
    assert!(env.lockstep(["hook", "--help"]).assert_success().contains("Usage: lockstep hook"));
}

#[test]
fn the_template_of_the_configuration_needs_no_project() {
    let env = crate::inactive();
    let template = env.lockstep(["config", "template"]).assert_success();
    assert!(template.contains("[journal]") && template.contains("#lead = \"breaking\""), "{template}");
    env.configure(&template);
    env.lockstep(["config", "show"]).assert_success();
}

#[test]
fn completions_for_every_shell() {
    let env = active();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = env.lockstep(["completions", shell]).assert_success();
        for word in ["changes", "hook", "since"] {
            assert!(script.contains(word), "{shell} knows {word}");
        }
    }
    env.write("completions.bash", env.lockstep(["completions", "bash"]).assert_success());
    env.shell("bash -n completions.bash");
    assert!(!env.state().exists(), "printing a script needs no store");
}

#[test]
fn exit_codes() {
    let env = active();
    for (args, code) in [
        (&["changes"][..], 0),
        (&["--version"], 0),
        (&["--help"], 0),
        (&[], 2),
        (&["no-such-verb"], 2),
        (&["changes", "--no-such-option"], 2),
        (&["changes", "--format", "xml"], 2),
        (&["changes", "--quiet", "--verbose"], 2),
        (&["completions", "tcsh"], 2),
        (&["config"], 2),
        (&["-C", "missing", "changes"], 2),
        (&["-C", "lockstep.toml", "changes"], 2),
        (&["-C", "/", "changes"], 3),
        (&["-C", "/", "config", "show"], 3),
    ] {
        let output = env.lockstep(args);
        assert_eq!(output.code, Some(code), "{args:?}: {}", output.snapshot());
        assert_eq!(output.stderr.is_empty(), code == 0, "{args:?}: {}", output.snapshot());
    }
    fs::write(env.state().join("state.db"), vec![b'x'; 4_096]).unwrap();
    let _ = fs::remove_file(env.state().join("state.db-wal"));
    assert_snapshot!(env.lockstep(["changes"]).snapshot(), @"
    stderr: error: the store $ROOT/.lockstep/state.db failed
      because: file is not a database: Error code 26: file is not a database
    hint: delete the file and those beside it; the history is lost, nothing else
    exit 4
    ");
    assert_snapshot!(env.lockstep(["-C", "missing", "changes"]).snapshot(), @"
    stderr: error: cannot work in missing: No such file or directory (os error 2)
    exit 2
    ");
    assert_snapshot!(env.lockstep(["chnges"]).snapshot(), @"
    stderr: error: unrecognized subcommand 'chnges'

      tip: some similar subcommands exist: 'cache', 'changes'

    Usage: lockstep [OPTIONS] <COMMAND>

    For more information, try '--help'.
    exit 2
    ");
}

#[test]
fn the_configuration_in_effect() {
    let env = configured("[journal]\ngrace = \"7d\"\n\n[alert]\nlead = 'any'\n");
    let text = env.redact_paths(&env.lockstep(["config", "show"]).assert_success());
    let line = |start: &str| text.lines().find(|line| line.starts_with(start)).expect(start).to_owned();
    assert!(line("journal.grace = \"168h\" ").ends_with(" # $ROOT/lockstep.toml:2"), "{text}");
    assert!(line("alert.lead = \"any\" ").ends_with(" # $ROOT/lockstep.toml:5"), "{text}");
    assert!(line("journal.dir = \"\" ").ends_with(" # default"), "{text}");
    // The comments are aligned.
    let columns: BTreeSet<_> = text.lines().map(|line| line.find("  # ")).collect();
    assert_eq!(columns.len(), 1, "{text}");
    let json: Value =
        serde_json::from_str(&env.lockstep(["config", "show", "--format", "json"]).assert_success()).unwrap();
    assert_eq!(json["file"], env.project().join("lockstep.toml").to_str().unwrap());
    let settings = json["settings"].as_array().unwrap();
    assert_eq!(settings.len(), text.lines().count());
    let grace = settings.iter().find(|setting| setting["key"] == "journal.grace").unwrap();
    assert_eq!((&grace["value"], &grace["line"]), (&json!("\"168h\""), &json!(2)));
    assert!(!env.state().exists(), "asking makes nothing");
}

#[test]
fn every_problem_of_the_configuration_at_once() {
    let env = configured("[journal]\nswep = \"bash\"\ngrace = 5\n[alerts]\nlead = \"any\"\n");
    for args in [&["config", "show"][..], &["changes"], &["changes", "--prune"]] {
        let error = env.lockstep(args).assert_failure(3);
        assert_eq!(error.matches("  fix: ").count(), 3, "{error}");
    }
    assert_snapshot!(env.lockstep(["config", "show"]).snapshot(), @r#"
    stderr: error: $ROOT/lockstep.toml has 3 problems
    $ROOT/lockstep.toml:2:1: unknown key `swep` in [journal]
      why: what is not known would be ignored silently, so it is refused
      fix: did you mean `sweep`?
    $ROOT/lockstep.toml:3:9: `grace` cannot be the number 5
      why: it takes a duration, as a string such as "24h"
      fix: the default is `grace = "24h"`
    $ROOT/lockstep.toml:4:2: unknown section [alerts]
      why: what is not known would be ignored silently, so it is refused
      fix: did you mean [alert]?
    exit 3
    "#);
    assert!(!env.state().exists(), "asking makes nothing");
}

/// Exit code 2 of a hook blocks the client's step. Settings that a newer Lockstep wrote must not do that.
#[test]
fn a_hook_that_is_called_wrongly_does_not_block_the_client() {
    let env = active();
    for args in [&["hook", "some-new-client"][..], &["hook", "claude", "--new-option"]] {
        let complaint = env.lockstep(args).assert_failure(1);
        assert!(complaint.contains("error:"), "{complaint}");
    }
    assert!(env.lockstep(["hook", "--help"]).assert_success().contains("lockstep hook"));
}

#[test]
fn a_missing_file_ends_every_command_with_the_same_code() {
    let env = active();
    env.write("src/a.py", "def a():\n    pass\n");
    for arguments in [
        &["impact", "missing.py"][..],
        &["impact", "--patch", "missing.patch"],
        &["refs", "src/missing.py"],
        &["refs", "missing.py"],
        &["refs", "missing:3"],
        &["map", "missing.py"],
        &["map", "update", "missing.py"],
        &["gate", "prompt", "missing.md"],
        &["gate", "stop", "missing"],
        &["prompt", "check", "missing.md"],
        &["prompt", "render", "execute_step", "--step", "missing"],
        &["step", "show", "missing"],
        &["step", "finish", "missing", "--status", "DONE"],
        &["step", "abandon", "missing", "--why", "x"],
        &["step", "phase", "start", "missing", "PREPARE"],
        &["handoff", "check", "missing.md"],
        &["task", "migrate", "missing.md"],
        &["cache", "skill", "add", "missing", "missing.md"],
    ] {
        let output = env.lockstep(arguments);
        assert_eq!(output.code, Some(4), "{arguments:?}: {}", output.snapshot());
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(message.starts_with("error: ") && message.contains("missing"), "{arguments:?}: {message}");
    }
}
