//! The programs that are measured, built by cargo.

use std::path::{Path, PathBuf};

use crate::metadata::Metadata;
use crate::{Outcome, workspace};

/// Where each program is.
pub(super) struct Programs {
    pub(super) lockstep: PathBuf,
    pub(super) bare: PathBuf,
    pub(super) bare_linked: PathBuf,
    pub(super) peak: PathBuf,
    pub(super) script: PathBuf,
    pub(super) kind_script: PathBuf,
    /// Where there is one.
    pub(super) node: Option<PathBuf>,
}

impl Programs {
    /// Builds them as the product is built; for a smoke run as the tests are, because whether the benchmark works does not
    /// depend on the optimiser, and optimising for it would take longer than everything else that CI does.
    pub(super) fn build(smoke: bool) -> Outcome<Self> {
        let (profile, folder) = if smoke { ("dev", "debug") } else { ("release", "release") };
        // One after the other: together, cargo would give the product the features that the measuring programs ask for.
        cargo_build(profile, &["-p", "lockstep-cli", "--bin", "lockstep"])?;
        cargo_build(profile, &["-p", "xtask", "--bin", "bare", "--bin", "bare_linked", "--bin", "peak"])?;
        let built = Metadata::load()?.target_directory.join(folder);
        let scripts = workspace::root().join("xtask/bench");
        let programs = Self {
            lockstep: built.join("lockstep"),
            bare: built.join("bare"),
            bare_linked: built.join("bare_linked"),
            peak: built.join("peak"),
            script: scripts.join("journal.sh"),
            kind_script: scripts.join("journal_one_jq.sh"),
            node: on_path("node"),
        };
        for path in [&programs.lockstep, &programs.bare, &programs.bare_linked, &programs.peak] {
            exists(path)?;
        }
        Ok(programs)
    }
}

fn cargo_build(profile: &str, what: &[&str]) -> Outcome {
    let mut cargo = workspace::cargo();
    cargo.args(["build", "--quiet", "--locked", "--profile", profile]).args(what);
    workspace::output(cargo).map(drop)
}

/// The program a shell would start for `name`.
fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(name)).find(|path| path.is_file())
}

fn exists(path: &Path) -> Outcome {
    if path.is_file() { Ok(()) } else { Err(format!("cargo built no {}", path.display()).into()) }
}
