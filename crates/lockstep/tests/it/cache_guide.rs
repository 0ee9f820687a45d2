//! `docs/guide/session-cache.md` is true: each of its commands is run by a shell, and what it prints is compared.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::active;

#[test]
fn the_guide_to_the_session_cache_is_true() {
    let env = active();
    let skill =
        "---\nname: review\ndescription: Looks at a change before it is merged\n---\nRead the whole diff.\n";
    env.write(".claude/skills/review/SKILL.md", skill);
    env.write(
        ".claude/agents/tester.md",
        "---\nname: tester\ndescription: Writes the tests that a change needs\n---\n",
    );
    symlink(env!("CARGO_BIN_EXE_lockstep"), env.elsewhere().join("lockstep")).unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/session-cache.md");
    let guide = fs::read_to_string(&path).unwrap();
    let mut played = String::new();
    for (at, block) in guide.split("```console\n").enumerate() {
        let Some((commands, rest)) = block.split_once("```\n").filter(|_| at > 0) else {
            played += block;
            continue;
        };
        played += "```console\n";
        for command in commands.lines().filter_map(|line| line.strip_prefix("$ ")) {
            let mut shell = Command::new("sh");
            shell.args(["-c", command]).current_dir(env.project()).env_clear();
            shell.env("PATH", format!("{}:/usr/bin:/bin", env.elsewhere().display()));
            let output = shell.env("HOME", env.home()).env("LOCKSTEP_NOW", env.now()).output().unwrap();
            assert!(output.stderr.is_empty(), "$ {command}\n{}", String::from_utf8_lossy(&output.stderr));
            let said = String::from_utf8(output.stdout).unwrap();
            let end = if said.is_empty() || said.ends_with('\n') { "" } else { "\n" };
            played += &format!("$ {command}\n{said}{end}");
        }
        played += &format!("```\n{rest}");
    }
    if std::env::var_os("INSTA_UPDATE").is_some_and(|value| value == "always") {
        fs::write(&path, &played).unwrap();
    }
    assert_eq!(played, guide, "`INSTA_UPDATE=always cargo test` writes what is printed into the guide");
}
