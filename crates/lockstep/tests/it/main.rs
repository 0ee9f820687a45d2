//! The real binary, seen from outside: one file per subject. Real processes, real files, real git; nothing is stubbed.

#![allow(clippy::unwrap_used)] // A helper that panics fails its test, which is its purpose.

mod hooks;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use lockstep_testkit::TestEnv;

/// An environment with an active project.
fn active() -> TestEnv {
    TestEnv::active(env!("CARGO_BIN_EXE_lockstep"))
}

/// An environment with an active project that is configured so.
fn configured(config: &str) -> TestEnv {
    let env = active();
    env.configure(config);
    env
}

/// A file that nobody named above would silently not be tested.
#[test]
fn no_file_is_forgotten() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let text = fs::read_to_string(folder.join("main.rs")).unwrap();
    let named: BTreeSet<String> = text
        .lines()
        .filter_map(|line| Some(format!("{}.rs", line.strip_prefix("mod ")?.strip_suffix(';')?)))
        .chain(["main.rs".to_owned()])
        .collect();
    let there: BTreeSet<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".rs"))
        .collect();
    assert_eq!(named, there);
}
