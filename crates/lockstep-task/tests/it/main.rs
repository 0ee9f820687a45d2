//! The crate from outside: a file per concept.

#![allow(clippy::unwrap_used)] // A helper that panics fails its test, which is its purpose.

mod access;
mod client;
mod compare_and_swap;
mod context;
mod document;
mod fixture;
mod gate;
mod handoff;
mod hostile;
mod key_path;
mod merge;
mod migrate;
mod phase;
mod readers;
mod schema;
mod scratch;
mod subject;
mod update;
mod yaml;

/// A test file that is not named above would silently not run.
#[test]
fn every_file_is_a_module() {
    let here = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it");
    let main = std::fs::read_to_string(format!("{here}/main.rs")).unwrap();
    for entry in std::fs::read_dir(here).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if let Some(stem) = name.strip_suffix(".rs").filter(|stem| *stem != "main") {
            assert!(main.contains(&format!("mod {stem};")), "{name} is not a module of main.rs");
        }
    }
}
