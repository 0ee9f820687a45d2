//! Projects in which attacks are tried, and the answers of the program.

use std::path::Path;

use lockstep_testkit::{HookEvent, ProcessOutput, TestEnv};
use lockstep_wire::claude::samples;
use serde_json::json;

/// Runs `lockstep ARGS`, words separated by spaces.
pub(super) fn run(env: &TestEnv, args: &str) -> ProcessOutput {
    env.lockstep(args.split(' '))
}

/// Runs `lockstep ARGS`, which must succeed.
#[track_caller]
pub(super) fn must(env: &TestEnv, args: &str) {
    let output = run(env, args);
    assert!(output.code == Some(0), "`lockstep {args}` failed: {}", output.snapshot());
}

/// Runs a script of git that must succeed.
#[track_caller]
pub(super) fn must_git(env: &TestEnv, script: &str) -> String {
    let output = env.git_script(script);
    assert!(output.code == Some(0), "{script}: {}", output.snapshot());
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// An active project with the step `01-01`.
pub(super) fn with_step(program: &Path) -> TestEnv {
    let env = TestEnv::active(program);
    must(&env, "step new 01-01 --project auth --phases tdd-3");
    env
}

/// The same while gate 3 refuses a commit.
pub(super) fn begun(program: &Path) -> TestEnv {
    let env = with_step(program);
    must(&env, "step phase start 01-01 RED");
    env
}

/// Ends the phases before the commit and asks gate 2.
pub(super) fn make_ready(env: &TestEnv, step: &str) {
    for (phase, evidence) in [("RED", "false"), ("GREEN", "true")] {
        must(env, &format!("step phase start {step} {phase}"));
        must(env, &format!("step phase done {step} {phase} --run {evidence}"));
    }
    must(env, &format!("gate stop {step}"));
}

/// A repository with both hooks of git, a step, and the branches `main` and `topic`.
pub(super) fn repository(program: &Path) -> TestEnv {
    let env = with_step(program);
    env.write(".gitignore", ".lockstep/\nsteps/audit-*.log\n.claude/\n");
    must_git(&env, "git init -q --initial-branch=main");
    must(&env, "init --git-hook --quiet");
    must_git(
        &env,
        "git add -A && git commit -qm first && git switch -q -c topic && echo t > t && git add t && git commit -qm topic && \
         git switch -q main && echo m > m && git add m && git commit -qm main",
    );
    env
}

/// The same while gate 3 refuses a commit.
pub(super) fn refusing(program: &Path) -> TestEnv {
    let env = repository(program);
    must(&env, "step phase start 01-01 RED");
    env
}

/// A call of the client's shell, before it runs.
pub(super) fn bash(command: &str) -> HookEvent {
    HookEvent::from_sample(samples::PRE_TOOL_USE_BASH).with("tool_input", json!({"command": command}))
}

/// Returns true if a call is refused or left to the user, or a stop is refused.
pub(super) fn is_refused(output: &ProcessOutput) -> bool {
    let reply = String::from_utf8_lossy(&output.stdout);
    let decided =
        ["\"permissionDecision\":\"deny\"", "\"permissionDecision\":\"ask\"", "\"decision\":\"block\""];
    decided.iter().any(|decision| reply.contains(decision))
        || (output.code == Some(2) && output.stderr.starts_with(b"lockstep"))
}

/// Returns true if a hook exited normally without output.
pub(super) fn is_silent(output: &ProcessOutput) -> bool {
    output.code == Some(0) && output.stdout.is_empty()
}
