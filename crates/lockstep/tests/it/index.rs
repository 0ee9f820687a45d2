//! `lockstep index`: real processes that build, are killed, meet hostile files, and run in the background.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use lockstep_index::index::{
    Index, IndexLocation, IndexSettings, NoProgress, UpdatePolicy, VerifyResult, verify,
};
use lockstep_refs::world::World;
use lockstep_store::StateDir;
use lockstep_testkit::{HookEvent, TestEnv};
use serde_json::Value;

use crate::{configured, inactive};

const WORDS: [&str; 4] = ["greet", "number_7", "common", "round_3"];

/// Returns an index's files and facts for each word.
fn answers(index: &Index) -> BTreeMap<String, Vec<String>> {
    let output = |word: &str| {
        let files = index.containing(word).into_iter();
        files.map(|file| format!("{}: {:?}", index.path(file), index.facts(file))).collect()
    };
    WORDS.iter().map(|word| ((*word).to_owned(), output(word))).collect()
}

fn plant(env: &TestEnv, files: usize) {
    for n in 0..files {
        env.write(
            format!("d{}/m{n}.py", n % 9),
            format!("from common import greet\n\ndef number_{n}():\n    return greet({n})\n"),
        );
    }
}

/// Kills builds and updates at points spread over a little more than the duration of a complete one. The
/// remaining index is in its old or its new state: never damaged, and never stale while claiming to be fresh.
#[test]
fn killed_build_leaves_a_correct_index() {
    let env = configured("");
    plant(&env, 300);
    let (root, state) = (env.project(), StateDir::for_project(&env.project()));
    let settings = IndexSettings::default();
    let (mut life, mut killed) = (Duration::from_millis(60), 0);
    for round in 0..50_u32 {
        env.write(format!("d{}/m{round}.py", round % 9), format!("def round_{round}(): pass\n"));
        let arguments: &[&str] = match round % 3 {
            0 => &["index", "--rebuild"],
            1 => &["index"],
            _ => &["index", "--words-only"],
        };
        let mut command = env.command(arguments);
        let start = Instant::now();
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        sleep(life.mul_f64(1.2 * f64::from(round * 37 % 100) / 100.0));
        child.kill().unwrap();
        match child.wait().unwrap().code() {
            None => killed += 1,
            Some(code) => {
                assert_eq!(code, 0, "round {round}");
                life = start.elapsed();
            }
        }
        let verdict = verify(&root, &state, &settings).unwrap();
        assert!(!matches!(verdict, VerifyResult::Damaged), "round {round}: {verdict:?}");
        // Some rounds go on from what the killed one left, without mending it.
        if round % 2 == 0 {
            let quick = Index::open(
                &root,
                IndexLocation::Project(&state),
                &settings,
                UpdatePolicy::Bounded,
                &NoProgress,
            )
            .unwrap();
            let anew = Index::open_or_build(&root, IndexLocation::Memory, &settings, &NoProgress).unwrap();
            if let Some(quick) = quick {
                let (found, expected) = (answers(&quick), answers(&anew));
                assert!(!quick.condition().fresh || found == expected, "round {round}: {found:?}");
            }
        }
    }
    assert!(killed > 10, "only {killed} were killed");
    env.lockstep(["index"]).assert_success();
    assert_eq!(verify(&root, &state, &settings).unwrap(), VerifyResult::Fresh);
    let names: Vec<_> =
        fs::read_dir(state.index()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    let numbered =
        names.iter().filter(|name| name.to_string_lossy().starts_with(|c: char| c.is_ascii_digit()));
    assert!(numbered.count() < 12, "what killed builds left is removed: {names:?}");
}

fn json(env: &TestEnv, arguments: &[&str]) -> Value {
    serde_json::from_str(&env.lockstep(arguments).assert_success()).unwrap()
}

/// The exit code and the answer of a check.
fn check(env: &TestEnv) -> (Option<i32>, Value) {
    let output = env.command(["index", "--check", "--format", "json"]).output().unwrap();
    assert!(output.stderr.is_empty(), "{output:?}");
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap())
}

fn verdict(state: &str) -> (Option<i32>, Value) {
    (Some(i32::from(state != "fresh")), serde_json::json!({"state": state}))
}

#[test]
fn every_kind_of_file_is_handled_and_counted() {
    let env = configured("[scope]\nexclude = [\"/generated/\"]\n");
    env.write("a.py", "def greet(): pass\n");
    env.write("binary", b"\x7fELF\0\0greet");
    env.write("latin1.txt", b"caf\xe9 greet");
    env.write("line.js", format!("var greet={};", "a+".repeat(400_000)));
    env.write("generated/skipped.py", "def greet(): pass\n");
    env.write("name\u{301}.md", "greet");
    let deep = (0..150).map(|n| format!("d{n}")).collect::<Vec<_>>().join("/");
    env.write(format!("{deep}/bottom.py"), "from a import greet\n");
    fs::File::create(env.project().join("huge.py")).unwrap().set_len(100 << 20).unwrap();
    symlink(".", env.project().join("loop")).unwrap();
    symlink("/etc/hostname", env.project().join("out")).unwrap();
    let secret = env.write("secret.py", "def greet(): pass\n");
    let env = env.as_unprivileged_user();
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o000)).unwrap();
    let output = json(&env, &["index", "--stats", "--format", "json"]);
    assert_eq!(
        output["unseen"],
        serde_json::json!({"binary": 1, "too_large": 1, "unreadable": 1, "link": 2, "unnameable": 0})
    );
    assert_eq!(output["fresh"], true);
    assert_eq!(output["stats"]["languages"]["Python"], 2, "{output}");
    assert_eq!(check(&env), verdict("fresh"));
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(check(&env).1["files"], 1);
    let output = json(&env, &["index", "--format", "json"]);
    assert_eq!(output["unseen"]["unreadable"], 0);
}

#[test]
fn background_build_outlives_its_starter_and_runs_once() {
    let env = configured("");
    plant(&env, 200);
    for _ in 0..4 {
        env.lockstep(["index", "--background"]).assert_success();
    }
    let deadline = Instant::now() + Duration::from_secs(300);
    while env.command(["index", "--check"]).output().unwrap().status.code() != Some(0) {
        assert!(Instant::now() < deadline, "no index was built");
        sleep(Duration::from_millis(20));
    }
    let output = json(&env, &["index", "--stats", "--format", "json"]);
    assert_eq!(output["files"], 201, "the modules and lockstep.toml");
}

/// The only directory of an index in the user's cache.
fn cached(env: &TestEnv) -> PathBuf {
    let trees = env.home().join(".cache/lockstep/trees");
    let mut entries = fs::read_dir(trees).unwrap().map(|entry| entry.unwrap().path());
    let only = entries.next().unwrap();
    assert_eq!(entries.next(), None);
    only
}

/// A repository without `lockstep.toml`: `b.py` uses what `a.py` renames.
fn never_set_up() -> TestEnv {
    let env = inactive();
    env.git(["init", "--quiet", "--initial-branch=main"]);
    env.write("a.py", "def greet(): pass\n");
    env.write("b.py", "from a import greet\n\ngreet()\n");
    env.git(["add", "."]);
    env.git(["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "first"]);
    env.write("a.py", "def salute(): pass\n");
    env
}

#[test]
fn without_set_up_the_index_is_in_the_users_cache() {
    let env = never_set_up();
    let before = env.dir_snapshot().without("home");
    assert_eq!(check(&env), verdict("missing"));
    env.lockstep(["index"]).assert_success();
    assert_eq!(check(&env), verdict("fresh"));
    assert_eq!(fs::read_to_string(cached(&env).join("root")).unwrap(), env.project().to_str().unwrap());
    for directory in [".cache/lockstep", ".cache/lockstep/trees"] {
        let mode = fs::metadata(env.home().join(directory)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{directory}");
    }
    let output = env.lockstep(["impact"]).assert_success();
    assert!(output.contains("b.py:3: greet is now salute"), "{output}");
    let stats = json(&env, &["index", "--stats", "--format", "json"]);
    assert_eq!(stats["stats"]["facts_kept"], 2, "{stats}");
    assert_eq!(env.dir_snapshot().without("home"), before, "nothing is written into the tree");
}

#[test]
fn a_question_without_set_up_keeps_its_index() {
    let env = never_set_up();
    let first = env.lockstep(["impact"]).assert_success();
    let manifest = cached(&env).join("index/manifest");
    assert!(manifest.exists());
    assert_eq!(env.lockstep(["impact"]).assert_success(), first);
    // Damage is noticed, and the index is built again.
    for content in [&b""[..], b"{}", &[0xff; 4096]] {
        fs::write(&manifest, content).unwrap();
        assert_eq!(env.lockstep(["impact"]).assert_success(), first);
    }
    for entry in fs::read_dir(cached(&env).join("index")).unwrap() {
        fs::write(entry.unwrap().path(), "damaged").unwrap();
    }
    assert_eq!(env.lockstep(["impact"]).assert_success(), first);
    assert_eq!(check(&env), verdict("fresh"));
}

#[test]
fn a_cache_that_is_not_private_is_not_used() {
    let env = never_set_up();
    let answer = env.lockstep(["impact"]).assert_success();
    let place = cached(&env);
    fs::remove_dir_all(&place).unwrap();
    let trees = place.parent().unwrap();
    let elsewhere = env.outside_dir();
    symlink(&elsewhere, &place).unwrap();
    assert_eq!(env.lockstep(["impact"]).assert_success(), answer);
    assert!(env.lockstep(["index"]).assert_failure(4).contains("not a link"));
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    fs::remove_file(&place).unwrap();
    fs::set_permissions(trees, fs::Permissions::from_mode(0o777)).unwrap();
    assert_eq!(env.lockstep(["impact"]).assert_success(), answer);
    let output = env.lockstep(["index"]).assert_failure(4);
    assert!(output.contains("others can write it") && output.contains("lockstep init"), "{output}");
    assert!(!place.exists());
}

#[test]
fn a_cache_inside_the_tree_is_not_used() {
    let env = never_set_up();
    let before = env.dir_snapshot();
    let asked = |args: &[&str]| {
        let mut command = env.command(args);
        command.env("XDG_CACHE_HOME", env.project().join("cache")).output().unwrap()
    };
    assert!(asked(&["impact"]).status.success());
    assert!(!asked(&["index"]).status.success());
    assert_eq!(env.dir_snapshot(), before);
}

#[test]
fn check_reports_the_problem() {
    let env = configured("");
    env.write("a.py", "def greet(): pass\n");
    assert_eq!(check(&env), verdict("missing"));
    env.lockstep(["index"]).assert_success();
    assert_eq!(check(&env), verdict("fresh"));
    env.write("b.py", "import a\n");
    assert_eq!(check(&env), (Some(1), serde_json::json!({"state": "behind", "files": 1})));
    env.lockstep(["index", "--quiet"]).assert_silent();
    for entry in fs::read_dir(env.state().join("index")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "words") {
            let mut bytes = fs::read(&path).unwrap();
            bytes[20] ^= 1;
            fs::write(&path, bytes).unwrap();
        }
    }
    assert_eq!(check(&env), verdict("damaged"));
    env.lockstep(["index", "--rebuild"]).assert_success();
    assert_eq!(check(&env), verdict("fresh"));
}

#[test]
fn stats_count_definitions_at_once_and_references_on_request() {
    let env = configured("");
    env.write("a.py", "def greet():\n    pass\n");
    env.write("b.py", "from a import greet\n\ngreet()\n");
    let stats = json(&env, &["index", "--stats", "--format", "json"]);
    let stats = &stats["stats"];
    assert_eq!((&stats["definitions"], &stats["imports"]), (&1.into(), &1.into()), "{stats}");
    assert!(stats["references"].is_null() && stats["unresolved"].is_null(), "unknown is not none: {stats}");
    let text = env.lockstep(["index", "--stats"]).assert_success();
    assert!(text.contains("definitions 1\n") && text.contains("references  not counted"), "{text}");
    let stats = json(&env, &["index", "--stats", "--references", "--format", "json"]);
    assert_eq!(stats["stats"]["references"]["import"], 1, "{stats}");
    assert_eq!(stats["stats"]["unresolved"], 0, "{stats}");
}

/// A project whose build takes far longer than the hook that starts it.
fn slow_project() -> TestEnv {
    let env = configured("");
    plant(&env, 400);
    for n in 0..300 {
        env.write(
            format!("s/m{n}.ts"),
            "export class A { f(x) { return x ? [1, { b: x => x + 1 }] : `c${x}`; } }\n".repeat(120),
        );
    }
    env
}

/// The process that holds the writer's lock of the index.
fn holder(env: &TestEnv) -> Option<u32> {
    let note = fs::read_to_string(env.state().join("index/writer.lock")).ok()?;
    let id = note.split_whitespace().next()?.parse().ok()?;
    let command = fs::read(format!("/proc/{id}/cmdline")).ok()?;
    String::from_utf8_lossy(&command).contains("--detached").then_some(id)
}

#[test]
fn a_build_that_a_killed_hook_leaves_behind_has_limits_and_a_holder() {
    let env = slow_project();
    let mut hook = env.start_hook(&HookEvent::session_start());
    let deadline = Instant::now() + Duration::from_secs(300);
    let id = loop {
        if let Some(id) = holder(&env) {
            break id;
        }
        assert!(Instant::now() < deadline, "no build was started");
        sleep(Duration::from_millis(2));
    };
    hook.kill().unwrap();
    hook.wait().unwrap();
    let limits = fs::read_to_string(format!("/proc/{id}/limits")).unwrap();
    let limit = |name: &str| {
        let line = limits.lines().find(|line| line.starts_with(name)).unwrap();
        line[name.len()..].split_whitespace().next().unwrap().parse::<u64>().unwrap()
    };
    assert!(limit("Max cpu time") <= 120, "{limits}");
    assert!(limit("Max address space") <= 8 << 30, "{limits}");
    // A second start does not build beside it, and says who does.
    env.command(["index", "--detached", "--quiet"]).status().unwrap();
    let busy = env.lockstep(["index", "--rebuild"]);
    assert!(busy.code == Some(0) || busy.snapshot().contains("is writing the index"), "{}", busy.snapshot());
    while holder(&env).is_some_and(|id| fs::metadata(format!("/proc/{id}/fd")).is_ok()) {
        assert!(Instant::now() < deadline, "the build does not end");
        sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_detached_build_over_its_budget_ends_and_harms_nothing() {
    for limit in ["-t 1", "-v 150000"] {
        let env = slow_project();
        let inner = env.command(["index"]);
        let mut command = std::process::Command::new("sh");
        let script = format!("ulimit {limit}; exec \"$0\" index --detached --quiet");
        command.args(["-c", &script]).arg(inner.get_program());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.env_clear().envs(inner.get_envs().filter_map(|(key, value)| Some((key, value?))));
        command.current_dir(env.project());
        let ended = env.run(command, b"");
        assert_ne!(ended.code, Some(0), "{limit}: the build did not reach its limit");
        // The lock is free, and the next build is whole.
        env.lockstep(["index", "--quiet"]).assert_success();
        assert_eq!(env.lockstep(["index", "--check"]).code, Some(0), "{limit}");
    }
}
