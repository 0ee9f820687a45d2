//! Builds the measured programs with cargo.

use std::path::{Path, PathBuf};

use crate::metadata::Metadata;
use crate::{XtaskResult, workspace};

/// Paths of the measured programs.
pub(super) struct Programs {
    pub(super) lockstep: PathBuf,
    pub(super) noop_hook: PathBuf,
    pub(super) noop_hook_linked: PathBuf,
    pub(super) peak_rss: PathBuf,
    pub(super) script: PathBuf,
    pub(super) kind_script: PathBuf,
    /// `None` if Node is not installed.
    pub(super) node: Option<PathBuf>,
}

impl Programs {
    /// Builds the programs with the profile of released binaries.
    ///
    /// A smoke run uses the profile of the tests: it checks that the benchmark works, and an optimised build would take
    /// longer than the rest of CI.
    pub(super) fn build(smoke: bool) -> XtaskResult<Self> {
        let (profile, folder) = if smoke { ("dev", "debug") } else { ("dist", "dist") };
        // One after the other: cargo unifies features within one call, and the product must not get those of xtask.
        cargo_build(profile, &["-p", "lockstep-cli", "--bin", "lockstep"])?;
        cargo_build(
            profile,
            &["-p", "xtask", "--bin", "noop_hook", "--bin", "noop_hook_linked", "--bin", "peak_rss"],
        )?;
        let built = Metadata::load(&[])?.target_directory.join(folder);
        let scripts = workspace::root().join("xtask/bench");
        let programs = Self {
            lockstep: built.join("lockstep"),
            noop_hook: built.join("noop_hook"),
            noop_hook_linked: built.join("noop_hook_linked"),
            peak_rss: built.join("peak_rss"),
            script: scripts.join("journal.sh"),
            kind_script: scripts.join("journal_one_jq.sh"),
            node: on_path("node"),
        };
        for path in [&programs.lockstep, &programs.noop_hook, &programs.noop_hook_linked, &programs.peak_rss]
        {
            exists(path)?;
        }
        Ok(programs)
    }
}

fn cargo_build(profile: &str, what: &[&str]) -> XtaskResult {
    let mut cargo = workspace::cargo();
    cargo.args(["build", "--quiet", "--locked", "--profile", profile]).args(what);
    workspace::output(cargo).map(drop)
}

/// The program a shell would start for `name`.
fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(name)).find(|path| path.is_file())
}

fn exists(path: &Path) -> XtaskResult {
    if path.is_file() { Ok(()) } else { Err(format!("cargo built no {}", path.display()).into()) }
}
