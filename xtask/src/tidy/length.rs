//! Source files stay short: at most 500 lines, except for a list that may only shrink.

use std::fs;

use super::Violation;
use crate::XtaskResult;
use crate::workspace::{self, SourceFile};

pub(super) const SHORT_FILES: &str = "No Rust file has more than 500 lines.";
pub(super) const SHORT_FILES_WHY: &str = "a file holds one concept, and a reader finds it by its name. Move the second concept into its own file. \
     xtask/tidy/long-files.txt lists the older files that are longer; `cargo xtask tidy --tighten` removes those that no longer are.";

const LIMIT: usize = 500;

/// Paths of the files that may be longer, one per line.
const EXCEPTIONS: &str = "xtask/tidy/long-files.txt";

pub(super) fn breaches(files: &[SourceFile]) -> XtaskResult<Vec<Violation>> {
    let text = fs::read_to_string(workspace::root().join(EXCEPTIONS))?;
    Ok(long(files, &text.lines().collect::<Vec<_>>()))
}

fn long(files: &[SourceFile], exceptions: &[&str]) -> Vec<Violation> {
    let is_breach = |file: &&SourceFile| is_long(file) && !exceptions.contains(&file.path.as_str());
    files
        .iter()
        .filter(is_breach)
        .map(|file| Violation::new(&file.path, format!("has {} lines", file.text.lines().count())))
        .collect()
}

fn is_long(file: &SourceFile) -> bool {
    file.path.ends_with(".rs") && file.text.lines().count() > LIMIT
}

/// Removes files from the exceptions that are short or deleted.
pub(super) fn tighten(files: &[SourceFile]) -> XtaskResult {
    let path = workspace::root().join(EXCEPTIONS);
    let text = fs::read_to_string(&path)?;
    let still_long = |name: &&str| files.iter().any(|file| file.path == *name && is_long(file));
    let lines: String = text.lines().filter(still_long).map(|name| format!("{name}\n")).collect();
    Ok(fs::write(path, lines)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, lines: usize) -> SourceFile {
        SourceFile { path: path.to_owned(), text: "//! A.\n".repeat(lines) }
    }

    #[test]
    fn reports_long_rust_files_without_an_exception() {
        let files = [file("a.rs", 500), file("b.rs", 501), file("c.rs", 501), file("d.md", 501)];
        assert_eq!(long(&files, &["c.rs"]), [Violation::new("b.rs", "has 501 lines")]);
    }
}
