//! Names that control a terminal, begin lines of their own, or are several words to a shell.

use std::fs;

use lockstep_testkit::attacks::{controls_terminal, hostile_name};
use lockstep_testkit::{HookEvent, TestEnv};

use super::scene::must_git;
use super::trial::{Trial, Verdict};

/// A project with the name in files, texts, steps and agents.
fn project(trial: &Trial<'_>, name: &str) -> TestEnv {
    let env = TestEnv::active(trial.program);
    env.write(format!("src/{name}.py"), "def greet():\n    pass\n");
    env.write("src/a.py", format!("def hello():\n    return 1  # {}\n", name.replace('\n', " ")));
    env.write("src/b.py", "from a import hello\n\nhello()\n");
    env.write("docs/x.md", format!("See [a](../src/{name}.py) and `src/a.py`.\n"));
    must_git(&env, "git init -q && git add -A && git commit -qm a");
    let _ = env.lockstep(["step", "new", "01-01", "--project", name]);
    let _ = env.lockstep(["step", "new", "02-01", "--project", "p", "--description", name]);
    let step = fs::read_to_string(env.project().join("steps/02-01.json")).unwrap_or_default();
    env.write(format!("steps/{name}.json"), step);
    let _ = env.hook(&HookEvent::session_start());
    env.write("src/a.py", "def goodbye():\n    return 1\n");
    env.write(format!("src/{name}.py"), "def other():\n    pass\n");
    let _ = env.hook(&HookEvent::bash().by_agent(name, name));
    let _ = env.hook(&HookEvent::edit(format!("src/{name}.py")).by_agent("a1", name));
    env
}

pub(super) fn attack(trial: &mut Trial<'_>) {
    for _ in 0..trial.limit.div_ceil(2) {
        let name = hostile_name(&mut trial.numbers);
        let env = project(trial, &name);
        let file = format!("src/{name}.py");
        let commands: [&[&str]; 30] = [
            &["impact"],
            &["impact", "--all"],
            &["impact", &file],
            &["impact", "--format", "json"],
            &["refs", &file],
            &["refs", "hello"],
            &["refs", &name],
            &["refs", "--dangling"],
            &["map", "build"],
            &["map", "show"],
            &["map", "check"],
            &["map", &file],
            &["changes"],
            &["changes", "--agent", &name],
            &["step", "list"],
            &["step", "show", &name],
            &["step", "show", "02-01"],
            &["step", "stale"],
            &["gate", "stop", &name],
            &["gate", "commit", "--explain"],
            &["audit", "show"],
            &["audit", "verify"],
            &["cascade", "start"],
            &["cascade", "next"],
            &["cascade", "status"],
            &["task", "new", "--title", &name, "--intent", &name],
            &["task", "show"],
            &["task", "history"],
            &["doctor"],
            &["handoff", "check", &file],
        ];
        for args in trial.numbers.sample(commands.to_vec(), 8) {
            trial.case(format!("{name:?} in {args:?}"), || {
                let output = env.lockstep(args);
                let text = String::from_utf8_lossy(&[output.stdout.clone(), output.stderr.clone()].concat())
                    .into_owned();
                let forged = text.lines().any(|line| line.starts_with("FORGED"));
                // The document of a task is its own text; `--format json` escapes.
                let is_document = args.starts_with(&["task"]) && !text.contains(controls_terminal);
                let has_held =
                    output.code.is_some() && !text.contains(controls_terminal) && (!forged || is_document);
                Verdict::held_if(has_held, || text)
            });
        }
    }
}

/// The names that a cascade gives to its agents lead an agent to no other file.
pub(super) fn attack_lists(trial: &mut Trial<'_>) {
    for at in 0..trial.limit.div_ceil(4) {
        let separator =
            *trial.numbers.choose(&["\n", " ", "\t", "\r", "*", " -e s/x/y/ ", "\n\n", "' '", "\u{b}", "; "]);
        let env = TestEnv::active(trial.program);
        let outside = env.outside_dir().join("victim.py");
        fs::write(&outside, "old_name = 1\n").expect("a file");
        env.write("base.py", "def old_name():\n    return 1\n");
        let name = format!("x{separator}{}", outside.display());
        env.write(&name, "from base import old_name\nold_name()\n");
        env.write("plain.py", "from base import old_name\nold_name()\n");
        env.write(".gitignore", "*.log\n");
        must_git(&env, "git init -q && git add -A && git commit -qm a");
        env.write("base.py", "def new_name():\n    return 1\n");
        let agent = "cat > prompt.log; sed -i s/old_name/new_name/g $LOCKSTEP_FILES; \
                     while IFS= read -r f; do sed -i s/old_name/new_name/g \"$f\"; done < $LOCKSTEP_FILES_LIST; \
                     xargs -0 sed -i s/old_name/new_name/g < $LOCKSTEP_FILES_LIST0";
        trial.case(format!("list {at}: {separator:?}"), || {
            let output = env.lockstep(["cascade", "run", "--agent", agent]);
            let victim = fs::read_to_string(&outside).unwrap_or_default();
            let plain = fs::read_to_string(env.project().join("plain.py")).unwrap_or_default();
            let prompt = fs::read_to_string(env.project().join("prompt.log")).unwrap_or_default();
            let is_led =
                prompt.lines().any(|line| line.trim_start().starts_with(&outside.display().to_string()));
            let has_held = victim == "old_name = 1\n" && plain.contains("new_name") && !is_led;
            Verdict::held_if(has_held, || format!("{victim} {plain} {}", output.snapshot()))
        });
    }
}
