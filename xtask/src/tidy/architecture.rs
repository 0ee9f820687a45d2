//! ARCHITECTURE.md names functions that exist.

use super::Violation;
use crate::workspace::SourceFile;

pub(super) const REAL_FUNCTIONS: &str = "Every `file.rs::name` in ARCHITECTURE.md exists.";
pub(super) const REAL_FUNCTIONS_WHY: &str =
    "newcomers follow the flows through the code. After a rename, rename it there too.";

const PAGE: &str = "ARCHITECTURE.md";

pub(super) fn breaches(files: &[SourceFile]) -> Vec<Violation> {
    let Some(page) = files.iter().find(|file| file.path == PAGE) else { return Vec::new() };
    let mut breaches = Vec::new();
    for (index, line) in page.text.lines().enumerate() {
        for span in line.split('`').skip(1).step_by(2) {
            let Some((path, name)) = span.split_once("::").filter(|(path, _)| path.ends_with(".rs")) else {
                continue;
            };
            if !files.iter().any(|file| is_at(&file.path, path) && defines(&file.text, name)) {
                breaches.push(Violation::on_line(page, index, format!("{span} does not exist")));
            }
        }
    }
    breaches
}

fn is_at(path: &str, end: &str) -> bool {
    path.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

/// Returns true if the text has a function, type, trait or constant of this name.
fn defines(text: &str, name: &str) -> bool {
    ["fn", "struct", "enum", "trait", "const"].iter().any(|keyword| {
        text.match_indices(&format!("{keyword} {name}")).any(|(at, found)| {
            let next = text[at + found.len()..].chars().next();
            next.is_none_or(|c| !c.is_alphanumeric() && c != '_')
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_names_that_no_file_of_that_path_defines() {
        let file = |path: &str, text: &str| SourceFile { path: path.to_owned(), text: text.to_owned() };
        let page = file(PAGE, "`hook/mod.rs::run`, `hook/mod.rs::walk`, `other.rs::run`, `mod.rs`\n");
        let source = file("crates/a/src/hook/mod.rs", "pub(super) fn run(a: u8) {}\nfn walk_all() {}\n");
        let descriptions: Vec<String> =
            breaches(&[page, source]).into_iter().map(|breach| breach.what).collect();
        assert_eq!(descriptions, ["hook/mod.rs::walk does not exist", "other.rs::run does not exist"]);
    }
}
