//! Tells the program its version, with the commit in a release, and links the unwinder into it where that is possible, so that
//! starting it loads one library less.
//!
//! Clients start a hook for every tool call and wait for it; finding, mapping and relocating `libgcc_s.so` is a measurable part
//! of that (see docs/benchmarks.md). Without the static library everything works as before.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-env=LOCKSTEP_VERSION={}", version());
    link_unwinder();
}

/// The version, and which commit it is. Only a release knows: a build for development would be made anew for every commit.
fn version() -> String {
    let version = env::var("CARGO_PKG_VERSION").unwrap_or_default();
    println!("cargo:rerun-if-env-changed=LOCKSTEP_COMMIT");
    if env::var("PROFILE").is_ok_and(|profile| profile != "release") {
        return version;
    }
    // Sources without git, as in an archive, are told by whoever builds them.
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

fn link_unwinder() {
    println!("cargo:rerun-if-env-changed=CC");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    // The compiler that is asked below knows the libraries of the machine that it runs on.
    let native = env::var("HOST").is_ok_and(|host| is("TARGET", &host));
    if !native || !is("CARGO_CFG_TARGET_OS", "linux") || !is("CARGO_CFG_TARGET_ENV", "gnu") {
        return;
    }
    if let Some(folder) = unwinder_folder() {
        println!("cargo:rustc-link-search=native={folder}");
        println!("cargo:rustc-link-lib=static:-bundle=gcc_eh");
    }
}

/// Where the C compiler has `libgcc_eh.a`, if it has it.
fn unwinder_folder() -> Option<String> {
    let compiler = env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let output = Command::new(compiler).arg("-print-file-name=libgcc_eh.a").output().ok()?;
    let path = String::from_utf8(output.stdout).ok()?;
    // A name without a folder means that there is none.
    let folder = Path::new(path.trim()).parent().filter(|folder| folder.is_absolute())?;
    Some(folder.to_str()?.to_owned())
}
