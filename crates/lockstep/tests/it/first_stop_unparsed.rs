//! The first stop after changes that do not parse, of comments only, in a project with a wrong configuration, and
//! without the git program.

use lockstep_testkit::{HookEvent, TestEnv};

use crate::first_stop::{DEFINITION, DEPENDENT, delivered, shell, subagent};
use crate::first_stop_states::{project, stop};
use crate::{configured, inactive};

/// Half of a definition, with the other one gone.
const HALF: &str = "def salute(name:\n    return name\n";

fn write_and_stop(env: &TestEnv, agent: &str, content: &str) -> String {
    env.write("core.py", content);
    env.hook(&HookEvent::bash().by_agent(agent, "implementer")).assert_silent();
    env.hook(&HookEvent::subagent_stop(agent, "implementer")).assert_silent();
    delivered(env, &HookEvent::agent_done())
}

#[test]
fn definition_that_another_agent_completes_is_compared_with_the_last_parsed_content() {
    for session_start in [true, false] {
        for agent in ["a1", "a2"] {
            let env = project(DEFINITION, "");
            if session_start {
                env.hook(&HookEvent::session_start()).assert_silent();
            }
            let first = write_and_stop(&env, "a1", HALF);
            assert!(first.contains("not analysed: line 1 does not parse"), "{first}");
            let second = write_and_stop(&env, agent, &HALF.replace("name:", "name):"));
            assert!(second.contains("use.py:1,5 (refs greet) [breaks]"), "{agent}: {second}");
            let third = write_and_stop(&env, agent, "def salute(name):\n    return 2 * name\n");
            assert!(!third.contains("greet"), "the rename was reported: {third}");
        }
    }
}

/// The completing agent's own event has the half-written content as the former one.
#[test]
fn edit_event_that_completes_a_definition_names_the_dependent() {
    let env = project(DEFINITION, "");
    write_and_stop(&env, "a1", HALF);
    env.write("core.py", HALF.replace("name:", "name):"));
    env.hook(&HookEvent::edit("core.py").original_content(HALF).by_agent("a2", "implementer"))
        .assert_silent();
    env.hook(&HookEvent::subagent_stop("a2", "implementer")).assert_silent();
    let alert = delivered(&env, &HookEvent::agent_done());
    assert!(alert.contains("[breaks]"), "{alert}");
}

#[test]
fn conflict_markers_are_not_analysed_instead_of_changed_inside() {
    let sides = |ours: &str, theirs: &str| format!("<<<<<<< HEAD\n{ours}=======\n{theirs}>>>>>>> other\n");
    let body = DEFINITION.replace("    return name\n", &sides("    return name\n", "    return name * 2\n"));
    let header =
        DEFINITION.replace("def greet(name):\n", &sides("def greet(name):\n", "def salute(name):\n"));
    for content in [body, header] {
        let env = project(DEFINITION, "");
        let alert = write_and_stop(&env, "a1", &content);
        assert!(alert.contains("not analysed: line ") && alert.contains("use.py"), "{alert}");
        assert!(!alert.contains("inside") && !alert.contains("[breaks]"), "{alert}");
        let resolved = write_and_stop(&env, "a2", &DEFINITION.replace("greet", "salute"));
        assert!(resolved.contains("use.py:1,5 (refs greet) [breaks]"), "{resolved}");
    }
}

/// A dependent that was changed in the session counts as considered, if the change is known.
#[test]
fn changed_dependent_of_a_file_that_does_not_parse_is_named() {
    let env = project(DEFINITION, "");
    env.write("use.py", format!("# changed\n{DEPENDENT}"));
    let alert = write_and_stop(&env, "a1", HALF);
    assert!(alert.contains("use.py") && alert.contains("not analysed"), "{alert}");
}

#[test]
fn comments_in_scripts_and_documents_raise_no_alert() {
    for (path, content, dependent, from, to) in [
        ("lib.sh", "greet() {\n  echo\n}\n", ". ./lib.sh\ngreet\n", "greet", "# note\ngreet"),
        ("app.yml", "one: 1\ntwo: 2\n", "cat ./app.yml\n", "two", "# note\ntwo"),
        ("guide.md", "# Guide\n\ntext\n", "cat ./guide.md\n", "text", "<!-- note -->\ntext"),
    ] {
        let env = configured("");
        env.write(path, content);
        env.write("use.sh", dependent);
        env.git_script("git init -q && git add -A && git commit -qm first").assert_success();
        let change = |env: &TestEnv, content: &str| {
            env.write(path, content);
            env.hook(&subagent(HookEvent::bash())).assert_silent();
            env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
            delivered(env, &HookEvent::agent_done())
        };
        assert_eq!(change(&env, &content.replacen(from, to, 1)), "", "{path}");
        let alert = change(&env, &content.replace(from, "more"));
        assert!(alert.contains("use.sh"), "{path}: {alert}");
    }
}

/// Hooks use the valid keys of a configuration with problems, and so does the build that they start.
#[test]
fn problem_in_the_configuration_does_not_prevent_the_index() {
    for config in ["[impact]\ntime_limit = \"1ms\"\n", "[nonsense]\nkey = 1\n"] {
        let env = project(DEFINITION, "");
        env.write("lockstep.toml", config);
        shell(&env, "sed -i s/greet/salute/ core.py");
        stop(&env, config);
    }
}

#[test]
fn questions_are_answered_without_the_git_program() {
    let env = inactive();
    env.write("sub/core.py", DEFINITION);
    env.write("sub/use.py", DEPENDENT);
    env.git_script("git init -q && git add -A && git commit -qm first").assert_success();
    env.write("sub/core.py", DEFINITION.replace("greet", "salute"));
    let ask = |arguments: &[&str]| {
        let mut command = env.command(arguments);
        command.env("PATH", env.outside_dir()).current_dir(env.project().join("sub"));
        env.run(command, b"").snapshot()
    };
    for arguments in [&["index"][..], &["refs", "greet"], &["refs", "--dangling"]] {
        let answer = ask(arguments);
        assert!(answer.contains("git is not on PATH") && !answer.contains("error:"), "{answer}");
        assert!(arguments == ["index"] || answer.contains("sub/use.py:1"), "{answer}");
    }
    let changed = ask(&["impact", "core.py"]);
    assert!(changed.contains("sub/use.py:1: greet is now salute"), "{changed}");
    let unchanged = ask(&["impact", "use.py"]);
    assert!(unchanged.contains("has not changed"), "{unchanged}");
    let refused = ask(&["impact"]);
    assert!(refused.contains("name the changed files") && !refused.ends_with("exit 0\n"), "{refused}");
}
