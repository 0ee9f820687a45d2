//! `docs/guide/task.md` is true: each of its commands is run by a shell, and what it prints is compared.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::active;
use crate::task_pipeline::{gate, l2};

#[test]
fn the_guide_to_the_task_is_true() {
    let env = active();
    env.write("src/auth.rs", "x\n");
    env.write(
        "impact.yaml",
        "modules:\n  - {name: auth, files: [src/auth.rs], dependencies: [store]}\ninterfaces:\n  \
         - {from: api, to: auth, contract: login returns a session}\nrisk_hotspots: []\n",
    );
    for n in 1..=3 {
        env.write(format!("work/{n}/L2-summary.md"), l2(&format!("P{n}-work")));
        env.write(format!("work/{n}/gate-record.yaml"), gate(n));
    }
    symlink(env!("CARGO_BIN_EXE_lockstep"), env.elsewhere().join("lockstep")).unwrap();
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/task.md");
    let guide = fs::read_to_string(guide).unwrap();
    let mut commands = 0;
    for block in guide.split("```console\n").skip(1) {
        let block = block.split("```\n").next().unwrap();
        for part in format!("\n{block}").split("\n$ ").skip(1) {
            let (command, shown) = part.split_once('\n').unwrap_or((part, ""));
            let output = Command::new("sh")
                .args(["-c", command])
                .current_dir(env.project())
                .env_clear()
                .env("PATH", format!("{}:/usr/bin:/bin", env.elsewhere().display()))
                .env("HOME", env.home())
                .env("LOCKSTEP_NOW", env.now())
                .output()
                .unwrap();
            let said = String::from_utf8(output.stdout).unwrap();
            assert_eq!(said.trim_end(), shown.trim_end(), "$ {command}");
            assert!(output.stderr.is_empty(), "$ {command}\n{}", String::from_utf8_lossy(&output.stderr));
            commands += 1;
        }
    }
    assert!(commands > 20, "{commands}");
}
