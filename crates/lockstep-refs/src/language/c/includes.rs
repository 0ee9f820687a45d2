//! The files that a file includes, and the names that they share with it.

use crate::facts::{Facts, Import, ImportForm};
use crate::language::Language;
use crate::package::{Bindings, Bound, Leads, Packages, Query};
use crate::walk::snake;
use crate::world::{FileId, World, base, join, parent};

/// The name sharing rules of both languages.
pub(super) struct Includes;

impl Packages for Includes {
    fn language(&self) -> Language {
        Language::C
    }

    fn speaks(&self, language: Language) -> bool {
        matches!(language, Language::C | Language::Cpp)
    }

    fn bindings(&self, _world: &dyn World, _file: FileId, facts: &Facts) -> Bindings {
        let mut bindings = Bindings::default();
        for import in facts.imports.iter().filter(|import| import.form == ImportForm::Namespace) {
            match (import.glob, import.names.first(), &import.alias) {
                (true, ..) => bindings.globs.push(import.module.to_string()),
                (_, Some(name), _) => bindings.names.push(Bound {
                    local: name.local.clone(),
                    full: import.module.to_string(),
                    line: import.line,
                }),
                (_, None, Some(alias)) => bindings.names.push(Bound {
                    local: alias.clone(),
                    full: import.module.to_string(),
                    line: import.line,
                }),
                _ => {}
            }
        }
        bindings
    }

    fn resolve_import(&self, query: &Query<'_>, file: FileId, import: &Import) -> Leads {
        match import.form {
            ImportForm::Namespace => Leads::To(Vec::new()),
            form => match find_included(query.world, file, &import.module, form == ImportForm::System) {
                Some(found) => Leads::To(vec![found]),
                None if form == ImportForm::System => Leads::Outside,
                None => Leads::Missing,
            },
        }
    }

    fn sees_around(&self) -> bool {
        true
    }

    fn includes(&self) -> bool {
        true
    }

    fn homes(&self, name: &str) -> Vec<String> {
        let stems = [name.to_owned(), name.to_lowercase(), snake(name)];
        let endings = ["h", "hpp", "hh", "hxx"];
        stems.iter().flat_map(|stem| endings.map(|ending| format!("{stem}.{ending}"))).collect()
    }
}

/// Returns the file of the project that a statement of a file includes.
pub(crate) fn included(world: &dyn World, from: FileId, import: &Import) -> Option<FileId> {
    match import.form {
        ImportForm::Namespace => None,
        form => find_included(world, from, &import.module, form == ImportForm::System),
    }
}

/// Returns the file that an include means: relative to the including one, otherwise the nearest one whose
/// path ends so.
fn find_included(world: &dyn World, from: FileId, path: &str, system: bool) -> Option<FileId> {
    let here = parent(world.path(from));
    let beside = join(here, path).and_then(|path| world.find(&path)).filter(|_| !system);
    if beside.is_some() {
        return beside;
    }
    let wanted = path.trim_start_matches("../").trim_start_matches("./");
    let ends = |file: &FileId| {
        let known = world.path(*file);
        known.strip_suffix(wanted).is_some_and(|start| start.is_empty() || start.ends_with('/'))
    };
    let common =
        |file: &FileId| here.split('/').zip(world.path(*file).split('/')).take_while(|(a, b)| a == b).count();
    // Among equals, prefer one in a directory for includes, then the first.
    let custom = |file: &FileId| world.path(*file).split('/').any(|part| part == "include");
    let found = world.named(base(wanted)).into_iter().filter(ends);
    found.max_by_key(|file| (common(file), custom(file), std::cmp::Reverse(*file)))
}
