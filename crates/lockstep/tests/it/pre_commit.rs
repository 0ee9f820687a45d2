//! `.pre-commit-hooks.yaml`, run by the real pre-commit in a scratch repository. Skipped with a message if it is not available.

use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use lockstep_testkit::TestEnv;

use crate::steps::{with_step, yes};
use crate::{active, inactive};

/// The tested version.
const VERSION: &str = "4.7.0";

/// A Python with pre-commit among its modules.
struct PreCommit {
    python: PathBuf,
    modules: PathBuf,
}

impl PreCommit {
    /// Returns pre-commit from the cache of test tools, installed with pip if need be. `None` if that fails, after one line on
    /// stderr; with `LOCKSTEP_REQUIRE_CLIENT=1` it panics instead.
    fn find_or_skip_test() -> Option<Self> {
        match Self::obtain() {
            Ok(found) => Some(found),
            Err(why) if std::env::var_os("LOCKSTEP_REQUIRE_CLIENT").is_some_and(|value| value == "1") => {
                panic!("pre-commit is required: {why}")
            }
            Err(why) => {
                let _ = writeln!(std::io::stderr(), "SKIPPED pre-commit: {why}");
                None
            }
        }
    }

    fn obtain() -> Result<Self, String> {
        let asked = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
        let asked = asked.map_err(|error| format!("python3: {error}"))?;
        let python = PathBuf::from(String::from_utf8_lossy(&asked.stdout).trim());
        let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        let cache = cache.or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".cache")));
        let tools = cache.ok_or("neither XDG_CACHE_HOME nor HOME is set")?.join("lockstep/tools");
        let modules = tools.join(format!("pre-commit-{VERSION}"));
        if !modules.is_dir() {
            fs::create_dir_all(&tools).map_err(|error| error.to_string())?;
            let new = tempfile::tempdir_in(&tools).map_err(|error| error.to_string())?;
            let mut pip = Command::new(&python);
            pip.args(["-m", "pip", "install", "--quiet", "--target"]).arg(new.path());
            let output =
                pip.arg(format!("pre-commit=={VERSION}")).output().map_err(|error| error.to_string())?;
            if !output.status.success() {
                return Err(format!("pip: {}", String::from_utf8_lossy(&output.stderr).trim()));
            }
            // Another test may have been faster; both directories have the same content.
            let _ = fs::rename(new.keep(), &modules);
        }
        Ok(Self { python, modules })
    }

    /// Runs the hook `id` of this repository for what is staged, with `options` in the configuration.
    fn run(&self, env: &TestEnv, id: &str, options: &str) -> (Option<i32>, String) {
        let hooks = env.outside_dir().join("hooks");
        if !hooks.is_dir() {
            fs::create_dir_all(&hooks).unwrap();
            let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.pre-commit-hooks.yaml");
            fs::copy(own, hooks.join(".pre-commit-hooks.yaml")).unwrap();
            let hooks = hooks.to_str().unwrap();
            env.git(["-C", hooks, "init", "--quiet"]);
            env.git(["-C", hooks, "add", "--all"]);
            env.git(["-C", hooks, "commit", "--quiet", "-m", "hooks"]);
            symlink(env!("CARGO_BIN_EXE_lockstep"), env.outside_dir().join("lockstep")).unwrap();
        }
        let revision = env.git_output(["-C", hooks.to_str().unwrap(), "rev-parse", "HEAD"]).assert_success();
        let config = env.outside_dir().join("config.yaml");
        let text = format!(
            "repos:\n  - repo: {}\n    rev: {}\n    hooks:\n      - id: {id}\n{options}",
            hooks.display(),
            revision.trim()
        );
        fs::write(&config, text).unwrap();
        let output = Command::new(&self.python)
            .args(["-m", "pre_commit", "run", "--color", "never", "--config"])
            .arg(&config)
            .current_dir(env.project())
            .env_clear()
            .envs(self.variables(env))
            .output()
            .unwrap();
        let message = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(message).unwrap())
    }

    fn variables(&self, env: &TestEnv) -> Vec<(&'static str, OsString)> {
        vec![
            ("PATH", format!("{}:/usr/bin:/bin", env.outside_dir().display()).into()),
            ("HOME", env.home().into()),
            ("TMPDIR", env.tmp().into()),
            ("PRE_COMMIT_HOME", env.home().join("pre-commit").into()),
            ("PYTHONPATH", self.modules.clone().into()),
            ("LOCKSTEP_NOW", env.now().into()),
            ("GIT_CONFIG_NOSYSTEM", "1".into()),
        ]
    }
}

fn commit_all(env: &TestEnv) {
    env.git(["add", "--all"]);
    env.git(["commit", "--quiet", "-m", "first"]);
}

#[test]
fn impact_passes_warns_and_fails() {
    let Some(pre_commit) = PreCommit::find_or_skip_test() else { return };
    let env = inactive();
    env.git(["init", "--quiet", "--initial-branch=main"]);
    env.write("a.py", "def hello():\n    return 1\n");
    env.write("b.py", "from a import hello\n\nhello()\n");
    commit_all(&env);
    env.write("a.py", "def hello():\n    return 2\n");
    env.git(["add", "--all"]);
    let (code, output) = pre_commit.run(&env, "lockstep-impact", "");
    assert_eq!(code, Some(0), "{output}");
    assert!(output.contains("lockstep impact") && output.contains("Passed"), "{output}");
    env.write("a.py", "def greet():\n    return 2\n");
    env.git(["add", "--all"]);
    let only_report = "        args: [--staged]\n        verbose: true\n";
    let (code, output) = pre_commit.run(&env, "lockstep-impact", only_report);
    assert_eq!(code, Some(0), "{output}");
    assert!(output.contains("b.py:3: hello is now greet"), "{output}");
    let (code, output) = pre_commit.run(&env, "lockstep-impact", "");
    assert_eq!(code, Some(1), "{output}");
    assert!(output.contains("Failed") && output.contains("b.py:3: hello is now greet"), "{output}");
}

#[test]
fn gate_passes_without_open_steps_and_fails_for_an_unready_one() {
    let Some(pre_commit) = PreCommit::find_or_skip_test() else { return };
    let env = inactive();
    env.git(["init", "--quiet"]);
    let (code, output) = pre_commit.run(&env, "lockstep-gate", "");
    assert_eq!(code, Some(0), "{output}");
    // pre-commit fails a hook that changes a tracked file, and the gate records its verdict in the trail.
    let env = with_step();
    env.git(["init", "--quiet"]);
    env.write(".gitignore", ".lockstep/\nsteps/audit-*.log\n");
    env.git(["add", "--all"]);
    let (code, output) = pre_commit.run(&env, "lockstep-gate", "");
    assert_eq!(code, Some(0), "{output}");
    yes(&env, "step phase start 01-01 RED");
    env.git(["add", "--all"]);
    let (code, output) = pre_commit.run(&env, "lockstep-gate", "");
    assert_eq!(code, Some(1), "{output}");
    assert!(output.contains("Failed") && output.contains("RED"), "{output}");
}

#[test]
fn map_passes_when_it_matches_and_fails_when_it_does_not() {
    let Some(pre_commit) = PreCommit::find_or_skip_test() else { return };
    let env = active();
    env.git(["init", "--quiet"]);
    env.write("a.py", "def hello():\n    return 1\n");
    env.write("b.py", "from a import hello\n");
    commit_all(&env);
    env.lockstep(["map", "build"]).assert_success();
    let (code, output) = pre_commit.run(&env, "lockstep-map", "");
    assert_eq!(code, Some(0), "{output}");
    env.write("b.py", "import os\n");
    env.git(["add", "--all"]);
    let (code, output) = pre_commit.run(&env, "lockstep-map", "");
    assert_eq!(code, Some(1), "{output}");
    assert!(output.contains("Failed") && output.contains("b.py"), "{output}");
}
