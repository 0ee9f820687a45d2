//! Checkers that run on Node: their installation, and the comparison of their messages.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::language::GroundTruth;
use crate::{XtaskResult, workspace};

/// A checker's messages by file.
pub(super) type Messages = BTreeMap<String, Vec<String>>;

/// Installs a checker from its registry into the cache, if it is missing. Returns the path of its package.
pub(in crate::bench) fn install(cache: &Path, name: &str, version: &str) -> XtaskResult<PathBuf> {
    let prefix = cache.join("node").join(format!("{name}-{version}"));
    let package = prefix.join("node_modules").join(name);
    if !package.join("package.json").is_file() {
        fs::create_dir_all(&prefix)?;
        let mut npm = workspace::command("npm");
        npm.args(["install", "--silent", "--no-save", "--prefix"])
            .arg(&prefix)
            .arg(format!("{name}@{version}"));
        workspace::output(npm)?;
    }
    Ok(package)
}

/// Returns the files with new messages, and the first of them.
pub(super) fn fresh(before: &Messages, after: &Messages) -> GroundTruth {
    let mut files = GroundTruth::new();
    for (file, messages) in after {
        let mut known = before.get(file).cloned().unwrap_or_default();
        for message in messages {
            match known.iter().position(|candidate| place(candidate) == place(message)) {
                Some(at) => drop(known.swap_remove(at)),
                None => drop(files.entry(file.clone()).or_insert_with(|| message.clone())),
            }
        }
    }
    files
}

/// Returns the position and code of a message: the part before its text. The other files are unchanged, so an
/// error at a known position is not new, even if its text lists the parts of a type in another order.
fn place(message: &str) -> &str {
    message.split_once(": ").map_or(message, |(place, _)| place)
}

/// Returns the messages about the unchanged package, which are computed once.
pub(super) fn baseline(path: &Path, ask: impl FnOnce() -> XtaskResult<Messages>) -> XtaskResult<Messages> {
    if let Ok(text) = fs::read_to_string(path) {
        return Ok(serde_json::from_str(&text)?);
    }
    let messages = ask()?;
    fs::write(path, serde_json::to_string(&messages)?)?;
    Ok(messages)
}

/// Every file below `root` with one of these endings, as a path from there; `skip` names directories that do not count.
pub(super) fn files(root: &Path, endings: &[&str], skip: &[&str]) -> XtaskResult<Vec<String>> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.file_type()?.is_dir() {
                if !skip.contains(&name.as_str()) {
                    folders.push(entry.path());
                }
            } else if endings.iter().any(|end| name.ends_with(end)) {
                let path = entry.path();
                found.push(path.strip_prefix(root)?.to_string_lossy().into_owned());
            }
        }
    }
    found.sort();
    Ok(found)
}
