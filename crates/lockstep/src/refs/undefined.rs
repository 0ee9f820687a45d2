//! Names that nothing in the project defines: the places that still use them, and where git last saw them defined.

use lockstep_git::{DiffRange, DiffStatus, Repository};
use lockstep_index::index::Index;
use lockstep_refs::entity::{Entity, EntityKind, is_historical_record};
use lockstep_refs::facts::Facts;
use lockstep_refs::language::{self, Language};
use lockstep_refs::reference::{Certainty, Kind};
use lockstep_refs::text::{self, Subject};
use lockstep_refs::world::{FileId, World as _};
use lockstep_text::decode_lossy;

use crate::refs::package::has_word;
use crate::refs::references::{ReferenceLocation, location};
use crate::workspace::Workspace;

/// The number of commits whose changed files are searched for a former definition.
const MAX_COMMITS: usize = 200;

/// Files of these commits that are parsed.
const MAX_FILES: usize = 40;

fn last_part(name: &str) -> &str {
    name.rsplit(['.', ':', '#']).find(|part| !part.is_empty()).unwrap_or(name)
}

/// The places that use a name which nothing defines: imports and uses of it, paths, then its occurrences in text.
pub(crate) fn uses(index: &Index, name: &str, is_over: &dyn Fn() -> bool) -> Vec<ReferenceLocation> {
    let mut found = Vec::new();
    let entity = [Entity { kind: EntityKind::Path, name: name.into() }];
    if name.contains(['/', '.']) {
        let subject = Subject { path: name, entities: &entity, symbols: &[], history: false };
        for reference in text::referrers(index, &subject) {
            let (kind, certainty) = (reference.kind, reference.certainty);
            found.extend(location(
                index,
                reference.file,
                reference.line,
                kind,
                &reference.pattern,
                certainty,
            ));
        }
    }
    let last = if is_path(name) { name } else { last_part(name) };
    // A number is a line that a file does not have.
    if last.bytes().all(|byte| byte.is_ascii_digit()) {
        return found;
    }
    for file in index.containing(last) {
        if is_over() {
            break;
        }
        uses_in(index, file, name, last, &mut found);
    }
    found
}

/// Returns true if a name is that of a file, so that its last part alone is meaningless.
pub(crate) fn is_path(name: &str) -> bool {
    let name = name.trim_end_matches(|c: char| c == ':' || c.is_ascii_digit());
    name.contains('/') || Language::of(name) != Language::Text
}

fn uses_in(index: &Index, file: FileId, name: &str, last: &str, found: &mut Vec<ReferenceLocation>) {
    let mut lines: Vec<(u32, Kind)> = Vec::new();
    let is_path = is_path(name);
    let Some(text) = index.text(file) else { return };
    if !is_path {
        // Names that are bound nowhere are part of no index.
        let facts = language::facts_with_unbound_names(index.path(file), &text);
        let imported = facts.imports.iter().flat_map(|import| &import.names);
        lines.extend(
            imported.filter(|imported| *imported.name == *last).map(|imported| (imported.line, Kind::Import)),
        );
        lines.extend(
            facts.uses.iter().filter(|usage| *usage.name == *last).map(|usage| (usage.line, Kind::Symbol)),
        );
    }
    let other = (1_u32..)
        .zip(text.lines())
        .filter(|(number, line)| has_word(line, last) && !lines.iter().any(|(known, _)| known == number));
    let mentions: Vec<(u32, Kind)> = other.map(|(number, _)| (number, Kind::Mention)).collect();
    for (line, kind) in lines.into_iter().chain(mentions) {
        found.extend(location(index, file, line, kind, last, Certainty::Possible));
    }
}

/// Sorts the places of an undefined name: code first, records of the past last.
pub(crate) fn sort(found: &mut Vec<ReferenceLocation>) {
    let rank = |reference_location: &ReferenceLocation| {
        (
            is_historical_record(&reference_location.file),
            reference_location.kind >= Kind::Mention,
            reference_location.file.clone(),
            reference_location.line,
            reference_location.kind,
        )
    };
    found.sort_by_key(rank);
    found.dedup_by(|a, b| (&a.file, a.line) == (&b.file, b.line));
}

impl Workspace {
    /// Describes the last definition of a name, as far as git knows it: `in src/a.py until commit 1a2b3c4`.
    pub(crate) fn former_definition(&self, name: &str) -> Option<String> {
        let repository = self.repository.as_ref()?;
        let last = last_part(name);
        self.defined_in_last_commit(repository, name, last)
            .or_else(|| self.defined_before(repository, last))
            .or_else(|| removed_file(repository, name))
    }

    fn defined_in_last_commit(&self, repository: &Repository, name: &str, last: &str) -> Option<String> {
        repository.head().ok()??;
        for change in repository.diff(&DiffRange::HeadToWorktree).ok()? {
            let path = match change.status {
                DiffStatus::Added => continue,
                DiffStatus::Renamed { from } => from,
                DiffStatus::Deleted | DiffStatus::Modified => change.path,
            };
            let is_file = path == name || path.ends_with(&format!("/{name}"));
            if is_file || defines(repository, "HEAD", &path, last) {
                return Some(format!("in {path}, in the last commit"));
            }
        }
        None
    }

    /// Returns the names that uncommitted files defined in the last commit.
    pub(crate) fn names_before_edits(&self) -> Vec<String> {
        let Some(repository) = &self.repository else { return Vec::new() };
        let changed = repository.diff(&DiffRange::HeadToWorktree).unwrap_or_default();
        let former = changed.into_iter().filter_map(|change| match change.status {
            DiffStatus::Added => None,
            DiffStatus::Renamed { from } => Some(from),
            DiffStatus::Deleted | DiffStatus::Modified => Some(change.path),
        });
        let mut names = Vec::new();
        for path in former.take(MAX_FILES) {
            let facts = committed_facts(repository, "HEAD", &path);
            names.extend(
                facts.iter().flat_map(|facts| &facts.definitions).map(|candidate| candidate.name.to_string()),
            );
        }
        names
    }

    fn defined_before(&self, repository: &Repository, last: &str) -> Option<String> {
        let commits = repository.commits_touching(last, MAX_COMMITS).ok()?;
        let files = commits.iter().flat_map(|(commit, paths)| paths.iter().map(move |path| (commit, path)));
        files.take(MAX_FILES).find_map(|(commit, path)| {
            let short = commit.get(..10).unwrap_or(commit);
            defines(repository, &format!("{commit}^"), path, last)
                .then(|| format!("in {path}, until commit {short}"))
        })
    }
}

fn defines(repository: &Repository, state: &str, path: &str, name: &str) -> bool {
    let facts = committed_facts(repository, state, path);
    facts.is_some_and(|facts| facts.definitions.iter().any(|definition| *definition.name == *name))
}

fn committed_facts(repository: &Repository, state: &str, path: &str) -> Option<Facts> {
    let content = repository.read_blobs(state, &[path.to_owned()]).ok()?.pop().flatten()?;
    Some(language::facts(path, &decode_lossy(&content)))
}

fn removed_file(repository: &Repository, name: &str) -> Option<String> {
    let removed = repository.removed_files().ok()?;
    let named = removed
        .iter()
        .find(|candidate| candidate.path == name || candidate.path.ends_with(&format!("/{name}")))?;
    let short = named.commit.get(..10).unwrap_or(&named.commit);
    Some(format!("as {}, until commit {short}", named.path))
}
