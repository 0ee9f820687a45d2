//! Agents of `cascade run` that delete, flood, hang or end the run.

use std::fs;
use std::process::Command;

use lockstep_testkit::TestEnv;

use super::scene::must_git;
use super::trial::{Trial, Verdict};

const RENAME: &str = "xargs -0 sed -i s/old_name/new_name/g < $LOCKSTEP_FILES_LIST0";

/// An agent, the options of the run, and whether the run may converge.
const AGENTS: [(&str, &str, &[&str], bool); 14] = [
    ("it deletes its files", "rm -f user.py", &[], false),
    ("it deletes everything", "rm -rf *.py", &[], false),
    ("it empties its files", ": > user.py; rm user.py", &[], false),
    ("it moves its files", "mv user.py elsewhere.txt", &[], false),
    ("it replaces its files by links", "rm user.py; ln -s /dev/null user.py", &[], false),
    ("it prints without end", "head -c 60000000 /dev/zero | tr '\\0' x; RENAME", &[], true),
    ("it does nothing", "true", &[], false),
    ("it kills its supervisor", "kill -9 $PPID; sleep 30", &["--time-limit", "5"], false),
    ("it stops its supervisor", "kill -STOP $PPID; sleep 30", &["--time-limit", "5"], false),
    ("it sleeps", "sleep 1000", &["--time-limit", "3"], false),
    ("it ignores its end", "trap '' TERM INT HUP; sleep 1000", &["--time-limit", "3"], false),
    ("it leaves a process behind", "(setsid sleep 1000 &) ; RENAME", &["--time-limit", "20"], true),
    ("its check has no end", "RENAME", &["--verify", "sleep 1000"], false),
    ("its check prints without end", "RENAME", &["--verify", "yes"], false),
];

pub(super) fn attack(trial: &mut Trial<'_>) {
    let program = trial.program;
    for (name, agent, options, may_converge) in trial.sample(AGENTS) {
        trial.case(name, || {
            let env = TestEnv::active(program);
            // The limit of the verification; `--time-limit` is that of an agent.
            env.configure("[cascade]\ntime_limit = \"20s\"\n");
            env.write("base.py", "def old_name():\n    return 1\n");
            env.write("user.py", "from base import old_name\nold_name()\n");
            env.write(".gitignore", "*.log\n");
            must_git(&env, "git init -q && git add -A && git commit -qm a");
            env.write("base.py", "def new_name():\n    return 1\n");
            let agent = agent.replace("RENAME", RENAME);
            let args = ["cascade", "run", "--agent", &agent].into_iter().chain(options.iter().copied());
            let inner = env.command(args);
            // Only a run that hangs takes so long.
            let mut command = Command::new("timeout");
            command.args(["-s", "KILL", "120"]).arg(inner.get_program()).args(inner.get_args());
            command
                .env_clear()
                .envs(inner.get_envs().filter_map(|(key, value)| Some((key, value?))))
                .current_dir(env.project());
            command
                .stdin(std::process::Stdio::null())
                .stdout(std::process::Stdio::piped())
                .stderr(std::process::Stdio::piped());
            let output = env.run(command, b"");
            let size = size_of(&env.state().join("reports"));
            let has_held = match may_converge {
                true => output.code == Some(0),
                false => output.code.is_some_and(|code| code != 0 && code < 100),
            };
            Verdict::held_if(has_held && size < 12 << 20, || {
                format!("{size} bytes kept: {}", output.snapshot())
            })
        });
    }
}

fn size_of(dir: &std::path::Path) -> u64 {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let size = |entry: fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => size_of(&entry.path()),
        _ => entry.metadata().map_or(0, |meta| meta.len()),
    };
    entries.map(size).sum()
}
