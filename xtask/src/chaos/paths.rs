//! Paths in a cloned `lockstep.toml`: each key that holds one, set to each kind of place.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use lockstep_config::Config;
use lockstep_config::key_schema::all_keys;
use lockstep_fs::symlink;
use lockstep_testkit::{HookEvent, TestEnv};

use super::scene::must_git;
use super::trial::{Trial, Verdict};

const SECRET: &str = "hunter2-secret";

/// Files of the user and of git that a path may name.
const VICTIMS: [&str; 12] = [
    "README.md",
    ".envrc",
    "lib.py",
    ".git/config",
    ".git/hooks/post-commit",
    ".git/hooks/pre-push",
    ".claude/settings.json",
    ".claude/agents/a.md",
    "lockstep.toml",
    "Makefile",
    ".lockstepignore",
    "docs/notes.md.bak",
];

/// Hidden directories in which generated files may be created without an approval (docs/security.md).
const FREE_DIRECTORIES: [&str; 2] = [".lockstep", ".claude/agent-memory"];

/// The values that lead elsewhere, for an environment.
fn places(env: &TestEnv) -> Vec<String> {
    let outside = |name: &str| env.outside_dir().join(name).display().to_string();
    let mut places: Vec<String> = VICTIMS.iter().map(|victim| (*victim).to_owned()).collect();
    places.extend([
        outside(".bashrc"),
        outside("new/{session}.md"),
        outside("new"),
        env.outside_dir().display().to_string(),
        "../elsewhere/.bashrc".to_owned(),
        "../elsewhere/new/{session}".to_owned(),
        "x/../../elsewhere/.bashrc".to_owned(),
        "linked/.bashrc".to_owned(),
        "linked/new.md".to_owned(),
        "linked".to_owned(),
        "link-to-file".to_owned(),
        ".git".to_owned(),
        ".git/objects/new".to_owned(),
        "sub/.git/hooks/pre-commit".to_owned(),
        env.home().join(".profile").display().to_string(),
        "~/.profile".to_owned(),
        ".claude/settings.local.json".to_owned(),
        ".claude/commands/new.md".to_owned(),
        ".CLAUDE/settings.local.json".to_owned(),
        ".github/workflows/new.yml".to_owned(),
        ".husky/pre-commit".to_owned(),
        "sub/.envrc".to_owned(),
        ".g\u{200c}it/hooks/post-commit".to_owned(),
        "new\u{1b}[2J.md".to_owned(),
        "new\nFORGED.md".to_owned(),
        "a/".repeat(60) + "new.md",
        "/dev/full".to_owned(),
        "/proc/self/cwd/README.md".to_owned(),
    ]);
    places
}

/// Every regular file below a directory with its content; what Lockstep owns aside.
fn contents(dir: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        // git itself writes its objects and its index, when it is asked for a tree.
        let is_own =
            [".lockstep", ".local/state/lockstep", ".git/index"].iter().any(|own| path.ends_with(own));
        let is_object =
            path.ancestors().any(|above| above.ends_with(".git/objects")) && !path.ends_with("new");
        if is_own || is_object {
            continue;
        }
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => contents(&path, found),
            Ok(kind) if kind.is_file() => {
                drop(found.insert(path.clone(), fs::read(path).unwrap_or_default()))
            }
            _ => {}
        }
    }
}

/// The files that must not change: everything outside of the project, git's directory and the files of the user.
fn precious(env: &TestEnv) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for dir in [env.outside_dir(), env.home(), env.project().join(".git")] {
        contents(&dir, &mut found);
    }
    for victim in VICTIMS.iter().filter(|victim| !victim.starts_with(".git/")) {
        let path = env.project().join(victim);
        found.insert(path.clone(), fs::read(path).unwrap_or_default());
    }
    // Nothing new is made in hidden directories, which belong to other programs, or under names that do not show.
    for entry in fs::read_dir(env.project()).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_strange = name.chars().any(char::is_control) || name == "a" || name == "sub";
        if (name.starts_with('.') || is_strange) && name != ".git" {
            contents(&entry.path(), &mut found);
            found.entry(entry.path()).or_default();
        }
    }
    for free in FREE_DIRECTORIES.map(|directory| env.project().join(directory)) {
        found.retain(|path, _| !path.starts_with(&free));
    }
    found
}

/// A cloned repository, with the user's own files.
fn cloned(program: &Path) -> TestEnv {
    let env = TestEnv::active(program);
    must_git(&env, "git init -q");
    for victim in VICTIMS.iter().filter(|victim| **victim != "lockstep.toml" && **victim != ".git/config") {
        env.write(
            victim,
            if victim.ends_with(".json") { "{}\n".to_owned() } else { format!("# mine\n# {SECRET}\n") },
        );
    }
    fs::write(env.outside_dir().join(".bashrc"), format!("export A={SECRET}\n")).expect("a file");
    fs::write(env.home().join(".profile"), format!("export A={SECRET}\n")).expect("a file");
    symlink(env.outside_dir(), env.project().join("linked")).expect("a link");
    symlink(env.outside_dir().join(".bashrc"), env.project().join("link-to-file")).expect("a link");
    env
}

/// Everyday work with the configuration; returns all that it printed.
fn work(env: &TestEnv) -> String {
    let mut stdout = String::new();
    for event in [
        HookEvent::session_start(),
        HookEvent::edit("src/a.py"),
        HookEvent::bash(),
        HookEvent::stop(),
        HookEvent::session_end(),
    ] {
        let output = env.hook(&event);
        assert!(output.code == Some(0), "{}", output.snapshot());
        stdout.push_str(&output.snapshot());
    }
    for args in [
        &["task", "new", "--title", "auth", "--intent", "Add login"][..],
        &["step", "new", "01-01", "--project", "auth", "--phases", "tdd-3"],
        &["step", "phase", "start", "01-01", "RED"],
        &["gate", "commit"],
        &["map", "build"],
        &["cache", "build"],
        &["impact"],
        &["step", "list"],
    ] {
        stdout.push_str(&env.lockstep(args).snapshot());
    }
    stdout
}

pub(super) fn attack(trial: &mut Trial<'_>) {
    let program = trial.program;
    let keys: Vec<String> = all_keys()
        .filter(|key| key.path(&Config::default()).is_some() || key.default_toml() == "\"\"")
        .map(|key| format!("[{}]\n{} = VALUE\n", key.section, key.name))
        .chain(
            ["[steps]\nsources = [VALUE]\n", "[[cache.section]]\ntitle = 'x'\nsource = [VALUE]\n"]
                .map(str::to_owned),
        )
        .collect();
    let count = places(&TestEnv::inactive(program)).len();
    let all: Vec<(String, usize)> =
        keys.iter().flat_map(|key| (0..count).map(move |place| (key.clone(), place))).collect();
    for (key, place) in trial.sample(all) {
        let env = cloned(program);
        let place = places(&env)[place].clone();
        trial.case(env.redact_paths(&format!("{} {place}", key.replace('\n', " "))), || {
            env.write("src/a.py", "def f(): pass\n");
            env.configure(&key.replace("VALUE", &format!("{place:?}")));
            let before = precious(&env);
            let output = work(&env);
            let after = precious(&env);
            let changed: Vec<_> =
                after.iter().filter(|(path, text)| before.get(*path) != Some(text)).collect();
            let lost = before.keys().find(|path| !after.contains_key(*path));
            if !changed.is_empty() || lost.is_some() {
                return Verdict::Broken(format!("changed: {changed:?}, lost: {lost:?}"));
            }
            // A file of the project itself may be shown; the user's are not.
            let is_inside = VICTIMS.contains(&place.as_str()) || place.ends_with("README.md");
            Verdict::held_if(is_inside || !output.contains(SECRET), || format!("it was read: {output}"))
        });
    }
}
