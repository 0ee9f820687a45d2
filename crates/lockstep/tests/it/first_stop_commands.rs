//! The first stop after commands of git, and after changes of links, modules, nested repositories and ignored files.

use lockstep_testkit::{HookEvent, TestEnv};
use serde_json::json;

use crate::first_stop::{DEFINITION, delivered, edit_event, shell, subagent};
use crate::first_stop_states::{project, stop};

/// Commands of git that change the definition, and the commits before them.
const GIT_COMMANDS: &[(&str, &str, &str)] = &[
    ("checkout", "git checkout -qb other && RENAME && git checkout -q -", "git checkout -q other"),
    ("new branch and commit", "", "git checkout -qb other && RENAME"),
    ("reset", "RENAME && git revert --no-edit HEAD > /dev/null", "git reset -q --hard HEAD~1"),
    ("revert", "RENAME && git revert --no-edit HEAD > /dev/null", "git revert --no-edit HEAD > /dev/null"),
    ("merge", "git checkout -qb other && RENAME && git checkout -q -", "git merge -q other"),
    ("amend", "", "RENAME && git commit -q --amend -m other"),
    ("stash", "RENAME && sed -i s/salute/greet/ core.py", "git stash -q"),
    (
        "stash and checkout",
        "RENAME && git tag renamed && git reset -q --hard HEAD~1 && echo x >> use.py",
        "git stash -q && git checkout -q renamed",
    ),
];

#[test]
fn dependent_is_named_if_git_changed_the_files() {
    for (name, before, command) in GIT_COMMANDS {
        for session_start in [true, false] {
            let script = |text: &str| {
                text.replace("RENAME", "sed -i s/greet/salute/ core.py && git commit -qam renamed")
            };
            // The commits of the project are older than the session.
            let env = project(DEFINITION, &script(before));
            if session_start {
                env.hook(&HookEvent::session_start()).assert_silent();
            }
            env.git_script(&format!("set -e; unset GIT_COMMITTER_DATE; {}", script(command)))
                .assert_success();
            env.hook(&subagent(HookEvent::bash())).assert_silent();
            stop(&env, &format!("{name}, start of the session seen: {session_start}"));
        }
    }
}

/// `sed -i` replaces every file that it is given.
#[test]
fn files_that_are_written_and_not_changed_are_not_counted() {
    for session_start in [true, false] {
        let env = project(DEFINITION, "");
        if session_start {
            env.hook(&HookEvent::session_start()).assert_silent();
        }
        shell(&env, "sed -i s/greet/salute/ core.py; sed -i s/nothing/else/ use.py");
        env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
        let alert = delivered(&env, &HookEvent::agent_done());
        assert!(alert.contains(": 1 files changed") && alert.contains("Changed: core.py ("), "{alert}");
    }
}

/// The dependents are of the same commit. Only those that break are worth an alert.
#[test]
fn fitting_dependents_of_files_that_git_wrote_raise_no_alert() {
    let change = "sed -i 's/return name/return name * 2/' core.py && git commit -qam other";
    let other = format!("git checkout -qb other && {change} && git checkout -q -");
    for (before, command, is_told) in [
        (other.as_str(), "git checkout -q other", false),
        (&other, "git merge -q other", false),
        (change, "git reset -q --hard HEAD~1", false),
        (&other, "git checkout -q other && sed -i s/2/3/ core.py && git commit -qam more", true),
        ("", change, true),
    ] {
        for session_start in [true, false] {
            let env = project(DEFINITION, before);
            if session_start {
                env.hook(&HookEvent::session_start()).assert_silent();
            }
            env.git_script(&format!("set -e; unset GIT_COMMITTER_DATE; {command}")).assert_success();
            env.hook(&subagent(HookEvent::bash())).assert_silent();
            let output = said_at_stop(&env, false);
            assert_eq!(output.contains("use.py"), is_told, "{command}: {output}");
        }
    }
}

/// A later event does not know that the file existed before.
#[test]
fn recreated_file_is_compared_with_its_first_content() {
    for session_start in [true, false] {
        let env = project(DEFINITION, "");
        if session_start {
            env.hook(&HookEvent::session_start()).assert_silent();
        }
        shell(&env, "rm core.py");
        shell(&env, "printf 'def salute(name):\\n    return name\\n' > core.py");
        stop(&env, &format!("created again, start of the session seen: {session_start}"));
    }
}

#[test]
fn module_that_becomes_a_package_names_the_dependent() {
    for session_start in [true, false] {
        for script in [
            "mkdir core && sed s/greet/salute/ core.py > core/__init__.py && rm core.py",
            "mkdir core && mv core.py core/impl.py && touch core/__init__.py",
        ] {
            let env = project(DEFINITION, "");
            if session_start {
                env.hook(&HookEvent::session_start()).assert_silent();
            }
            shell(&env, script);
            stop(&env, &format!("{script}, start of the session seen: {session_start}"));
        }
    }
}

/// Importers name the link. The change is in its target.
#[test]
fn change_of_a_file_behind_a_link_names_the_dependent() {
    for session_start in [true, false] {
        for (name, script, act) in [
            (
                "file",
                "mkdir shared && mv core.py shared/kernel.txt && ln -s shared/kernel.txt core.py",
                "shared/kernel.txt",
            ),
            (
                "directory",
                "mkdir real && mv core.py real/ && ln -s real pkg && sed -i s/core/pkg.core/ use.py",
                "real/core.py",
            ),
            (
                "through the link",
                "mkdir shared && mv core.py shared/kernel.py && ln -s shared/kernel.py core.py",
                "core.py",
            ),
        ] {
            let env = project(DEFINITION, &format!("{script} && git add -A && git commit -qm links"));
            if session_start {
                env.hook(&HookEvent::session_start()).assert_silent();
            }
            shell(&env, &format!("sed -i --follow-symlinks s/greet/salute/ {act}"));
            stop(&env, &format!("{name}, start of the session seen: {session_start}"));
        }
    }
    let env =
        project(DEFINITION, "mkdir shared && mv core.py shared/kernel.py && ln -s shared/kernel.py core.py");
    env.hook(&HookEvent::session_start()).assert_silent();
    env.shell("sed -i --follow-symlinks 's/def greet/def salute/' core.py");
    env.hook(&edit_event()).assert_silent();
    stop(&env, "edit of the link");
}

/// Creates the repository `lib` with the definition.
const LIBRARY: &str = "git init -q lib && cd lib && printf 'def greet(name):\\n    return name\\n' > core.py && \
     git add -A && git commit -qm lib && cd ..";

#[test]
fn change_inside_a_nested_repository_is_reported_as_not_analysed() {
    let submodule = format!(
        "(cd .. && {LIBRARY}) && git -c protocol.file.allow=always submodule --quiet add $PWD/../lib lib && \
         git commit -qm lib"
    );
    for (name, script) in
        [("submodule", submodule.as_str()), ("clone", LIBRARY), ("worktree", "git worktree add -q lib")]
    {
        for (session_start, is_lead) in [(true, false), (false, false), (true, true)] {
            let case = format!("{name}, start of the session seen: {session_start}, lead: {is_lead}");
            let env = project(DEFINITION, script);
            if session_start {
                env.hook(&HookEvent::session_start()).assert_silent();
            }
            shell(&env, "sleep 0.05; sed -i s/greet/salute/ lib/core.py");
            let output = said_at_stop(&env, is_lead);
            assert!(output.contains("lib") && output.contains("not analysed"), "{case}: {output}");
            assert_eq!(said_at_stop(&env, is_lead), "", "{case}: once");
        }
    }
}

/// Stops the agent, and returns the text that the Lead receives.
fn said_at_stop(env: &TestEnv, is_lead: bool) -> String {
    if is_lead {
        return delivered(env, &HookEvent::stop());
    }
    env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
    delivered(env, &HookEvent::agent_done())
}

#[test]
fn ignored_nested_repository_is_not_reported() {
    let env = project(DEFINITION, &format!("{LIBRARY}; echo lib/ > .git/info/exclude"));
    env.hook(&HookEvent::session_start()).assert_silent();
    shell(&env, "sleep 0.05; sed -i s/greet/salute/ lib/core.py");
    assert_eq!(said_at_stop(&env, false), "");
}

#[test]
fn change_of_an_ignored_tracked_file_names_the_dependent() {
    for (name, script, act) in [
        (
            "rule",
            "echo core.py > .gitignore && git add .gitignore && git commit -qm rule",
            "sed -i s/greet/salute/ core.py",
        ),
        ("exclude", "echo core.py > .git/info/exclude", "sed -i s/greet/salute/ core.py"),
        ("deleted", "echo core.py > .git/info/exclude", "rm core.py"),
        ("moved", "echo core.py > .git/info/exclude", "mv core.py kernel.py"),
        ("newly ignored", "", "sed -i s/greet/salute/ core.py; echo core.py > .gitignore"),
    ] {
        for session_start in [true, false] {
            let env = project(DEFINITION, script);
            if session_start {
                env.hook(&HookEvent::session_start()).assert_silent();
            }
            shell(&env, act);
            stop(&env, &format!("{name}, start of the session seen: {session_start}"));
            assert_eq!(said_at_stop(&env, false), "", "{name}: once");
        }
    }
    let env = project(DEFINITION, "echo core.py > .lockstepignore && git add -A && git commit -qm rule");
    env.hook(&HookEvent::session_start()).assert_silent();
    shell(&env, "sed -i s/greet/salute/ core.py");
    assert_eq!(said_at_stop(&env, false), "", "left out by the project's own rule");
}

/// Nothing is resolved in files that the index does not have, so only their text can show a use.
#[test]
fn dependent_outside_the_index_is_named() {
    for (name, script) in [
        ("too large", "printf '# %01100000d\\n' 0 >> use.py && git commit -qam large"),
        ("ignored, but tracked", "echo use.py > .git/info/exclude"),
    ] {
        let env = project(DEFINITION, script);
        env.hook(&HookEvent::session_start()).assert_silent();
        shell(&env, "sed -i s/greet/salute/ core.py");
        stop(&env, name);
        let asked = env.lockstep(["impact"]).assert_success();
        assert!(asked.contains("use.py:1: from core import greet"), "{name}: {asked}");
        assert!(asked.contains("1 file was only searched for the changed names"), "{name}: {asked}");
    }
    let left_out = "printf 'use.py\\n' > .lockstepignore && git add -A && git commit -qm rule";
    let excluded = "printf '[scope]\\nexclude = [\"use.py\"]\\n' > lockstep.toml";
    for script in [left_out, excluded] {
        let env = project(DEFINITION, script);
        env.hook(&HookEvent::session_start()).assert_silent();
        shell(&env, "sed -i s/greet/salute/ core.py");
        assert_eq!(said_at_stop(&env, false), "", "{script}");
    }
}

#[test]
fn change_behind_a_link_that_leaves_the_project_is_reported() {
    let file = "mkdir ../shared && mv core.py ../shared/kernel.py && ln -s ../shared/kernel.py core.py";
    let directory = "mkdir ../shared && mv core.py ../shared && ln -s ../shared pkg";
    for session_start in [true, false] {
        for (script, act, expected) in [
            (file, "../shared/kernel.py", "use.py"),
            (file, "--follow-symlinks core.py", "use.py"),
            (directory, "../shared/core.py", "pkg"),
        ] {
            let case = format!("{act}, start of the session seen: {session_start}");
            let env = project(DEFINITION, &format!("{script} && git add -A && git commit -qm link"));
            if session_start {
                env.hook(&HookEvent::session_start()).assert_silent();
            }
            shell(&env, &format!("sleep 0.05; sed -i s/greet/salute/ {act}"));
            let output = said_at_stop(&env, false);
            assert!(output.contains(expected), "{case}: {output}");
        }
    }
}

#[test]
fn edit_with_a_null_original_names_the_dependent() {
    for session_start in [true, false] {
        let env = project(DEFINITION, "");
        if session_start {
            env.hook(&HookEvent::session_start()).assert_silent();
        }
        env.shell("sed -i 's/def greet/def salute/' core.py");
        let response = json!({"filePath": "/repo/core.py", "originalFile": null});
        env.hook(&edit_event().with("tool_response", response)).assert_silent();
        stop(&env, &format!("start of the session seen: {session_start}"));
    }
}
