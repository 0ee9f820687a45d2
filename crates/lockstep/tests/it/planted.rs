//! Projects in which a rename is known to propagate: who must follow whom, in how many rounds, is planted.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

use lockstep_testkit::{Output, TestEnv};
use serde_json::Value;

use crate::active;

/// An agent that renames every `x_old` in its files to `x_new`, its own definitions included, so that whoever uses those must
/// follow in the next round. It marks each file it works on, and leaves alone what is called stubborn.
pub(crate) const RENAMER: &str = r#"cat > /dev/null
printf '%s\n' "$LOCKSTEP_FILES" | while IFS= read -r file; do
  case "$file" in *stubborn*) continue ;; esac
  sleep "${PACE:-0}"
  sed -i -E -e 's/\b([a-z0-9]+)_old\b/\1_new/g' -e '$a // touched' "$file"
done
"#;

/// A Rust project of so many rounds, with so many files in each; committed, and then renamed in its root `src/f0.rs`.
pub(crate) fn rust(rounds: usize, width: usize) -> TestEnv {
    let env = active();
    env.write("Cargo.toml", "[package]\nname = \"planted\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
    env.write("Cargo.lock", "version = 4\n\n[[package]]\nname = \"planted\"\nversion = \"0.1.0\"\n");
    env.write("src/f0.rs", "pub fn f0_old() -> u32 {\n    1\n}\n");
    let mut modules = "pub mod f0;\n".to_owned();
    for round in 1..=rounds {
        modules += &format!("pub mod r{round};\n");
        let files: String = (0..width).map(|at| format!("pub mod m{at};\n")).collect();
        env.write(format!("src/r{round}/mod.rs"), files);
        for at in 0..width {
            let (module, used) = match round {
                1 => ("crate::f0".to_owned(), "f0_old".to_owned()),
                _ => (format!("crate::r{}::m{at}", round - 1), format!("r{}m{at}_old", round - 1)),
            };
            let text = format!(
                "use {module}::{used};\n\npub fn r{round}m{at}_old() -> u32 {{\n    {used}() + 1\n}}\n"
            );
            env.write(format!("src/r{round}/m{at}.rs"), text);
        }
    }
    env.write("src/lib.rs", modules);
    commit(&env);
    env.write("src/f0.rs", "pub fn f0_new() -> u32 {\n    1\n}\n");
    env
}

/// The same in TypeScript, one file in each round.
pub(crate) fn typescript(rounds: usize) -> TestEnv {
    let env = active();
    env.write("tsconfig.json", "{\"compilerOptions\": {\"strict\": true, \"noEmit\": true, \"types\": []}, \"include\": [\"src\"]}\n");
    env.write("src/f0.ts", "export function f0_old(): number {\n  return 1;\n}\n");
    for round in 1..=rounds {
        let used = round - 1;
        let text = format!(
            "import {{ f{used}_old }} from \"./f{used}\";\n\nexport function f{round}_old(): number {{\n  return f{used}_old() + 1;\n}}\n"
        );
        env.write(format!("src/f{round}.ts"), text);
    }
    commit(&env);
    env.write("src/f0.ts", "export function f0_new(): number {\n  return 1;\n}\n");
    env
}

/// Makes what is there the last commit.
pub(crate) fn commit(env: &TestEnv) {
    env.write(".gitignore", "target/\n/agent.sh\n/*.log\n");
    env.git(["init", "--quiet"]);
    env.git(["add", "--all"]);
    env.git(["commit", "--quiet", "--message", "planted"]);
}

/// `cascade run` with this agent, with the tools of this machine.
pub(crate) fn run_command(env: &TestEnv, agent: &str, more: &[&str]) -> Command {
    env.write("agent.sh", agent);
    let mut command = env.command(["cascade", "run", "--agent", "sh ./agent.sh"].iter().chain(more));
    tools(&mut command);
    command
}

/// Lets a command find cargo, node and git where this test found them.
pub(crate) fn tools(command: &mut Command) {
    command.env("PATH", std::env::var_os("PATH").unwrap());
    let home = PathBuf::from(std::env::var_os("HOME").unwrap());
    for (name, below) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
        command.env(name, std::env::var_os(name).map_or_else(|| home.join(below), PathBuf::from));
    }
}

/// Runs it to its end.
pub(crate) fn run(env: &TestEnv, agent: &str, more: &[&str]) -> Output {
    env.run(run_command(env, agent, more), b"")
}

/// The state of the cascade as data.
pub(crate) fn status(env: &TestEnv) -> Value {
    let text = env.lockstep(["cascade", "status", "--format", "json"]).succeeded();
    serde_json::from_str(&text).unwrap()
}

/// A list of texts in it.
pub(crate) fn list(status: &Value, key: &str) -> Vec<String> {
    let items = status[key].as_array().unwrap_or_else(|| panic!("{key} in {status:#}"));
    items.iter().map(|item| item.as_str().or(item["path"].as_str()).unwrap().to_owned()).collect()
}

/// What git says has changed, the root cause aside.
pub(crate) fn changed(env: &TestEnv, root: &str) -> BTreeSet<String> {
    let output = Command::new("git")
        .args(["diff", "--name-only", "HEAD"])
        .current_dir(env.project())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter(|line| *line != root).map(str::to_owned).collect()
}

/// How often an agent has worked on a file.
pub(crate) fn touched(env: &TestEnv, path: &str) -> usize {
    std::fs::read_to_string(env.project().join(path)).unwrap().matches("// touched").count()
}
