//! Writes `plugin_files.rs` into the directory of the build: every file of `plugin/` with its text, sorted by path.
//!
//! The texts are literals. An `include_str!` would put the path of the checkout into the compiled crate, and builds in
//! two directories would differ.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

pub(crate) fn list() -> io::Result<()> {
    let folder = Path::new(&env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../../plugin");
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut files = Vec::new();
    collect(&folder, "", &mut files)?;
    files.sort();
    let mut table = "&[\n".to_owned();
    for file in files {
        let text = fs::read_to_string(folder.join(&file))?;
        let _ = writeln!(table, "    ({file:?}, {text:?}),");
    }
    table.push_str("]\n");
    fs::write(Path::new(&env::var_os("OUT_DIR").expect("cargo sets it")).join("plugin_files.rs"), table)
}

fn collect(folder: &Path, prefix: &str, files: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        match entry.path().is_dir() {
            true => collect(&entry.path(), &format!("{name}/"), files)?,
            false => files.push(name),
        }
    }
    Ok(())
}
