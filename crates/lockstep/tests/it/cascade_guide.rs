//! `docs/guide/cascade.md` is true: each of its commands is run by a shell, and what it prints is compared.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::active;
use crate::planted::commit;

#[test]
fn the_guide_to_the_cascade_is_true() {
    let env = active();
    env.write("src/lib.rs", "pub mod report;\npub mod store;\npub mod web;\n");
    env.write("src/store.rs", "pub fn load(key: &str) -> String {\n    format!(\"value of {key}\")\n}\n");
    env.write("src/report.rs", "use crate::store::load;\n\npub fn render(name: &str) -> String {\n    format!(\"# {}\", load(name))\n}\n");
    env.write(
        "src/web.rs",
        "use crate::report::render;\n\npub fn page() -> String {\n    render(\"front\")\n}\n",
    );
    commit(&env);
    symlink(env!("CARGO_BIN_EXE_lockstep"), env.elsewhere().join("lockstep")).unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/cascade.md");
    let guide = fs::read_to_string(&path).unwrap();
    let mut played = String::new();
    let mut commands = 0;
    for (at, block) in guide.split("````console\n").enumerate() {
        let Some((lines, rest)) = block.split_once("````\n").filter(|_| at > 0) else {
            played += block;
            continue;
        };
        played += "````console\n";
        for command in lines.lines().filter_map(|line| line.strip_prefix("$ ")) {
            let mut shell = Command::new("sh");
            shell.args(["-c", command]).current_dir(env.project()).env_clear();
            shell.env("PATH", format!("{}:/usr/bin:/bin", env.elsewhere().display()));
            let output = shell.env("HOME", env.home()).env("LOCKSTEP_NOW", env.now()).output().unwrap();
            assert!(output.stderr.is_empty(), "$ {command}\n{}", String::from_utf8_lossy(&output.stderr));
            let said = env.neutral(&String::from_utf8(output.stdout).unwrap());
            let end = if said.is_empty() || said.ends_with('\n') { "" } else { "\n" };
            played += &format!("$ {command}\n{said}{end}");
            commands += 1;
        }
        played += &format!("````\n{rest}");
    }
    assert!(commands > 8, "{commands}");
    if std::env::var_os("INSTA_UPDATE").is_some_and(|value| value == "always") {
        fs::write(&path, &played).unwrap();
    }
    assert_eq!(played, guide, "`INSTA_UPDATE=always cargo test` writes what is printed into the guide");
}
