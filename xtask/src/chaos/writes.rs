//! Writes of a step's agent outside its boundary, and programs that a repository's configuration names.

use lockstep_testkit::step_agent::{invoke, prompt, transcript};
use lockstep_testkit::{HookEvent, TestEnv, write_script};
use lockstep_wire::claude::samples;
use serde_json::json;

use super::scene::{is_refused, must, repository};
use super::trial::{Trial, Verdict};

/// Places outside of `src`, by paths that begin in the project.
const OUTSIDE: &[&str] = &[
    "docs/x.md",
    "docs/new.md",
    "lockstep.toml",
    "steps/01-01.json",
    ".git/config",
    ".GIT/hooks/pre-commit",
    ".lockstep/x",
    "SRC/a.rs",
    "src /a.rs",
    "srcs/a.rs",
    "../elsewhere/x",
    "src/links/docs/x.md",
    "src/links/docs/new.md",
    "src/links/dangling",
    "src/links/hard",
    "src/links/here/../../docs/x.md",
    "src/links/git/config",
];

/// Ways to the beginning of a path.
const DETOURS: &[&str] = &["", "./", "src/../", "src/links/../../", "src//..//./", "docs/../"];

fn running(trial: &Trial<'_>) -> TestEnv {
    let env = TestEnv::active(trial.program);
    env.lockstep(["step", "new", "01-01", "--project", "auth", "--phases", "tdd-3", "--allow", "src/**"])
        .assert_success();
    must(&env, "step phase start 01-01 RED");
    let prompt = prompt(&env);
    env.hook(&invoke(&prompt)).assert_silent();
    transcript(&env, "a1", &prompt, 1);
    env.write("docs/x.md", "old");
    env.write("src/links/a.rs", "old");
    // `here/..` is `src/links` in the text of a path, and `src` on the disk.
    env.shell(
        "cd src/links && ln -s ../../docs docs && ln -s ../../docs/not-yet.md dangling && ln -s . here && \
         ln -s ../../.git git && ln ../../docs/x.md hard",
    );
    env
}

fn write(tool: &str, field: &str, path: &str) -> HookEvent {
    let input = json!({field: path, "content": "x", "old_string": "a", "new_string": "b", "new_source": "x"});
    HookEvent::from_sample(samples::PRE_TOOL_USE_EDIT_IN_SUBAGENT)
        .with("tool_name", tool)
        .with("tool_input", input)
        .by_agent("a1", "implementer")
}

pub(super) fn attack(trial: &mut Trial<'_>) {
    let tools = [
        ("Write", "file_path"),
        ("Edit", "file_path"),
        ("MultiEdit", "file_path"),
        ("NotebookEdit", "notebook_path"),
        ("mcp__filesystem__write_file", "path"),
        ("mcp__serena__create_text_file", "relative_path"),
        ("mcp__ide__replaceText", "filePath"),
    ];
    let env = running(trial);
    for (tool, field) in tools {
        trial.case(format!("{tool} writes inside the boundary"), || {
            let output = env.hook(&write(tool, field, "src/links/a.rs"));
            Verdict::held_if(!is_refused(&output), || output.snapshot())
        });
    }
    for _ in 0..trial.limit {
        let numbers = &mut trial.numbers;
        let (tool, field) = *numbers.choose(&tools);
        let mut path = format!("{}{}", numbers.choose(DETOURS), numbers.choose(OUTSIDE));
        if numbers.one_in(4) {
            path = format!("{}/{path}", env.project().display());
        }
        trial.case(format!("{tool} {path}"), || {
            let output = env.hook(&write(tool, field, &path));
            Verdict::held_if(is_refused(&output), || output.snapshot())
        });
    }
}

pub(super) fn attack_configuration(trial: &mut Trial<'_>) {
    let keys = [
        "core.fsmonitor",
        "core.pager",
        "core.sshCommand",
        "core.editor",
        "core.askPass",
        "diff.external",
        "diff.x.textconv",
        "diff.x.command",
        "gpg.program",
        "pager.log",
        "pager.diff",
        "alias.diff",
        "alias.log",
        "uploadpack.packObjectsHook",
        "merge.x.driver",
        "core.hooksPath",
    ];
    let verbs = [
        "impact",
        "changes",
        "index",
        "refs a",
        "refs c",
        "map build",
        "gate commit",
        "gate ci HEAD~1..HEAD",
        "audit verify",
        "step phase start 01-01 RED",
        "cascade start",
        "doctor",
    ];
    let all = keys.iter().flat_map(|key| verbs.iter().map(move |verb| (*key, *verb)));
    for (key, verb) in trial.sample(all) {
        let env = repository(trial.program);
        trial.case(format!("{key}; {verb}"), || {
            env.write(".gitattributes", "*.rs diff=x merge=x\n");
            env.write("a.rs", "pub fn a() {}\n");
            env.git(["add", "-A"]);
            env.git(["commit", "--quiet", "-m", "more"]);
            env.write("a.rs", "pub fn c() {}\n");
            let mark = env.outside_dir().join("started");
            let hooks = env.outside_dir().join("hooks");
            std::fs::create_dir(&hooks).expect("a directory");
            let script = format!("#!/bin/sh\ntouch {}\n", mark.display());
            for hook in ["post-index-change", "post-checkout", "reference-transaction", "program"] {
                write_script(&hooks.join(hook), &script);
            }
            let value = if key == "core.hooksPath" { hooks.clone() } else { hooks.join("program") };
            env.git(["config", key, &value.display().to_string()]);
            let output = env.lockstep(verb.split(' '));
            Verdict::held_if(!mark.exists(), || output.snapshot())
        });
    }
}
