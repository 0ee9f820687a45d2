//! The command line as a whole: help, completions, configuration, exit codes.

use std::fs;

use insta::assert_snapshot;

use crate::{active, configured};

/// Every command that does something, as the words that lead to it.
fn verbs() -> Vec<Vec<String>> {
    fn collect(command: &clap::Command, words: &[String], found: &mut Vec<Vec<String>>) {
        if !command.has_subcommands() {
            return found.push(words.to_vec());
        }
        for verb in command.get_subcommands().filter(|verb| verb.get_name() != "help") {
            collect(verb, &[words, &[verb.get_name().to_owned()]].concat(), found);
        }
    }
    let mut found = Vec::new();
    collect(&lockstep_cli::cli::command(), &[], &mut found);
    found
}

#[test]
fn the_help_of_every_verb_has_an_example_that_names_it() {
    let env = active();
    let verbs = verbs();
    assert!(verbs.len() >= 4, "{verbs:?}");
    for verb in verbs {
        let words: Vec<&str> = verb.iter().map(String::as_str).chain(["--help"]).collect();
        let help = env.lockstep(&words).succeeded();
        let (_, examples) = help.split_once("\nExample").unwrap_or_else(|| panic!("no example:\n{help}"));
        assert!(examples.contains(&format!("lockstep {}", verb.join(" "))), "{help}");
        assert!(help.contains("Usage: lockstep"), "{help}");
    }
}

#[test]
fn completions_for_every_shell() {
    let env = active();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = env.lockstep(["completions", shell]).succeeded();
        for word in ["changes", "hook", "since"] {
            assert!(script.contains(word), "{shell} knows {word}");
        }
    }
    env.write("completions.bash", env.lockstep(["completions", "bash"]).succeeded());
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
    assert_snapshot!(env.lockstep(["config", "show"]).snapshot(), @r#"
    journal.dir = ""                                                                  # default
    journal.sweep = "bash"                                                            # default
    journal.grace = "168h"                                                            # $ROOT/lockstep.toml:2
    alert.subagent = "any"                                                            # default
    alert.lead = "any"                                                                # $ROOT/lockstep.toml:5
    hooks.on_failure = "block"                                                        # default
    task.max_bytes = 16384                                                            # default
    task.l2_path = ".agent/teams/{session-id}/phase-{N}/{coordinator}/L2-summary.md"  # default
    task.events = ".lockstep/events.jsonl"                                            # default
    task.agents = {}                                                                  # default
    task.skills = {}                                                                  # default
    steps.dir = "steps"                                                               # default
    steps.phases = "tdd-14"                                                           # default
    steps.commands = ""                                                               # default
    steps.sections = ""                                                               # default
    steps.machine = ""                                                                # default
    steps.evidence = {}                                                               # default
    steps.over_budget = "warn"                                                        # default
    audit.dir = ""                                                                    # default
    cache.path = ""                                                                   # default
    cache.budget_chars = 128000                                                       # default
    cache.deliver = "index"                                                           # default
    cache.preset = "auto"                                                             # default
    cache.conventions = []                                                            # default
    cache.section = []                                                                # default
    exit 0
    "#);
    assert_snapshot!(env.lockstep(["config", "show", "--format", "json"]).snapshot(), @r#"
    {
      "root": "$ROOT",
      "file": "$ROOT/lockstep.toml",
      "settings": [
        {
          "key": "journal.dir",
          "value": "\"\"",
          "line": null
        },
        {
          "key": "journal.sweep",
          "value": "\"bash\"",
          "line": null
        },
        {
          "key": "journal.grace",
          "value": "\"168h\"",
          "line": 2
        },
        {
          "key": "alert.subagent",
          "value": "\"any\"",
          "line": null
        },
        {
          "key": "alert.lead",
          "value": "\"any\"",
          "line": 5
        },
        {
          "key": "hooks.on_failure",
          "value": "\"block\"",
          "line": null
        },
        {
          "key": "task.max_bytes",
          "value": "16384",
          "line": null
        },
        {
          "key": "task.l2_path",
          "value": "\".agent/teams/{session-id}/phase-{N}/{coordinator}/L2-summary.md\"",
          "line": null
        },
        {
          "key": "task.events",
          "value": "\".lockstep/events.jsonl\"",
          "line": null
        },
        {
          "key": "task.agents",
          "value": "{}",
          "line": null
        },
        {
          "key": "task.skills",
          "value": "{}",
          "line": null
        },
        {
          "key": "steps.dir",
          "value": "\"steps\"",
          "line": null
        },
        {
          "key": "steps.phases",
          "value": "\"tdd-14\"",
          "line": null
        },
        {
          "key": "steps.commands",
          "value": "\"\"",
          "line": null
        },
        {
          "key": "steps.sections",
          "value": "\"\"",
          "line": null
        },
        {
          "key": "steps.machine",
          "value": "\"\"",
          "line": null
        },
        {
          "key": "steps.evidence",
          "value": "{}",
          "line": null
        },
        {
          "key": "steps.over_budget",
          "value": "\"warn\"",
          "line": null
        },
        {
          "key": "audit.dir",
          "value": "\"\"",
          "line": null
        },
        {
          "key": "cache.path",
          "value": "\"\"",
          "line": null
        },
        {
          "key": "cache.budget_chars",
          "value": "128000",
          "line": null
        },
        {
          "key": "cache.deliver",
          "value": "\"index\"",
          "line": null
        },
        {
          "key": "cache.preset",
          "value": "\"auto\"",
          "line": null
        },
        {
          "key": "cache.conventions",
          "value": "[]",
          "line": null
        },
        {
          "key": "cache.section",
          "value": "[]",
          "line": null
        }
      ]
    }
    exit 0
    "#);
    assert!(!env.state().exists(), "asking makes nothing");
}

#[test]
fn every_problem_of_the_configuration_at_once() {
    let env = configured("[journal]\nswep = \"bash\"\ngrace = 5\n[alerts]\nlead = \"any\"\n");
    for args in [&["config", "show"][..], &["changes"], &["changes", "--prune"]] {
        let error = env.lockstep(args).failed(3);
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
        let complaint = env.lockstep(args).failed(1);
        assert!(complaint.contains("error:"), "{complaint}");
    }
    assert!(env.lockstep(["hook", "--help"]).succeeded().contains("lockstep hook"));
}
