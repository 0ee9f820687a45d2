//! Names that files import from a module that re-exports everything of a changed one (`export *`, `import *`).
//!
//! Such a module has no definition or line for the name, so the importers are compared as a whole: a name that its module had
//! before all edits and lacks now is missing.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::dependents::{DependentSet, Place};
use super::edit::Edit;
use super::lost_reexports;
use crate::facts::{Facts, Role};
use crate::language::{self, Language};
use crate::overlay::Overlay;
use crate::reference::{Certainty, MissingName, Reference, Target};
use crate::world::{FileId, World};

/// The modules behind open re-exports, before and after the edits.
pub(super) struct OpenReexports<'a> {
    edits: &'a [Edit],
    now: &'a dyn World,
    after: &'a Overlay<'a>,
    /// The files before all edits.
    former: OnceCell<Overlay<'a>>,
    /// The files after the edits, with an empty file wherever one was moved away or deleted.
    emptied: OnceCell<Overlay<'a>>,
    /// The names that each compared file misses since the edits.
    missed: RefCell<BTreeMap<FileId, Vec<MissingName>>>,
}

impl<'a> OpenReexports<'a> {
    pub(super) fn new(now: &'a dyn World, after: &'a Overlay<'a>, edits: &'a [Edit]) -> Self {
        Self {
            edits,
            now,
            after,
            former: OnceCell::new(),
            emptied: OnceCell::new(),
            missed: RefCell::default(),
        }
    }

    /// Collects the files that miss names because a module re-exports everything of the edited file.
    pub(super) fn collect(
        &self,
        edit: &Edit,
        (was, is): (&Facts, Option<&Facts>),
        collector: &mut DependentSet<'_>,
    ) {
        let has_lost = is.is_some_and(|is| lost_reexports::loses_names(was, is));
        if !hands_on_openly(was.language) || !(edit.is_moved() || has_lost) {
            return;
        }
        let former = self.former();
        let Some(start) = former.find(edit.former_path()) else { return };
        let mut modules = open_modules(former, start);
        // Without its file, each import of the module itself is already broken.
        if edit.is_moved() {
            modules.remove(&start);
        }
        let importers: BTreeSet<FileId> = modules
            .iter()
            .flat_map(|file| importers(former, *file))
            .map(|reference| reference.file)
            .collect();
        for importer in importers {
            let Some(file) = self.now.find(former.path(importer)) else { continue };
            for name in self.missed(file) {
                collector.add(Place { breaks: true, reference: reference(file, name) });
            }
        }
    }

    fn former(&self) -> &Overlay<'a> {
        self.former.get_or_init(|| {
            let mut former = Overlay::empty(self.now);
            for edit in self.edits {
                match edit.former_content(self.now) {
                    Some((facts, text)) => drop(former.add(edit.former_path(), facts, text)),
                    None => former.hide(&edit.path),
                }
                if edit.former.is_some() {
                    former.hide(&edit.path);
                }
            }
            former
        })
    }

    fn emptied(&self) -> &Overlay<'a> {
        self.emptied.get_or_init(|| {
            let mut emptied = Overlay::empty(self.after);
            for edit in self.edits.iter().filter(|edit| edit.is_moved()) {
                let path = edit.former_path();
                if hands_on_openly(Language::of(path)) && self.after.find(path).is_none() {
                    let facts = Facts::none(language::family(Language::of(path)));
                    emptied.add(path, Arc::new(facts), Some("".into()));
                }
            }
            emptied
        })
    }

    fn missed(&self, file: FileId) -> Vec<MissingName> {
        if let Some(known) = self.missed.borrow().get(&file) {
            return known.clone();
        }
        let found = self.compare(file);
        self.missed.borrow_mut().insert(file, found.clone());
        found
    }

    /// Returns the names that a file misses after the edits and did not miss before.
    fn compare(&self, file: FileId) -> Vec<MissingName> {
        let Some(facts) = self.now.facts(file).filter(|facts| facts.problems == 0) else { return Vec::new() };
        let rules = language::rules(facts.language);
        let mut missing = rules.missing_names(self.emptied(), file);
        if missing.is_empty() {
            return missing;
        }
        let key =
            |candidate: &MissingName| (candidate.kind, candidate.name.clone(), candidate.module.clone());
        let path = self.now.path(file);
        let before = self
            .former()
            .find(path)
            .map(|candidate| rules.missing_names(self.former(), candidate))
            .unwrap_or_default();
        let known: BTreeSet<_> = before.iter().map(key).collect();
        missing.retain(|candidate| !known.contains(&key(candidate)));
        missing
    }
}

/// Returns true if a language has open re-exports whose modules can be compared.
fn hands_on_openly(language: Language) -> bool {
    matches!(language::family(language), Language::TypeScript | Language::Python)
}

/// The modules that re-export everything of a file, directly or through others, and the file itself.
fn open_modules(world: &dyn World, start: FileId) -> BTreeSet<FileId> {
    let mut modules = BTreeSet::from([start]);
    let mut open = vec![start];
    while let Some(module) = open.pop() {
        for reference in importers(world, module) {
            let Some(facts) = world.facts(reference.file) else { continue };
            let mut here = lost_reexports::reexports(&facts).filter(|import| import.line == reference.line);
            if here.any(lost_reexports::is_open) && modules.insert(reference.file) {
                open.push(reference.file);
            }
        }
    }
    modules
}

fn importers(world: &dyn World, file: FileId) -> Vec<Reference> {
    let Some(facts) = world.facts(file) else { return Vec::new() };
    let target = Target { file, symbols: &[], module: true, now: None, own_file: false };
    language::rules(facts.language).referrers(world, &target)
}

/// Returns the reference of a file to a name that it misses.
pub(super) fn reference(file: FileId, name: MissingName) -> Reference {
    Reference {
        file,
        line: name.line,
        kind: name.kind,
        role: Role::Value,
        certainty: Certainty::Resolved,
        pattern: name.name,
        symbol: None,
        arguments: None,
        through: None,
        within: None,
    }
}
