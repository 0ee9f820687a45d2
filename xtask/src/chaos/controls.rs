//! Legitimate work: a program that refuses everything fails here.

use lockstep_testkit::attacks::{event_forms, harmless_command};
use lockstep_testkit::step_agent::{invoke, prompt, stop, transcript};
use lockstep_testkit::{HookEvent, TestEnv};

use super::scene::{
    bash, begun, is_refused, is_silent, make_ready, must, must_git, repository, run, with_step,
};
use super::trial::{Trial, Verdict};

pub(super) fn attack(trial: &mut Trial<'_>) {
    work(trial);
    gates(trial);
    reading(trial);
}

/// Setup, commits and trails.
fn work(trial: &mut Trial<'_>) {
    let program = trial.program;
    trial.case("init and uninstall leave a project as it was", || {
        let env = TestEnv::inactive(program);
        must_git(&env, "git init -q");
        env.write(".claude/settings.json", "{}\n");
        must(&env, "init --client claude --git-hook --quiet");
        let hooks = std::fs::read_to_string(env.project().join(".claude/settings.json")).unwrap_or_default();
        must(&env, "uninstall --quiet");
        let after = std::fs::read_to_string(env.project().join(".claude/settings.json")).unwrap_or_default();
        Verdict::held_if(hooks.contains("hook claude") && after == "{}\n", || format!("{hooks} {after}"))
    });
    trial.case("a commit passes when the step is ready, and the trail is sound", || {
        let env = repository(program);
        make_ready(&env, "01-01");
        must_git(&env, "echo w > w && git add -A && git commit -qm work");
        let verified = run(&env, "audit verify");
        let output = verified.snapshot();
        let is_sound = verified.code == Some(0)
            && !output.contains("passed no gate")
            && !output.contains("not verified");
        Verdict::held_if(is_sound, || output)
    });
    trial.case("merge, rebase and cherry-pick pass while no step is open", || {
        let env = repository(program);
        must_git(
            &env,
            "git merge -q --no-ff -m merged topic && git switch -q -c pick HEAD~1 && git cherry-pick topic && git switch -q main",
        );
        let output = run(&env, "audit verify").snapshot();
        Verdict::held_if(!output.contains("passed no gate"), || output)
    });
    trial.case("a renamed project keeps its trail", || {
        let env = begun(program);
        let moved = env.root().join("moved");
        std::fs::rename(env.project(), &moved).expect("a rename");
        let mut command = env.command(["audit", "verify"]);
        command.current_dir(&moved);
        let output = env.run(command, b"");
        Verdict::held_if(output.code == Some(0), || output.snapshot())
    });
    trial.case("a path inside of the project is used", || {
        let env = TestEnv::active(program);
        env.configure("[audit]\ndir = 'logs'\n[map]\npath = 'docs/map.md'\n");
        must(&env, "step new 01-01 --project auth --phases tdd-3");
        must(&env, "map build");
        let is_used = env.project().join("logs").is_dir() && env.project().join("docs/map.md").is_file();
        Verdict::held_if(is_used, || env.dir_snapshot().to_string())
    });
}

/// Calls that no gate refuses.
fn gates(trial: &mut Trial<'_>) {
    let program = trial.program;
    trial.case("a complete prompt passes gate 1", || {
        let env = with_step(program);
        let output = env.hook(&invoke(&prompt(&env)));
        Verdict::held_if(!is_refused(&output), || output.snapshot())
    });
    trial.case("an agent whose phases are recorded may end", || {
        let env = with_step(program);
        let prompt = prompt(&env);
        env.hook(&invoke(&prompt)).assert_success();
        transcript(&env, "a1", &prompt, 0);
        make_ready(&env, "01-01");
        let output = env.hook(&stop(&env, "a1", false));
        Verdict::held_if(!is_refused(&output), || output.snapshot())
    });
    let env = begun(program);
    for (form, bytes) in event_forms(&bash("ls -l").json(&env.project())) {
        if !form.starts_with("9 MB") {
            trial.case(format!("an ordinary command passes as: {form}"), || {
                let output = env.hook_bytes(&bytes);
                Verdict::held_if(!is_refused(&output) && output.code == Some(0), || output.snapshot())
            });
        }
    }
    for command in [
        "git status",
        "git log --oneline -5",
        "git diff HEAD~1",
        "git add -A",
        "cargo test --all",
        "npm run build",
        "echo \"git commit\"",
        "grep -rn 'git commit' docs",
        "for f in *.py; do wc -l \"$f\"; done",
        "python3 -c 'print(1)'",
        "cat > a.txt <<'EOF'\ngit commit is what we run later\nEOF",
        "sed -i s/a/b/ x.py && make -j4",
    ] {
        trial.case(format!("no gate refuses `{command}`"), || {
            let output = env.hook(&bash(command));
            Verdict::held_if(is_silent(&output), || output.snapshot())
        });
    }
    for _ in 0..trial.limit {
        let command = harmless_command(&mut trial.numbers);
        trial.case(format!("no gate denies `{command}`"), || {
            let output = env.hook(&bash(&command));
            let denied =
                output.code != Some(0) || String::from_utf8_lossy(&output.stdout).contains("\"deny\"");
            Verdict::held_if(!denied, || output.snapshot())
        });
    }
}

/// Ordinary files are read.
fn reading(trial: &mut Trial<'_>) {
    let program = trial.program;
    for (name, text, other, user) in [
        ("a.py", "def hello():\n    return 1\n", "b.py", "from a import hello\n\nhello()\n"),
        (
            "a.ts",
            "export function hello() { return 1; }\n",
            "b.ts",
            "import { hello } from \"./a\";\nhello();\n",
        ),
        ("a.go", "package a\n\nfunc Hello() {}\n", "b.go", "package a\n\nfunc g() { Hello() }\n"),
    ] {
        trial.case(format!("references of {name} are found"), || {
            let env = TestEnv::active(program);
            env.write(name, text);
            env.write(other, user);
            let word = if name == "a.go" { "Hello" } else { "hello" };
            let output = env.lockstep(["refs", word]);
            let found = String::from_utf8_lossy(&output.stdout).contains(other);
            Verdict::held_if(output.code == Some(0) && found, || output.snapshot())
        });
    }
    trial.case("an edit is journaled", || {
        let env = TestEnv::active(program);
        env.write("a.py", "x = 1\n");
        env.hook(&HookEvent::edit("a.py")).assert_silent();
        Verdict::held_if(env.journal_text("s1").contains("a.py"), || env.journal_text("s1"))
    });
}
