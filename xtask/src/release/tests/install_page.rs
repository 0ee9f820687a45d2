//! The commands of `docs/guide/install.md`, run by the real clients in an empty home.
//!
//! `LOCKSTEP_PACKAGES=DIR` installs the packages of a release instead of a stand-in. Then each installed program also sets a
//! project up, and the time from the first command to the first answer is printed.

use std::time::Instant;

use super::*;

/// A section of the page: its commands, and the files that its commands install and remove.
struct Way {
    heading: &'static str,
    client: &'static str,
    /// Relative to the home.
    program: &'static str,
    more: &'static [&'static str],
}

const NPM: Way = Way {
    heading: "npm",
    client: "npm",
    program: "npm/bin/lockstep",
    more: &["npm/share/man/man1/lockstep.1"],
};

const PIP: Way = Way {
    heading: "pip",
    client: "python3",
    program: ".venvs/lockstep/bin/lockstep",
    more: &[".venvs/lockstep/share/man/man1/lockstep.1"],
};

const PIPX: Way = Way { heading: "pipx", client: "pipx", program: ".local/bin/lockstep", more: &[] };

const UV: Way = Way { heading: "uv", client: "uv", program: ".local/bin/lockstep", more: &[] };

const DEBIAN: Way = Way {
    heading: "Debian",
    client: "dpkg",
    program: "root/usr/bin/lockstep",
    more: &[
        "root/usr/share/man/man1/lockstep.1.gz",
        "root/usr/share/bash-completion/completions/lockstep",
        "root/usr/share/doc/lockstep/copyright",
    ],
};

const INSTALLER: Way = Way {
    heading: "Installer",
    client: "tar",
    program: ".local/bin/lockstep",
    more: &[".local/share/zsh/site-functions/_lockstep", ".local/share/man/man1/lockstep-impact.1"],
};

/// Returns the blocks of shell commands of a section: the installation and the removal.
fn blocks(heading: &str) -> (String, String) {
    let page = fs::read_to_string(workspace::root().join("docs/guide/install.md")).unwrap();
    let (_, section) = page.split_once(&format!("\n## {heading}\n")).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let mut blocks =
        section.split("```sh\n").skip(1).map(|block| block.split("```").next().unwrap().to_owned());
    let both = (blocks.next().unwrap(), blocks.next().unwrap());
    assert_eq!(blocks.next(), None, "{heading}");
    both
}

/// An empty home in which the commands run.
struct Home {
    folder: tempfile::TempDir,
    packages: PathBuf,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let packages = match std::env::var_os("LOCKSTEP_PACKAGES") {
            Some(created) => PathBuf::from(created),
            None => {
                let out = folder.path().join("out");
                write(&out, packed("file:///packages")).unwrap();
                out
            }
        };
        let home = Self { folder, packages };
        fs::create_dir_all(home.path("bin")).unwrap();
        for folder in ["info", "updates", "triggers"] {
            fs::create_dir_all(home.path("root/var/lib/dpkg").join(folder)).unwrap();
        }
        fs::write(home.path("root/var/lib/dpkg/status"), "").unwrap();
        // The real dpkg works in an empty root directory instead of this machine's.
        let sudo = "#!/bin/sh\nshift\nexec dpkg --root=\"$HOME/root\" --log=\"$HOME/log\" --force-not-root --force-bad-path --force-depends \"$@\"\n";
        lockstep_testkit::write_script(&home.path("bin/sudo"), sudo);
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("home").join(name)
    }

    /// Runs commands with `set -e`; they must succeed.
    fn run(&self, commands: &str, directory: &Path) -> String {
        let path = std::env::var("PATH").unwrap();
        let own = ["bin", "npm/bin", "root/usr/bin", ".local/bin"]
            .map(|name| self.path(name).display().to_string());
        let output = Command::new("sh")
            .args(["-ec", commands])
            .current_dir(directory)
            .env("HOME", self.path(""))
            .env("PACKAGES", &self.packages)
            .env("PATH", format!("{}:{path}", own.join(":")))
            // Nothing is fetched: an optional dependency of another platform is not there.
            .env("npm_config_prefix", self.path("npm"))
            .env("npm_config_offline", "true")
            .env_remove("PYTHONPATH")
            .env_remove("LOCKSTEP_BASE_URL")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{commands}\n{text}");
        String::from_utf8(output.stdout).unwrap()
    }
}

fn install_and_remove(way: &Way) {
    if Command::new(way.client).arg("--version").output().is_err() {
        let _ = writeln!(std::io::stderr(), "SKIPPED {}: {} is not on PATH", way.heading, way.client);
        return;
    }
    let home = Home::new();
    let (install, remove) = blocks(way.heading);
    let started = Instant::now();
    let output = home.run(&install, home.folder.path());
    assert!(output.contains("lockstep 0.1.0"), "{output}");
    let program = home.path(way.program);
    if std::env::var_os("LOCKSTEP_PACKAGES").is_some() {
        use_project(way, &home, &program, started);
    } else {
        assert_eq!(
            fs::read(&program).unwrap(),
            STAND_IN.as_bytes(),
            "the program itself, not a script that starts it"
        );
    }
    for file in way.more {
        assert!(home.path(file).exists(), "{file}");
    }
    home.run(&remove, home.folder.path());
    for file in way.more.iter().chain([&way.program]) {
        assert!(!home.path(file).exists(), "{file}");
    }
}

/// Sets a project up with an installed program, checks it and undoes it.
fn use_project(way: &Way, home: &Home, program: &Path, started: Instant) {
    let project = home.path("project");
    fs::create_dir(&project).unwrap();
    let git = "git -c user.name=a -c user.email=a@example.org";
    fs::write(project.join("a.py"), "def hello():\n    return 1\n").unwrap();
    fs::write(project.join("b.py"), "from a import hello\n").unwrap();
    home.run(&format!("git init --quiet && git add . && {git} commit --quiet -m first"), &project);
    fs::write(project.join("a.py"), "def greet():\n    return 1\n").unwrap();
    let lockstep = format!("'{}'", program.display());
    let prepared = Instant::now();
    let answer = home.run(&format!("{lockstep} impact"), &project);
    assert!(answer.contains("b.py:1: hello is now greet"), "{answer}");
    let _ = writeln!(
        std::io::stderr(),
        "{}: {:.1} s from the first command to the first answer, {:.0} ms of it for the answer",
        way.heading,
        started.elapsed().as_secs_f64(),
        prepared.elapsed().as_secs_f64() * 1000.0
    );
    home.run(&format!("{lockstep} init --client claude && {lockstep} doctor"), &project);
    let settings = fs::read_to_string(project.join(".claude/settings.json")).unwrap();
    assert!(!settings.contains("node"), "{settings}");
    if Command::new("claude").arg("--version").output().is_ok() {
        home.run(&format!("{lockstep} doctor --live"), &project);
        let _ = writeln!(std::io::stderr(), "{}: the real client passed the rehearsal", way.heading);
    } else {
        let _ = writeln!(std::io::stderr(), "SKIPPED rehearsal of {}: claude is not on PATH", way.heading);
    }
    home.run(&format!("{lockstep} self version --check && {lockstep} uninstall --purge"), &project);
    let rest = home.run("git status --short", &project);
    assert_eq!(rest, " M a.py\n", "nothing of the set-up is left");
}

#[test]
fn npm_installs_a_program_that_starts_without_node() {
    install_and_remove(&NPM);
}

#[test]
fn pip_installs_and_removes_the_wheel() {
    install_and_remove(&PIP);
}

#[test]
fn pipx_installs_and_removes_the_wheel() {
    install_and_remove(&PIPX);
}

#[test]
fn uv_installs_and_removes_the_wheel() {
    install_and_remove(&UV);
}

#[test]
fn dpkg_installs_and_removes_the_package() {
    install_and_remove(&DEBIAN);
}

#[test]
fn installer_of_the_page_installs_and_removes() {
    install_and_remove(&INSTALLER);
}
