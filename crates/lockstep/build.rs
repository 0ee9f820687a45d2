//! Lists the files of the plugin, which the program carries, and links the unwinder into the program where that is possible, so that starting
//! it loads one library less.
//!
//! Clients start a hook for every tool call and wait for it; finding, mapping and relocating `libgcc_s.so` is a measurable part
//! of that (see docs/benchmarks.md). Without the static library everything works as before.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    list_plugin();
    link_unwinder();
}

/// `plugin_files.rs`: every file of `plugin/` with its text, in the order of their paths.
fn list_plugin() {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo says it")).join("../../plugin");
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut files = Vec::new();
    collect(&folder, "", &mut files);
    files.sort();
    let mut table = "&[\n".to_owned();
    for file in files {
        let path = folder.join(&file);
        let _ = writeln!(table, "    ({file:?}, include_str!({:?})),", path.display().to_string());
    }
    table.push_str("]\n");
    let out = Path::new(&env::var("OUT_DIR").expect("cargo says it")).join("plugin_files.rs");
    fs::write(out, table).expect("cargo's folder can be written");
}

fn collect(folder: &Path, prefix: &str, files: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("the plugin is part of the repository") {
        let entry = entry.expect("a folder that was opened can be read");
        let name = format!("{prefix}{}", entry.file_name().into_string().expect("its names are plain"));
        match entry.path().is_dir() {
            true => collect(&entry.path(), &format!("{name}/"), files),
            false => files.push(name),
        }
    }
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
