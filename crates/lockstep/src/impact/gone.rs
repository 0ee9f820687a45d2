//! References to files that no longer exist: which files were, by git, and who still leads to them.

use std::collections::BTreeMap;
use std::sync::Arc;

use lockstep_git::{Between, Repository, Status};
use lockstep_index::index::Index;
use lockstep_refs::dangling::{Former, dangling};
use lockstep_refs::entity::entities;
use lockstep_refs::impact::{After, Before, Edit, Question, impact};
use lockstep_refs::language;
use lockstep_refs::reference::Kind;
use lockstep_refs::world::{World as _, base, parent};

use super::references::{Found, place};
use super::tree::Tree;
use crate::error::CommandError;

/// A file that is gone, and the state of the repository that still has it.
struct Gone {
    path: String,
    state: String,
}

impl Tree {
    /// References to what no longer exists, and how many imports lead nowhere although nobody knows what they meant.
    pub(crate) fn dangling(&self, index: &Index) -> Result<(Vec<Found>, usize), CommandError> {
        let Some(repository) = &self.repository else { return Ok((self.in_text(index, &[]), 0)) };
        let gone = gone(repository, index)?;
        let mut former = Vec::new();
        let mut found = Vec::new();
        let mut imports = Imports::default();
        for Gone { path, state } in &gone {
            let wanted = path.ends_with(".md") || may_be_imported(index, path);
            let text = match wanted {
                true => repository.contents(state, std::slice::from_ref(path))?.pop().flatten(),
                false => None,
            };
            let text = text.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            // Only documents have a name inside.
            let named = text.as_deref().filter(|_| path.ends_with(".md"));
            former.push(Former {
                path: path.as_str().into(),
                entities: entities(path, named, &self.aliases()),
            });
            if let Some(text) = text {
                found.extend(imports.of(self, index, path, text));
            }
        }
        found.extend(self.in_text(index, &former));
        found.sort();
        found.dedup_by(|a, b| (&a.file, a.line) == (&b.file, b.line));
        Ok((found, 0))
    }

    /// Names and paths in documents and other text.
    fn in_text(&self, index: &Index, former: &[Former]) -> Vec<Found> {
        let places = dangling(index, former, &self.aliases());
        let found = places.iter().filter(|place| place.kind < Kind::Mention).filter_map(|at| {
            let target = at.former.and_then(|which| former.get(which)).map(|former| former.path.to_string());
            let place = place(index, at.file, at.line, at.kind, &at.pattern, at.certainty)?;
            Some(Found { target, ..place })
        });
        found.collect()
    }
}

/// Files that were committed and are no longer there, whether that is committed or not.
fn gone(repository: &Repository, index: &Index) -> Result<Vec<Gone>, CommandError> {
    let mut gone: BTreeMap<String, String> = repository
        .removed()?
        .into_iter()
        .map(|removed| (removed.path, format!("{}^", removed.commit)))
        .collect();
    if repository.head()?.is_some() {
        for changed in repository.changed(&Between::HeadAndFiles)? {
            match changed.status {
                Status::Deleted => drop(gone.insert(changed.path, "HEAD".to_owned())),
                Status::Renamed { from } => drop(gone.insert(from, "HEAD".to_owned())),
                Status::Added | Status::Modified => {}
            }
        }
    }
    gone.retain(|path, _| index.find(path).is_none());
    Ok(gone.into_iter().map(|(path, state)| Gone { path, state }).collect())
}

/// Whether some file has the word that an import of this one would have: its own name, or its folder's.
fn may_be_imported(index: &Index, path: &str) -> bool {
    let stem = base(path).split('.').next().unwrap_or_default();
    [stem, base(parent(path))].into_iter().any(|word| !word.is_empty() && !index.containing(word).is_empty())
}

/// Imports that lead nowhere now, by file.
#[derive(Default)]
struct Imports(BTreeMap<String, Vec<u32>>);

impl Imports {
    /// Those that led to a file when it had this content. What is found elsewhere now dangles no longer.
    fn of(&mut self, tree: &Tree, index: &Index, path: &str, text: String) -> Vec<Found> {
        let edit = Edit {
            path: path.to_owned(),
            former: None,
            before: Before::Text(Arc::from(text)),
            after: After::Gone,
        };
        let question = Question { edits: &[edit], aliases: &tree.aliases(), is_over: &|| false };
        let mut found = Vec::new();
        for dependent in impact(index, &question).files.into_iter().flat_map(|file| file.dependents) {
            let lines = self.unresolved(index, &dependent.path).to_vec();
            let evidence =
                dependent.evidence.iter().filter(|at| at.kind == Kind::Import && lines.contains(&at.line));
            found.extend(evidence.filter_map(|at| {
                let file = index.find(&dependent.path)?;
                let place = place(index, file, at.line, at.kind, &at.pattern, dependent.certainty)?;
                Some(Found { target: Some(path.to_owned()), ..place })
            }));
        }
        found
    }

    fn unresolved(&mut self, index: &Index, path: &str) -> &[u32] {
        self.0.entry(path.to_owned()).or_insert_with(|| {
            let Some(file) = index.find(path) else { return Vec::new() };
            let Some(facts) = index.facts(file) else { return Vec::new() };
            let outgoing = language::rules(facts.language).outgoing(index, file);
            outgoing.unresolved.iter().map(|place| place.line).collect()
        })
    }
}
