//! Decides from the surrounding text whether a path or name in it means a file of this project.

use std::collections::BTreeSet;

use crate::entity::is_common_file_name;
use crate::language::Language;
use crate::text::WrittenPath;
use crate::world::{World, base, join, parent};

/// Returns true for files whose lines are patterns of paths, not references.
pub(super) fn is_pattern_list(path: &str) -> bool {
    let name = base(path);
    name.starts_with('.') && name.ends_with("ignore") || matches!(name, ".gitattributes" | ".gitmodules")
}

/// Returns true unless the path is part of something else: a revision's path, a glob, a link elsewhere, the
/// output of a tool.
pub(super) fn is_meant_here(world: &dyn World, from: &str, text: &str, path: &WrittenPath) -> bool {
    let before = text.get(..path.range.start).unwrap_or_default();
    let after = text.get(path.range.end..).unwrap_or_default();
    let of_revision = before
        .strip_suffix(':')
        .is_some_and(|strip_suffix| strip_suffix.ends_with(|c: char| c.is_alphanumeric()));
    let of_glob = before.ends_with("*/") || before.ends_with("**") || path.written.contains('*');
    let label = after.trim_start_matches(['`', '"', '\'', '*']);
    let label_of_url = label
        .strip_prefix("](")
        .is_some_and(|rest| rest.split([')', '\n']).next().unwrap_or_default().contains("://"));
    let of_output = Language::of(from) == Language::Markdown && is_output(before, after);
    !(of_revision || of_glob || label_of_url || of_output || exists_below(world, from, path))
}

/// Returns true in a code block of Markdown, for a line that is only a path, and for a path with a line number.
fn is_output(before: &str, after: &str) -> bool {
    let is_fence = |line: &&str| ["```", "~~~"].iter().any(|fence| line.trim_start().starts_with(fence));
    if before.lines().filter(is_fence).count() % 2 == 0 {
        return false;
    }
    let start = before.rsplit('\n').next().unwrap_or_default();
    let end = after.split('\n').next().unwrap_or_default();
    let has_number = end.strip_prefix(':').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    has_number || start.trim_matches([' ', '\t', '│', '├', '└', '─']).is_empty() && end.trim().is_empty()
}

/// Returns true if a path from the top (`/img/a.png`) exists below a directory of the file, which may be the
/// top of a site, or if an included header exists in a directory that the build names.
fn exists_below(world: &dyn World, from: &str, path: &WrittenPath) -> bool {
    let rest = path.written.trim_matches(['"', '\'', '`', '<', '>']);
    if matches!(Language::of(from), Language::C | Language::Cpp) {
        let is_end = |of: &str| of.strip_suffix(rest).is_some_and(|start| start.ends_with('/'));
        return world.named(base(rest)).iter().any(|file| is_end(world.path(*file)));
    }
    let Some(rest) = rest.strip_prefix('/') else { return false };
    let tops = std::iter::successors(Some(parent(from)), |name| (!name.is_empty()).then(|| parent(name)));
    tops.filter_map(|top| join(top, rest)).any(|path| world.find(&path).is_some())
}

/// Returns false for a path such as `src/index.ts` whose directory no longer exists: every package has one.
pub(super) fn is_specific(folders: &BTreeSet<String>, path: &str) -> bool {
    !is_common_file_name(base(path)) || path.split('/').count() > 2 || folders.contains(parent(path))
}

/// Returns true if files of these paths may be in one project: they are below the same directory, or the
/// import names the directory at the top.
pub(super) fn is_same_project(from: &str, path: &str, module: &[&str]) -> bool {
    let top = path.split('/').next().unwrap_or_default();
    if matches!(module.first(), Some(&"crate" | &"self" | &"super")) {
        let owner = path.find("/src/").and_then(|at| path.get(..at + 5)).unwrap_or(parent(path));
        return from.starts_with(owner);
    }
    let folders = |path: &str| path.split('/').rev().skip(1).map(str::to_owned).collect::<Vec<_>>();
    let (ours, theirs) = (folders(from), folders(path));
    let is_shared = |depth: usize| {
        let (ours, theirs) = (ours.iter().rev().nth(depth), theirs.iter().rev().nth(depth));
        theirs.is_none_or(|folder| ours == Some(folder) || module.contains(&&**folder))
    };
    is_shared(0) && is_shared(1) || module.contains(&top)
}

/// Returns true if the parts of a module's name are the end of a path.
pub(super) fn ends_like(path: &str, module: &[&str]) -> bool {
    let stem = base(path).split('.').next().unwrap_or_default();
    let mut parts = module.iter().rev();
    if !is_common_file_name(base(path)) && parts.next() != Some(&stem) {
        return false;
    }
    let folder = base(parent(path));
    match parts.next() {
        None | Some(&"crate" | &"self" | &"super") => true,
        Some(part) => folder.is_empty() || folder == *part,
    }
}

/// Returns true if a line has the name as a unit: in quotes, behind a sign, as a value; not as a word of a
/// sentence.
pub(super) fn is_delimited_name(text: &str, line: u32, name: &str) -> bool {
    let number = usize::try_from(line).unwrap_or_default().saturating_sub(1);
    let Some(line) = text.lines().nth(number) else { return false };
    line.match_indices(name).any(|(at, _)| {
        let before = line.get(..at).unwrap_or_default();
        let after = line.get(at + name.len()..).unwrap_or_default();
        let is_listed = before.trim() == "-" && !after.starts_with(' ');
        let is_value = before.trim_end().ends_with([':', '=', ',', '[']);
        let is_signed = before.ends_with(['`', '"', '\'', '/', '@', '(', '[', '{', ':', '=', ',', '$']);
        is_listed || is_value || is_signed
    })
}
