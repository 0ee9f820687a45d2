//! `docs/guide/mcp.md` is true: each of its commands is run by a shell, and what it prints is compared.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::inactive;

#[test]
fn examples_of_the_mcp_guide_work() {
    let env = inactive();
    symlink(env!("CARGO_BIN_EXE_lockstep"), env.outside_dir().join("lockstep")).unwrap();
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/mcp.md");
    let guide = fs::read_to_string(guide).unwrap();
    let mut commands = 0;
    for block in guide.split("```console\n").skip(1) {
        let block = block.split("```\n").next().unwrap();
        for part in format!("\n{block}").split("\n$ ").skip(1) {
            // A command with a document behind it goes on to that document's end.
            let end = part.find("\nEND").map_or_else(|| part.find('\n').unwrap_or(part.len()), |at| at + 4);
            let (command, text) = part.split_at(end);
            let output = Command::new("sh")
                .args(["-c", command])
                .current_dir(env.project())
                .env_clear()
                .env("PATH", format!("{}:/usr/bin:/bin", env.outside_dir().display()))
                .env("HOME", env.home())
                .output()
                .unwrap();
            let message = String::from_utf8(output.stdout).unwrap();
            assert_eq!(message.trim(), text.trim(), "$ {command}");
            assert!(output.stderr.is_empty(), "$ {command}\n{}", String::from_utf8_lossy(&output.stderr));
            commands += 1;
        }
    }
    assert_eq!(commands, 3);
}

#[test]
fn the_registration_in_the_guide_is_one() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/mcp.md");
    let guide = fs::read_to_string(guide).unwrap();
    let block = guide.split("```json\n").nth(1).unwrap().split("```").next().unwrap();
    let config: serde_json::Value = serde_json::from_str(block).unwrap();
    assert_eq!(config["mcpServers"]["lockstep"]["args"], serde_json::json!(["mcp"]));
}
