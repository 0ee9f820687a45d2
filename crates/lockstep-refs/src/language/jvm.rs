//! Shared rules of Java and Kotlin: packages, imports by full name, types in files of their name. Both
//! languages see each other.

use crate::facts::{Facts, Import};
use crate::language::Language;
use crate::limits::Limit;
use crate::package::{Bindings, Bound, Leads, MAX_FILES, Packages, Query};
use crate::world::{FileId, World};

pub(super) struct Jvm;

impl Packages for Jvm {
    fn language(&self) -> Language {
        Language::Java
    }

    fn speaks(&self, language: Language) -> bool {
        matches!(language, Language::Java | Language::Kotlin)
    }

    fn bindings(&self, _world: &dyn World, _file: FileId, facts: &Facts) -> Bindings {
        let mut bindings = Bindings::default();
        for import in &facts.imports {
            if import.glob {
                bindings.globs.push(import.module.to_string());
                continue;
            }
            let last = || import.module.rsplit('.').next().unwrap_or_default().into();
            let local = import.alias.clone().unwrap_or_else(last);
            // Members of a companion are members of its class.
            let full = import.module.replace(".Companion.", ".");
            bindings.names.push(Bound { local, full, line: import.line });
        }
        bindings
    }

    fn resolve_import(&self, query: &Query<'_>, _file: FileId, import: &Import) -> Leads {
        let files = match import.glob {
            true => package_files(query, &import.module).or_else(|| defining(query, &import.module)),
            false => defining(query, &import.module),
        };
        let package = import.module.rsplit_once('.').map(|(package, _)| package);
        match files {
            Some(files) => Leads::To(files),
            None if package.is_some_and(|package| package_files(query, package).is_some()) => Leads::Missing,
            None => Leads::Outside,
        }
    }

    fn constructs(&self, method: &crate::facts::Definition) -> bool {
        let owner = method.container.as_deref().and_then(|path| path.rsplit('.').next());
        owner == Some(&method.name) || &*method.name == "constructor"
    }

    fn homes(&self, name: &str) -> Vec<String> {
        vec![format!("{name}.java"), format!("{name}.kt")]
    }

    fn built_in(&self) -> &'static [&'static str] {
        &[
            "Any",
            "Boolean",
            "Byte",
            "Char",
            "CharSequence",
            "Character",
            "Class",
            "Comparable",
            "Double",
            "Enum",
            "Error",
            "Exception",
            "Float",
            "Int",
            "Integer",
            "Iterable",
            "List",
            "Long",
            "Map",
            "Math",
            "Number",
            "Object",
            "Record",
            "Runnable",
            "RuntimeException",
            "Set",
            "Short",
            "String",
            "StringBuilder",
            "System",
            "Thread",
            "Throwable",
            "Unit",
            "Void",
        ]
    }
}

/// Returns the file that defines a full name, or the type that is a prefix of it.
fn defining(query: &Query<'_>, full: &str) -> Option<Vec<FileId>> {
    let mut name = full;
    loop {
        if let Some(symbol) = query.types_with(name).first() {
            return Some(vec![symbol.file]);
        }
        if name == full {
            let found = query.files_with(full);
            if !found.is_empty() {
                return Some(found);
            }
        }
        name = name.rsplit_once('.')?.0;
        // Package names are in lower case, type names are not.
        if name.rsplit('.').next().is_none_or(|last| last.starts_with(char::is_lowercase)) {
            return None;
        }
    }
}

/// Returns the files of a package. `None` if there are none.
fn package_files(query: &Query<'_>, package: &str) -> Option<Vec<FileId>> {
    let last = package.rsplit('.').next()?;
    let of_it = |file: &FileId| query.view(*file).is_some_and(|view| view.package == package);
    let files: Vec<FileId> =
        Limit::first(query.world.containing(last), MAX_FILES).into_iter().filter(of_it).collect();
    (!files.is_empty()).then_some(files)
}
