//! Dependents among the files that the index does not have: those over the size limit, and tracked files that
//! an ignore rule matches. Nothing is resolved in them: a line that has a changed name may refer to it.

use std::collections::BTreeSet;
use std::path::Path;

use lockstep_git::local::LocalRepository;
use lockstep_index::index::Index;
use lockstep_index::scope::is_left_out;
use lockstep_refs::definition_diff::DefinitionChangeKind;
use lockstep_refs::impact::{Dependent, Evidence, FileChange, FileImpact, Hop, Impact};
use lockstep_refs::language::Language;
use lockstep_refs::reference::{Certainty, Kind};
use lockstep_refs::world::World as _;

use super::analysis::plain_text;
use crate::refs::package::has_word;

/// More files are not searched.
const MAX_FILES: usize = 200;

/// The maximum number of lines that are listed for a file.
const MAX_LINES: usize = 20;

/// The maximum length of a listed line: files over the size limit are often generated.
const MAX_LINE_CHARS: usize = 200;

/// Adds the files that have a name which a change removed, renamed or gave another signature. Returns their paths.
pub(super) fn add(
    root: &Path,
    index: &Index,
    impact: &mut Impact,
    is_over: &dyn Fn() -> bool,
) -> Vec<String> {
    let mut found = BTreeSet::new();
    let changed: Vec<(Language, BTreeSet<String>)> =
        impact.files.iter().map(|file| (Language::of(&file.path), changed_names(file))).collect();
    let languages: BTreeSet<Language> =
        changed.iter().filter(|(_, names)| !names.is_empty()).map(|(language, _)| *language).collect();
    if languages.is_empty() {
        return Vec::new();
    }
    for path in unread_files(root, index).into_iter().take(MAX_FILES) {
        let language = Language::of(&path);
        if is_over() {
            impact.truncated = true;
            break;
        }
        if !languages.contains(&language) || impact.files.iter().any(|file| file.path == path) {
            continue;
        }
        let Some(text) = plain_text(&root.join(&path)) else { continue };
        for (file, (_, names)) in
            impact.files.iter_mut().zip(&changed).filter(|(_, (changed, _))| *changed == language)
        {
            let evidence = mentions(&text, names);
            if let Some(first) = evidence.first() {
                found.insert(path.clone());
                file.dependents.push(Dependent {
                    path: path.clone(),
                    hop: Hop::Direct,
                    kind: Kind::Mention,
                    breaks: false,
                    certainty: Certainty::Possible,
                    pattern: first.pattern.clone(),
                    evidence,
                });
            }
        }
    }
    found.into_iter().collect()
}

/// The names under which other files use what the change no longer has as it was.
fn changed_names(file: &FileImpact) -> BTreeSet<String> {
    let is_kept = |what: &DefinitionChangeKind| {
        matches!(what, DefinitionChangeKind::BodyChanged | DefinitionChangeKind::Compatible)
    };
    let symbols = file.symbols.iter().filter(|change| !is_kept(&change.what));
    let mut names: BTreeSet<String> = symbols.map(|change| change.was.name.to_string()).collect();
    let former = match &file.change {
        FileChange::Deleted => Some(&file.path),
        FileChange::Renamed { from } => Some(from),
        FileChange::Created | FileChange::Modified => None,
    };
    let stem = former.and_then(|path| Path::new(path).file_stem()?.to_str());
    names.extend(stem.map(str::to_owned));
    names
}

/// The files outside the index, relative to the root.
fn unread_files(root: &Path, index: &Index) -> Vec<String> {
    let too_large = index.unread_files().into_iter().filter(|(_, reason)| *reason == "too large");
    let mut files: Vec<String> = too_large.map(|(path, _)| path).collect();
    let unlisted = LocalRepository::discover(root)
        .and_then(|repository| repository.tracked_besides(|path| index.find(path).is_some()));
    let is_ignored = |path: &String| index.takes(path) && !is_left_out(root, Path::new(path));
    files.extend(unlisted.unwrap_or_default().into_iter().take(MAX_FILES).filter(is_ignored));
    files
}

/// The lines that have one of the names as a complete word.
fn mentions(text: &str, names: &BTreeSet<String>) -> Vec<Evidence> {
    let found = text.lines().zip(1..).filter_map(|(line, number)| {
        let name = names.iter().find(|name| has_word(line, name))?;
        Some(Evidence {
            line: number,
            text: line.trim().chars().take(MAX_LINE_CHARS).collect(),
            kind: Kind::Mention,
            breaks: false,
            certainty: Certainty::Possible,
            pattern: name.clone(),
        })
    });
    found.take(MAX_LINES).collect()
}
