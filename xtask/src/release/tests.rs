//! Packages of a small stand-in program, made twice and installed by the clients that users have.

mod install_page;

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::*;

/// A script in the place of the binary: it prints a version and its own path.
const STAND_IN: &str = "#!/bin/sh\necho \"lockstep 0.1.0 from $0 $*\"\n";

fn release() -> Release {
    Release {
        version: "0.1.0".to_owned(),
        time: 1_700_000_000,
        maintainer: "The Lockstep authors <lockstep@example.org>".to_owned(),
    }
}

fn triple() -> String {
    format!("{}-unknown-linux-gnu", std::env::consts::ARCH)
}

fn packed(url: &str) -> Vec<Package> {
    let target = Target::parse(&triple()).unwrap();
    pack(&release(), &[(target, STAND_IN.as_bytes().to_vec())], url).unwrap()
}

/// Packages in a new directory, with an empty HOME beside them.
struct Made {
    folder: tempfile::TempDir,
}

impl Made {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let created = Self { folder };
        fs::create_dir(created.path("home")).unwrap();
        write(&created.path("out"), packed("file:///packages")).unwrap();
        created
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The package whose name contains `part`.
    fn package(&self, part: &str) -> PathBuf {
        let files = fs::read_dir(self.path("out")).unwrap().map(|file| file.unwrap().path());
        files.into_iter().find(|file| file.to_string_lossy().contains(part)).unwrap()
    }

    /// Runs a program with an empty HOME. `None` if the machine does not have it, after one line on stderr.
    fn run(&self, program: &str, args: &[&str]) -> Option<Output> {
        let mut command = Command::new(program);
        command.args(args).current_dir(self.folder.path()).env("HOME", self.path("home"));
        command.env("LOCKSTEP_BASE_URL", format!("file://{}", self.path("out").display()));
        match command.output() {
            Ok(output) => Some(output),
            Err(error) => {
                let _ = writeln!(std::io::stderr(), "SKIPPED {program}: {error}");
                None
            }
        }
    }

    /// Runs a program that must succeed. Returns its standard output.
    fn ok(&self, program: &str, args: &[&str]) -> Option<String> {
        let output = self.run(program, args)?;
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program} {args:?}: {text}");
        Some(String::from_utf8(output.stdout).unwrap())
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn packing_twice_gives_the_same_bytes() {
    let (first, second) = (packed("https://example.org"), packed("https://example.org"));
    let names: Vec<&str> = first.iter().map(|package| &*package.name).collect();
    assert_eq!(names.len(), names.iter().collect::<BTreeSet<_>>().len(), "{names:?}");
    for kind in [".tar.gz", ".tgz", ".whl", ".deb", ".rb", ".sh"] {
        assert!(names.iter().any(|name| name.ends_with(kind)), "{kind}: {names:?}");
    }
    for (a, b) in first.iter().zip(&second) {
        assert!(a.name == b.name && a.bytes == b.bytes, "{}", a.name);
    }
}

#[test]
fn sums_are_those_that_sha256sum_computes() {
    let created = Made::new();
    let check = format!("cd '{}' && sha256sum --check --strict SHA256SUMS", created.path("out").display());
    let Some(output) = created.ok("sh", &["-c", &check]) else { return };
    assert_eq!(output.lines().count(), fs::read_dir(created.path("out")).unwrap().count() - 1);
}

#[test]
fn npm_without_scripts_starts_the_program_through_node() {
    let created = Made::new();
    let (main, platform) = (created.package("npm-lockstep-cli-0"), created.package("npm-lockstep-cli-linux"));
    let prefix = created.path("prefix");
    let install = ["install", "--global", "--offline", "--ignore-scripts", "--prefix", text(&prefix)];
    if created.ok("npm", &[&install[..], &[text(&platform), text(&main)]].concat()).is_none() {
        return;
    }
    let message = created.ok(text(&prefix.join("bin/lockstep")), &["refs", "a b"]).unwrap();
    assert!(message.contains("lockstep-cli-linux") && message.ends_with("refs a b\n"), "{message}");
    // Without the platform's package the script says what is missing.
    created.ok("npm", &["uninstall", "--global", "--prefix", text(&prefix), platform_name()]).unwrap();
    let output = created.run(text(&prefix.join("bin/lockstep")), &[]).unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && message.contains("is not installed"), "{message}");
}

fn platform_name() -> &'static str {
    if std::env::consts::ARCH == "aarch64" { "lockstep-cli-linux-arm64" } else { "lockstep-cli-linux-x64" }
}

#[test]
fn installer_checks_the_sum_installs_and_removes() {
    let created = Made::new();
    let (script, to) = (created.path("out/install.sh"), created.path("local"));
    let message = created.ok("sh", &[text(&script), "--to", text(&to)]).unwrap();
    assert!(message.contains("installed lockstep 0.1.0") && message.contains("is not on PATH"), "{message}");
    assert!(to.join("share/bash-completion/completions/lockstep").is_file());
    created.ok("sh", &[text(&script), "--to", text(&to)]).unwrap();
    created.ok("sh", &[text(&script), "--remove", "--to", text(&to)]).unwrap();
    assert!(!to.join("bin/lockstep").exists() && !to.join("share/man/man1/lockstep.1").exists());

    let tarball = created.package(".tar.gz");
    let mut bytes = fs::read(&tarball).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&tarball, bytes).unwrap();
    let output = created.run("sh", &[text(&script), "--to", text(&to)]).unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && message.contains("nothing was installed"), "{message}");
    assert!(!to.join("bin/lockstep").exists());
}

#[test]
fn completions_are_read_by_their_shells_and_man_pages_by_man() {
    let created = Made::new();
    let unpack = format!("tar -xzf '{}' --strip-components=1", created.package(".tar.gz").display());
    created.ok("sh", &["-c", &unpack]).unwrap();
    created.ok("bash", &["-n", "share/bash-completion/completions/lockstep"]);
    let pages = fs::read_dir(created.path("share/man/man1")).unwrap().count();
    assert!(pages > 50, "{pages}");
    if let Some(page) = created.ok("man", &["--local-file", "share/man/man1/lockstep-impact.1"]) {
        assert!(page.contains("--fail-on"), "{page}");
    }
}

#[test]
fn formula_names_the_tarball_and_its_sum() {
    let packages = packed("https://example.org/v1");
    let find = |end: &str| packages.iter().find(|package| package.name.ends_with(end)).unwrap();
    let formula = String::from_utf8(find(".rb").bytes.clone()).unwrap();
    let tarball = find(".tar.gz");
    assert!(formula.contains(&format!("url \"https://example.org/v1/{}\"", tarball.name)), "{formula}");
    assert!(formula.contains(&format!("sha256 \"{}\"", sha256(&tarball.bytes))), "{formula}");
    let created = Made::new();
    if let Some(output) = created.ok("ruby", &["-c", text(&created.path("out/lockstep.rb"))]) {
        assert!(output.contains("Syntax OK"), "{output}");
    }
}

/// The schemas come with the Python package `cyclonedx-python-lib[json-validation]`.
#[test]
fn bill_of_materials_is_valid_by_the_schema_of_cyclonedx() {
    let check = "import sys
try:
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator
except ImportError as missing:
    sys.exit(f'MISSING {missing}')
sys.exit(str(JsonStrictValidator(SchemaVersion.V1_5).validate_str(open(sys.argv[1]).read()) or '') or 0)";
    let created = Made::new();
    let file = created.path("sbom.json");
    fs::write(&file, bill_of_materials::render("x86_64-unknown-linux-gnu", 0).unwrap()).unwrap();
    let Some(output) = created.run("python3", &["-c", check, text(&file)]) else { return };
    let message = String::from_utf8_lossy(&output.stderr);
    if message.contains("MISSING") {
        let _ = writeln!(std::io::stderr(), "SKIPPED: {message}");
        return;
    }
    assert!(output.status.success(), "{message}");
}
