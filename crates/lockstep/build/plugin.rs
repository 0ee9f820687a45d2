//! Lists the files of the plugin, which the program carries.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// `plugin_files.rs`: every file of `plugin/` with its text, in the order of their paths.
pub(crate) fn list() {
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
