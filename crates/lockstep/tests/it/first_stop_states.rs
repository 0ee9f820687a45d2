//! The first stop in repositories and files of every kind: the storage of the commit, the project's position
//! in the repository, earlier changes, and the encoding of the file.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use lockstep_testkit::{HookEvent, TestEnv};
use lockstep_wire::claude::samples;
use serde_json::json;

use crate::configured;
use crate::first_stop::{DEFINITION, DEPENDENT, assert_named, delivered, edit_event, shell, subagent};

/// Commits everything in the project.
const COMMIT: &str = "git init -q && git add -A && git commit -qm first";

/// A kind of repository, and the script that turns the written project into one. `$ROOT` is the directory around the project.
type State = (&'static str, &'static str);

/// The commit has the content that the session starts with.
const CLEAN: &[State] = &[
    ("loose objects", ""),
    ("packed objects and references", "git gc -q && git pack-refs --all && rm -f .git/ORIG_HEAD"),
    (
        "deltas",
        "for n in 1 2 3 4; do for m in 1 2 3 4 5 6 7 8; do echo \"# $n$m a longer line of text\" >> core.py; done; \
         git commit -qam $n; done; git repack -adfq --depth=50",
    ),
    ("list of version 4", "git update-index --index-version 4"),
    (
        "split list",
        "git update-index --split-index && echo x > more.txt && git add more.txt && git commit -qm more",
    ),
    ("detached head", "git checkout -q --detach"),
    (
        "shallow clone",
        "git commit -q --allow-empty -m second && mv .git ../old && \
         git clone -q --depth 1 --no-checkout file://$PWD/../old ../new && mv ../new/.git . && git reset -q",
    ),
    (
        "alternates",
        "mv .git ../old && git clone -q --shared --no-checkout ../old ../new && mv ../new/.git . && git reset -q",
    ),
    (
        "blobs missing",
        "mv .git ../old && git -C ../old config uploadpack.allowFilter true && \
         git clone -q --filter=blob:none --no-checkout file://$PWD/../old ../new && mv ../new/.git . && \
         git config --unset-all remote.origin.promisor; git reset -q; \
         git config remote.origin.promisor true; rm -rf ../old",
    ),
    (
        "linked worktree",
        "git -C . config core.bare true && mv .git ../bare && git --git-dir=../bare worktree add -q -f --no-checkout ../tree && \
         mv ../tree/.git . && git --git-dir=../bare worktree repair $PWD 2>/dev/null; git reset -q",
    ),
    (
        "sparse checkout",
        "mkdir -p aside && echo x > aside/x.txt && git add -A && git commit -qm aside && \
         git sparse-checkout set --cone --sparse-index src",
    ),
    (
        "merge in progress",
        "git checkout -qb other && echo a > other.txt && git add -A && git commit -qm other && \
         git checkout -q - && echo b > other.txt && git add -A && git commit -qm ours && (git merge -q other || true)",
    ),
    (
        "unchanged flags",
        "git update-index --assume-unchanged core.py && git update-index --skip-worktree use.py",
    ),
    (
        "environment of a merge driver",
        "git config core.fsmonitor false && git config core.untrackedCache true && git status -s > /dev/null",
    ),
];

/// Uncommitted before the session. The committed definition has another name.
const DIRTY: &[State] = &[
    ("unstaged", "sed -i s/hello/greet/ core.py"),
    ("staged", "sed -i s/hello/greet/ core.py && git add core.py"),
    ("staged, then changed", "sed -i s/hello/hi/ core.py && git add core.py && sed -i s/hi/greet/ core.py"),
    (
        "intended to add",
        "git rm -q --cached core.py && git commit -qm less && sed -i s/hello/greet/ core.py && git add -N core.py",
    ),
    (
        "staged, never committed",
        "git rm -q --cached core.py && git commit -qm less && sed -i s/hello/greet/ core.py && git add core.py",
    ),
    ("removed from the list", "sed -i s/hello/greet/ core.py && git rm -q --cached core.py"),
    (
        "copied from a committed file",
        "mv core.py kernel.py && git add -A && git commit -qm moved && sed s/hello/greet/ kernel.py > core.py",
    ),
];

/// A name, and the actions of an agent.
type Act = (&'static str, fn(&TestEnv));

/// Ways to rename or remove the definition.
const ACTS: &[Act] = &[
    ("sed", |env| shell(env, "sed -i s/greet/salute/ core.py")),
    ("rm", |env| shell(env, "rm core.py")),
    ("mv", |env| shell(env, "mkdir -p deep && mv core.py deep/kernel.py")),
    ("edit without former content", |env| {
        env.shell("sed -i 's/def greet/def salute/' core.py");
        env.hook(&edit_event()).assert_silent();
    }),
];

pub(crate) fn project(definition: &str, script: &str) -> TestEnv {
    let env = configured("");
    env.write("core.py", definition);
    env.write("use.py", DEPENDENT);
    env.git_script(&format!("set -e; {COMMIT}; {script}")).assert_success();
    env
}

pub(crate) fn stop(env: &TestEnv, name: &str) {
    env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
    assert_named(env, name, delivered(env, &HookEvent::agent_done()));
}

#[test]
fn dependent_is_named_however_git_stores_the_commit() {
    for (state, script) in CLEAN {
        for (act, run) in ACTS {
            for session_start in [true, false] {
                let env = project(DEFINITION, script);
                if session_start {
                    env.hook(&HookEvent::session_start()).assert_silent();
                }
                run(&env);
                stop(&env, &format!("{state}, {act}, start of the session seen: {session_start}"));
            }
        }
    }
}

#[test]
fn dependent_is_named_whatever_was_uncommitted_before_the_session() {
    for (state, script) in DIRTY {
        for (act, run) in ACTS {
            let env = project(&DEFINITION.replace("greet", "hello"), script);
            env.hook(&HookEvent::session_start()).assert_silent();
            run(&env);
            stop(&env, &format!("{state}, {act}"));
        }
    }
}

/// A name, and the bytes of a text.
type Encoding = (&'static str, fn(&str) -> Vec<u8>);

/// Encodings of the definition.
const ENCODINGS: &[Encoding] = &[
    ("CRLF", |text| text.replace('\n', "\r\n").into_bytes()),
    ("byte order mark", |text| format!("\u{feff}{text}").into_bytes()),
    ("UTF-16", |text| [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()),
    ("Latin-1", |text| {
        let mut bytes = text.replace("Core", "K\u{1}rn").into_bytes();
        bytes.iter_mut().filter(|byte| **byte == 1).for_each(|byte| *byte = 0xe9);
        bytes
    }),
];

#[test]
fn dependent_of_a_file_in_any_encoding_is_named() {
    for (encoding, encode) in ENCODINGS {
        for dirty in [false, true] {
            for session_start in [true, false] {
                let env = project(DEFINITION, "");
                env.write("core.py", encode(DEFINITION));
                if !dirty {
                    env.git(["commit", "--quiet", "-am", "encoded"]);
                }
                if session_start {
                    env.hook(&HookEvent::session_start()).assert_silent();
                }
                env.write("core.py", encode(&DEFINITION.replace("greet", "salute")));
                env.hook(&subagent(HookEvent::bash())).assert_silent();
                stop(
                    &env,
                    &format!("{encoding}, uncommitted: {dirty}, start of the session seen: {session_start}"),
                );
            }
        }
    }
}

#[test]
fn dependent_in_any_encoding_is_named() {
    for (encoding, encode) in ENCODINGS {
        let env = project(DEFINITION, "");
        env.write("use.py", encode(&format!("\"\"\"Core.\"\"\"\n{DEPENDENT}")));
        env.git(["commit", "--quiet", "-am", "encoded"]);
        env.hook(&HookEvent::session_start()).assert_silent();
        shell(&env, "sed -i s/greet/salute/ core.py");
        stop(&env, encoding);
        let asked = env.lockstep(["impact"]).assert_success();
        assert!(asked.contains("use.py:2: greet is now salute"), "{encoding}: {asked}");
    }
}

/// Git converts line ends at the checkout, so a file on disk never equals the stored content.
#[test]
fn converted_line_ends_are_no_change() {
    let env = configured("");
    env.write("core.py", DEFINITION.replace('\n', "\r\n"));
    env.write("use.py", DEPENDENT.replace('\n', "\r\n"));
    env.git_script(&format!("git init -q && git config core.autocrlf true && {COMMIT}")).assert_success();
    for session_start in [false, true] {
        if session_start {
            env.hook(&HookEvent::session_start()).assert_silent();
        }
        shell(&env, "sed -i 's/^def other/# comment\\r\\ndef other/' core.py");
        env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
        assert_eq!(delivered(&env, &HookEvent::agent_done()), "", "only a comment changed");
    }
    shell(&env, "sed -i s/greet/salute/ core.py");
    stop(&env, "autocrlf");
}

/// Sends an event whose paths are below `paths` to a hook whose project directory is `root`, both relative to the environment's root.
fn hook_below(env: &TestEnv, (root, paths): (&str, &str), cwd: &str, event: &HookEvent) -> String {
    let (root, paths) = (env.root().join(root), env.root().join(paths));
    let event = event.clone().with("cwd", paths.join(cwd).to_str().unwrap());
    let mut command: Command = env.hook_command();
    command.env("CLAUDE_PROJECT_DIR", &root);
    env.run(command, event.json(&paths).as_bytes()).context().map(|(_, text)| text).unwrap_or_default()
}

#[test]
fn dependent_is_named_through_a_link_to_the_project_and_from_a_subdirectory() {
    let diff = json!({"files": [{"filePath": "/repo/core.py", "hunks": [{"oldStart": 4, "oldLines": 1, "newStart": 4,
        "newLines": 1, "lines": ["-def greet(name):", "+def salute(name):"]}]}],
        "moreFiles": 0, "changedFiles": ["/repo/core.py"]});
    for root in ["link", "project"] {
        for paths in ["link", "project"] {
            for cwd in ["", "sub/deep"] {
                for act in ["sed", "edit", "listed"] {
                    let env = project(DEFINITION, "mkdir -p sub/deep && echo x > sub/deep/x.txt");
                    symlink(env.project(), env.root().join("link")).unwrap();
                    let send = |event: &HookEvent| hook_below(&env, (root, paths), cwd, event);
                    send(&HookEvent::session_start());
                    env.shell("sed -i 's/def greet/def salute/' core.py");
                    send(&match act {
                        "sed" => subagent(HookEvent::bash()),
                        "listed" => subagent(HookEvent::bash())
                            .with("tool_response", json!({"stdout": "", "bashEditDiff": diff})),
                        _ => edit_event(),
                    });
                    send(&HookEvent::subagent_stop("a1", "implementer"));
                    let alert = send(&HookEvent::agent_done());
                    let is_named = alert.contains("1 files changed") && alert.contains("use.py");
                    assert!(is_named, "{root}, {paths}, {cwd:?}, {act}: {alert}");
                }
            }
        }
    }
}

#[test]
fn dependent_is_named_in_a_part_of_a_larger_repository() {
    for session_start in [true, false] {
        for script in ["sed -i s/greet/salute/ core.py", "rm core.py"] {
            let env = configured("");
            env.write("core.py", DEFINITION);
            env.write("use.py", DEPENDENT);
            env.git_script("cd .. && git init -q && git add project && git commit -qm first")
                .assert_success();
            if session_start {
                env.hook(&HookEvent::session_start()).assert_silent();
            }
            shell(&env, script);
            stop(&env, script);
        }
    }
}

#[test]
fn dependent_is_named_in_a_submodule() {
    for session_start in [true, false] {
        let env = configured("");
        env.git_script(
            "set -e; mkdir ../lib && cd ../lib && git init -q && printf 'def greet(name):\\n    return name\\n' > core.py && \
             git add -A && git commit -qm lib && cd ../project && git init -q && \
             git -c protocol.file.allow=always submodule --quiet add ../lib lib && git commit -qm first",
        )
        .assert_success();
        env.write("lib/lockstep.toml", "");
        env.write("lib/use.py", DEPENDENT);
        let send = |event: &HookEvent| hook_below(&env, ("project/lib", "project/lib"), "", event);
        if session_start {
            send(&HookEvent::session_start());
        }
        env.shell("sed -i s/greet/salute/ lib/core.py");
        send(&subagent(HookEvent::bash()));
        send(&HookEvent::subagent_stop("a1", "implementer"));
        let alert = send(&HookEvent::agent_done());
        assert!(alert.contains("use.py"), "start of the session seen: {session_start}: {alert}");
    }
}

#[test]
fn moved_directory_names_the_dependents_of_its_files() {
    for session_start in [true, false] {
        let env = configured("");
        env.write("pkg/__init__.py", "");
        env.write("pkg/core.py", DEFINITION);
        env.write("pkg/more.py", "def more():\n    return 2\n");
        env.write("use.py", "from pkg.core import greet\n\ngreet(1)\n");
        env.git_script(COMMIT).assert_success();
        if session_start {
            env.hook(&HookEvent::session_start()).assert_silent();
        }
        shell(&env, "mv pkg kernel");
        stop(&env, &format!("moved directory, start of the session seen: {session_start}"));
    }
}

#[test]
fn file_that_one_agent_creates_and_another_changes_names_the_dependent() {
    let env = project(DEFINITION, "");
    env.hook(&HookEvent::session_start()).assert_silent();
    shell(
        &env,
        "printf 'def wave():\\n    return 1\\n' > fresh.py; printf 'from fresh import wave\\nwave()\\n' > user.py",
    );
    env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
    assert_eq!(delivered(&env, &HookEvent::agent_done()), "", "a new file that works breaks nothing");
    env.shell("sed -i s/wave/nod/ fresh.py");
    env.hook(&HookEvent::bash().by_agent("a2", "implementer")).assert_silent();
    env.hook(&HookEvent::subagent_stop("a2", "implementer")).assert_silent();
    let alert = delivered(&env, &HookEvent::agent_done());
    assert!(alert.contains("user.py"), "{alert}");
}

#[test]
fn changes_of_an_interrupted_session_are_named_after_resume() {
    for lead in [true, false] {
        let env = project(DEFINITION, "");
        env.hook(&HookEvent::session_start()).assert_silent();
        env.shell("sed -i s/greet/salute/ core.py");
        let bash = if lead { HookEvent::bash() } else { subagent(HookEvent::bash()) };
        env.hook(&bash).assert_silent();
        // The client was killed before the stop.
        env.hook(&HookEvent::session_start().with("source", "resume")).assert_silent();
        let name = format!("resumed, by the Lead: {lead}");
        if lead {
            assert_named(&env, &name, delivered(&env, &HookEvent::stop()));
        } else {
            stop(&env, &name);
        }
    }
}

#[test]
fn changed_notebook_names_what_refers_to_it() {
    let env = project(DEFINITION, "");
    let cell = |source: &str| {
        json!({"cells": [{"cell_type": "code", "source": [source], "outputs": [], "metadata": {}, "execution_count": null}],
        "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).to_string()
    };
    env.write("analysis.ipynb", cell("def greet():\n    return 1"));
    env.write("readme.md", "See [the analysis](analysis.ipynb).\n");
    env.git_script("git add -A && git commit -qm notebook").assert_success();
    env.hook(&HookEvent::session_start()).assert_silent();
    env.write("analysis.ipynb", cell("def salute():\n    return 1"));
    let input = json!({"notebook_path": "/repo/analysis.ipynb", "new_source": "def salute():\n    return 1"});
    env.hook(
        &subagent(HookEvent::from_sample(samples::POST_TOOL_USE_NOTEBOOK_EDIT)).with("tool_input", input),
    )
    .assert_silent();
    env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
    let alert = delivered(&env, &HookEvent::agent_done());
    assert!(alert.contains("readme.md") || alert.contains("not analysed"), "{alert}");
    assert!(fs::read_to_string(env.state().join("reports/s1/1.yaml")).unwrap().contains("analysis.ipynb"));
}

/// The original of a file that was ignored is not known, so all of it counts as changed.
#[test]
fn file_that_is_no_longer_ignored_names_its_dependent() {
    let env = configured("");
    env.write(".gitignore", "core.py\n");
    env.write("core.py", DEFINITION);
    env.write("use.py", DEPENDENT);
    env.git_script(COMMIT).assert_success();
    env.hook(&HookEvent::session_start()).assert_silent();
    shell(&env, "echo '*.log' > .gitignore; sed -i s/greet/salute/ core.py");
    stop(&env, "no longer ignored");
    for session_start in [true, false] {
        let env = configured("");
        env.write(".gitignore", "core.py\n");
        env.write("core.py", DEFINITION);
        env.write("use.py", DEPENDENT);
        env.git_script(COMMIT).assert_success();
        if session_start {
            env.hook(&HookEvent::session_start()).assert_silent();
        }
        shell(&env, "sed -i s/greet/salute/ core.py; sleep 0.1");
        shell(&env, "rm .gitignore");
        stop(&env, &format!("ignored when it was edited, start of the session seen: {session_start}"));
    }
    shell(&env, "printf 'def wave():\\n    return 1\\n' > fresh.py");
    env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
    assert_eq!(delivered(&env, &HookEvent::agent_done()), "", "a new file that nothing uses");
}

/// The name of the file was changed before the session. Nothing but an event before the command knows its content.
#[test]
fn first_event_without_a_session_start_saves_file_states() {
    for (first, event) in [
        ("prompt", HookEvent::prompt()),
        ("start of a command", subagent(HookEvent::from_sample(samples::PRE_TOOL_USE_BASH))),
    ] {
        for (state, script) in DIRTY {
            let env = project(&DEFINITION.replace("greet", "hello"), script);
            // As `init` does.
            env.lockstep(["index", "--quiet"]).assert_success();
            env.hook(&event).assert_silent();
            shell(&env, "sed -i s/greet/salute/ core.py");
            stop(&env, &format!("{first}, {state}"));
        }
    }
}

/// The index has the former definitions of a file and not its text, which has more names. The commit has the text.
#[test]
fn single_event_after_a_command_names_users_of_non_definitions() {
    let skill = |name: &str| format!("---\nname: {name}\ndescription: greets\n---\n\n# Greeting\n");
    let env = configured("");
    env.write("skills/core/SKILL.md", skill("greet-people"));
    env.write("skills/use/SKILL.md", "---\nname: use\n---\n\nThen use the skill `greet-people`.\n");
    env.git_script(COMMIT).assert_success();
    env.shell("echo More. >> skills/core/SKILL.md");
    env.lockstep(["index", "--quiet"]).assert_success();
    shell(&env, "sed -i s/greet-people/salute-people/ skills/core/SKILL.md");
    env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
    let alert = delivered(&env, &HookEvent::agent_done());
    assert!(alert.contains("use/SKILL.md:5 (refs greet-people) [breaks]"), "{alert}");
}

#[test]
fn other_line_ends_of_a_skill_raise_no_alert() {
    let env = project(
        "",
        "mkdir -p skills/core skills/use && printf -- '---\\nname: core\\n---\\n\\nText.\\n' > skills/core/SKILL.md && \
        printf -- '---\\nname: use\\n---\\n\\nUse the skill `core`.\\n' > skills/use/SKILL.md && git add -A && git commit -qm skills",
    );
    env.hook(&HookEvent::session_start()).assert_silent();
    shell(&env, "sed -i 's/$/\\r/' skills/core/SKILL.md");
    env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
    assert_eq!(delivered(&env, &HookEvent::agent_done()), "");
}

/// Nothing knows the content that the file had. A name that its importers take and that it does not have shows what it was.
#[test]
fn single_event_after_a_command_names_dependents_of_uncommitted_files() {
    for (state, script) in DIRTY.iter().filter(|(state, _)| *state != "copied from a committed file") {
        let env = project(&DEFINITION.replace("greet", "hello"), script);
        shell(&env, "sed -i s/greet/salute/ core.py");
        stop(&env, state);
    }
    let env = project(&DEFINITION.replace("greet", "hello"), "sed -i s/hello/greet/ core.py");
    shell(&env, "sed -i 's/^def other/# comment\\ndef other/' core.py");
    env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
    let alert = delivered(&env, &HookEvent::agent_done());
    assert!(!alert.contains("use.py"), "the dependent fits: {alert}");
}
