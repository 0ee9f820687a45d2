//! `docs/guide/steps.md` is true: each of its commands is run by a shell, and what it prints is compared.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::inactive;

#[test]
fn the_guide_to_steps_is_true() {
    let env = inactive();
    env.git(["init", "--quiet"]);
    env.write("src/add.sh", "add() { :; }\n");
    env.write(
        "test.sh",
        "#!/bin/sh\n. src/add.sh\n[ \"$(add 1 2)\" = 3 ] && echo ok || { echo 'add 1 2 is not 3'; exit 1; }\n",
    );
    symlink(env!("CARGO_BIN_EXE_lockstep"), env.elsewhere().join("lockstep")).unwrap();
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/steps.md");
    let guide = fs::read_to_string(guide).unwrap();
    let mut commands = 0;
    for block in guide.split("```console\n").skip(1) {
        let block = block.split("```\n").next().unwrap();
        for part in format!("\n{block}").split("\n$ ").skip(1) {
            let (command, shown) = part.split_once('\n').unwrap_or((part, ""));
            let output = Command::new("sh")
                .args(["-c", &format!("exec 2>&1; {command}")])
                .current_dir(env.project())
                .env_clear()
                .env("PATH", format!("{}:/usr/bin:/bin", env.elsewhere().display()))
                .env("HOME", env.home())
                .env("LOCKSTEP_NOW", env.now())
                .env("GIT_AUTHOR_NAME", "Ada")
                .env("GIT_AUTHOR_EMAIL", "ada@example.org")
                .env("GIT_COMMITTER_NAME", "Ada")
                .env("GIT_COMMITTER_EMAIL", "ada@example.org")
                .output()
                .unwrap();
            let said = String::from_utf8(output.stdout).unwrap();
            assert_eq!(env.neutral(said.trim_end()), shown.trim_end(), "$ {command}");
            commands += 1;
        }
    }
    assert!(commands > 20, "{commands}");
}
