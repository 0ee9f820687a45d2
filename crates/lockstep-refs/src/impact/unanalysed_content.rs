//! Changed files that may define names which are not analysed as definitions: manifests, data, and source
//! code of other languages.

use std::collections::HashSet;

use super::edit::Edit;
use crate::entity::is_manifest;
use crate::language::Language;
use crate::overlay::Overlay;
use crate::world::base;

/// Extensions of texts in which other files use no names: prose, tables, locked versions and ignore rules.
const WITHOUT_NAMES: &[&str] = &[
    "txt", "text", "rst", "adoc", "asciidoc", "org", "tex", "log", "lock", "sum", "csv", "tsv", "svg",
    "patch", "diff",
];

/// Returns true if the edit may have removed a name whose uses are not known.
///
/// Each change of a manifest counts. In other files a line must be missing or perhaps be missing: added lines break
/// nothing.
pub(super) fn is_affected(edit: &Edit, before: &Overlay<'_>, former: Option<&str>) -> bool {
    let path = edit.former_path();
    if is_manifest(path) {
        return edit.is_other_text(before, former);
    }
    let present = edit.present_text(before);
    // An unknown former content may have had any line.
    let misses = |new: &str| former.is_none_or(|old| misses_line(old, new));
    may_define_names(path) && present.as_deref().is_some_and(misses)
}

fn may_define_names(path: &str) -> bool {
    let name = base(path);
    match Language::of(path) {
        Language::Yaml | Language::Json | Language::Toml => !name.contains("lock"),
        Language::Text => name.rsplit_once('.').is_some_and(|(_, extension)| {
            !WITHOUT_NAMES.contains(&extension)
                && !extension.starts_with("git")
                && !extension.ends_with("ignore")
        }),
        _ => false,
    }
}

/// Returns true if a line of `old` that is neither blank nor a comment is missing in `new`. Indentation and the
/// comma behind an entry do not count.
fn misses_line(old: &str, new: &str) -> bool {
    let entry = |line: &'_ str| line.trim().trim_end_matches(',').to_owned();
    let is_comment = |line: &str| ["#", "//", ";", "--"].iter().any(|mark| line.starts_with(mark));
    let present: HashSet<String> = new.lines().map(entry).collect();
    old.lines().map(entry).any(|line| !line.is_empty() && !is_comment(&line) && !present.contains(&line))
}
