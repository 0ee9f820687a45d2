//! The first stop after commands of git, and after changes of links, modules and submodules.

use lockstep_testkit::HookEvent;

use crate::configured;
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

/// A later event does not know that the file existed before.
#[test]
fn file_that_is_deleted_and_created_again_is_compared_with_the_first_content() {
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

#[test]
fn change_inside_a_submodule_is_said_to_be_not_analysed() {
    for session_start in [true, false] {
        let env = configured("");
        env.write("use.py", "from lib.core import greet\n\ngreet(1)\n");
        env.git_script(
            "set -e; mkdir ../lib && cd ../lib && git init -q && printf 'def greet(name):\\n    return name\\n' > core.py && \
             git add -A && git commit -qm lib && cd ../project && git init -q && \
             git -c protocol.file.allow=always submodule --quiet add ../lib lib && git add -A && git commit -qm first",
        )
        .assert_success();
        if session_start {
            env.hook(&HookEvent::session_start()).assert_silent();
        }
        shell(&env, "sleep 0.05; sed -i s/greet/salute/ lib/core.py");
        env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
        let said = delivered(&env, &HookEvent::agent_done());
        assert!(said.contains("lib") && said.contains("not analysed"), "{session_start}: {said}");
        env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
        assert_eq!(delivered(&env, &HookEvent::agent_done()), "", "once");
    }
}
