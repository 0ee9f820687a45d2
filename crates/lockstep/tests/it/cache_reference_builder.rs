//! Compares the session cache with the output of the iSDLC framework's own builder for the same checkout. The
//! path of a checkout is in `LOCKSTEP_ISDLC`; without it, the test is skipped with a message.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::process::Command;

use crate::configured;

/// The sections of a cache, by name.
fn sections(cache: &str) -> BTreeMap<String, String> {
    let blocks = cache.split("<!-- SECTION: ").skip(1);
    let named = blocks.filter_map(|block| {
        let (name, rest) = block.split_once(" -->\n")?;
        let (text, _) = rest.split_once(&format!("<!-- /SECTION: {name} -->"))?;
        Some((name.to_owned(), text.trim().to_owned()))
    });
    named.collect()
}

#[test]
fn sections_are_what_the_frameworks_own_builder_writes() {
    let Some(checkout) = std::env::var_os("LOCKSTEP_ISDLC") else {
        // Past the test's capture: a skip must be seen.
        let _ =
            writeln!(io::stderr(), "SKIPPED the original builder: LOCKSTEP_ISDLC names no checkout of iSDLC");
        return;
    };
    let env = configured("[cache]\npreset = \"isdlc\"\nbudget_chars = 1000000\n");
    let (checkout, project) = (checkout.to_string_lossy(), env.project().display().to_string());
    env.shell(&format!("cp -r '{checkout}'/src '{checkout}'/docs '{project}'/"));
    // The paths that its installer writes to, and that its builder reads.
    for place in [".claude/hooks/config", "src/claude/hooks/config"] {
        env.shell(&format!(
            "mkdir -p '{project}/{place}' && cp -r '{project}'/src/isdlc/config/. '{project}/{place}'/"
        ));
    }
    env.shell(&format!("mkdir -p '{project}/.isdlc'"));
    let cache = env.project().join(".isdlc/session-cache.md");
    let script = format!(
        "require('{checkout}/src/claude/hooks/lib/common.cjs').rebuildSessionCache({{projectRoot: '{project}'}})"
    );
    let built =
        Command::new("node").args(["-e", &script]).env("CLAUDE_PROJECT_DIR", &project).output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let theirs = sections(&fs::read_to_string(&cache).unwrap());
    // It has warnings about the framework, which are not part of this test.
    assert_eq!(env.lockstep(["cache", "build", "--quiet"]).code, Some(0));
    let ours = sections(&fs::read_to_string(&cache).unwrap());
    for name in ["CONSTITUTION", "WORKFLOW_CONFIG", "ITERATION_REQUIREMENTS", "ARTIFACT_PATHS"] {
        assert!(theirs[name].len() > 100 && theirs[name] == ours[name], "{name} differs");
    }
    // More skills are found, and none is lost.
    for line in theirs["SKILL_INDEX"].lines() {
        assert!(ours["SKILL_INDEX"].contains(line), "not in ours: {line}");
    }
    // Missing settings are not repeated.
    let (without_settings, _) = theirs["ROUNDTABLE_CONTEXT"].split_once("\n### Roundtable Config").unwrap();
    assert!(ours["ROUNDTABLE_CONTEXT"].starts_with(without_settings.trim_end()));
    // The tables that the skill index repeats are left out of the manifest; everything else is there.
    let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    let (theirs, ours) = (read(&theirs["SKILLS_MANIFEST"]), read(&ours["SKILLS_MANIFEST"]));
    for (key, value) in ours.as_object().unwrap() {
        assert_eq!(&theirs[key], value, "{key}");
    }
}
