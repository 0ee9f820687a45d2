//! `lockstep mcp` driven by the official MCP SDK, which checks every structured result against the tool's
//! schema. Skipped with a message if the SDK is not available.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use lockstep_testkit::npm::McpSdk;
use serde_json::{Value, json};

use crate::mcp_tools::{calls, workshop};

#[test]
fn the_official_client_calls_every_tool() {
    let Some(sdk) = McpSdk::obtain_or_skip() else { return };
    let env = workshop();
    let uses: String = (0..2_000).map(|n| format!("hello()  # number {n}\n")).collect();
    env.write("src/long.py", "def hello():\n    pass\n");
    env.write("src/use.py", format!("from long import hello\n{uses}"));
    symlink(sdk.modules(), env.outside_dir().join("node_modules")).unwrap();
    let driver = env.outside_dir().join("drive.mjs");
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/drive.mjs"), &driver).unwrap();
    let listed = env.outside_dir().join("calls.json");
    fs::write(&listed, json!(calls()).to_string()).unwrap();
    let output = Command::new("node")
        .arg(&driver)
        .args([Path::new(env!("CARGO_BIN_EXE_lockstep")), &env.project(), &listed])
        .env("HOME", env.home())
        .env("TMPDIR", env.tmp())
        .env("LOCKSTEP_NOW", env.now())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && stderr.is_empty(), "{stderr}");
    let out: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(out["server"]["name"], "lockstep", "{out:#}");
    let names: BTreeSet<&str> = out["tools"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(names, calls().iter().map(|(name, ..)| *name).collect());
    for (name, ..) in calls() {
        let call = &out["calls"][name];
        assert_eq!((&call["failed"], &call["done"]), (&true.into(), &true.into()), "{name}: {call:#}");
    }
    assert!(out["resources"].as_array().unwrap().contains(&"lockstep://task".into()), "{out:#}");
    assert!(out["task"].as_str().unwrap().starts_with("# [PERMANENT] PT-v"), "{out:#}");
    assert!(out["found"].as_u64() >= Some(2_000) && out["pages"].as_u64() > Some(2), "{out:#}");
    for (what, expected) in [("aborted", true), ("unknown", true), ("gone", true)] {
        assert_eq!(out[what], expected, "{what}: {out:#}");
    }
}
