//! The version that the program says.

use std::env;
use std::process::Command;

/// The version and its commit. Only a release contains the commit: a development build would be rebuilt for every commit.
pub(crate) fn version() -> String {
    let version = env::var("CARGO_PKG_VERSION").unwrap_or_default();
    println!("cargo:rerun-if-env-changed=LOCKSTEP_COMMIT");
    if env::var("PROFILE").is_ok_and(|profile| profile != "release") {
        return version;
    }
    // For sources without git, such as an archive, the builder passes the commit.
    match env::var("LOCKSTEP_COMMIT").ok().filter(|commit| !commit.is_empty()).or_else(commit) {
        Some(commit) => format!("{version} ({commit})"),
        None => version,
    }
}

fn commit() -> Option<String> {
    let git = |arguments: &[&str]| {
        let output =
            Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
        Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
    };
    let head = git(&["rev-parse", "--path-format=absolute", "--git-path", "logs/HEAD"])?;
    println!("cargo:rerun-if-changed={head}");
    let changed =
        if git(&["status", "--porcelain", "--untracked-files=no"])?.is_empty() { "" } else { ", changed" };
    Some(format!("{}{changed}", git(&["rev-parse", "--short=12", "HEAD"])?))
}
