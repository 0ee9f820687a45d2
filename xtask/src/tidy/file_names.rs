//! Checks that files describe their content in their name and first line.

use super::{Rule, Violation};
use crate::workspace::SourceFile;

pub(super) const HEADER: Rule = Rule {
    asks: "Every Rust file opens with `//!`.",
    why: "the first line tells a newcomer what the file owns and what stays out; without it files become drawers.",
    breaches: header,
};

pub(super) const NO_DRAWERS: Rule = Rule {
    asks: "No file or folder of code is called util, helpers, common or misc.",
    why: "a module is named after the data it owns. When such a name suggests itself, look for that data.",
    breaches: drawers,
};

fn header(file: &SourceFile) -> Vec<Violation> {
    if !file.path.ends_with(".rs") || file.text.starts_with("//!") {
        return Vec::new();
    }
    vec![Violation::new(format!("{}:1", file.path), "say in a `//!` line what this file owns")]
}

fn drawers(file: &SourceFile) -> Vec<Violation> {
    let is_drawer =
        |part: &str| ["util", "helper", "common", "misc"].iter().any(|name| part.starts_with(name));
    match file.path.ends_with(".rs").then(|| file.path.split('/').find(|part| is_drawer(part))).flatten() {
        Some(part) => vec![Violation::new(&file.path, format!("name `{part}` after what it holds"))],
        None => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> SourceFile {
        SourceFile { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn a_file_without_a_header_is_reported() {
        assert_eq!(header(&file("crates/a/src/lib.rs", "use std::fmt;\n")).len(), 1);
        assert!(header(&file("crates/a/src/lib.rs", "//! Owns a.\n")).is_empty());
        assert!(header(&file("docs/a.md", "text")).is_empty());
    }

    #[test]
    fn a_catch_all_module_name_is_reported_anywhere() {
        for path in ["crates/a/src/util.rs", "crates/a/src/utils/x.rs", "crates/a/tests/common/mod.rs"] {
            assert_eq!(drawers(&file(path, "")).len(), 1, "{path}");
        }
        assert!(drawers(&file("crates/a/src/journal.rs", "")).is_empty());
    }
}
