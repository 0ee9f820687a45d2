//! Finds the references of a file: its imports and the names that resolve to other files.

use foldhash::HashSet;

use super::modules::{Module, Project};
use super::names::{Entity, Found};
use crate::facts::{DefinitionKind, Import, ImportForm, Shape};
use crate::reference::{FileReferences, Kind, Place};
use crate::world::{FileId, World};

/// Returns the imports of a file that should resolve to the project and do not.
pub(super) fn unresolved_imports(world: &dyn World, file: FileId) -> Vec<Place> {
    let project = Project::new(world);
    let Some(sheet) = project.sheet(file) else { return Vec::new() };
    let is_unresolved = |import: &&Import| {
        let module = project.module_at(file, import.container.as_deref());
        imported(&project, &module, import).is_empty() && is_inside(&project, &module, import)
    };
    sheet.facts.imports.iter().filter(is_unresolved).map(place_of).collect()
}

pub(super) fn find(world: &dyn World, file: FileId) -> FileReferences {
    let project = Project::new(world);
    let mut outgoing = FileReferences::default();
    let Some(sheet) = project.sheet(file) else { return outgoing };
    let mut seen = HashSet::default();
    for import in &sheet.facts.imports {
        let module = project.module_at(file, import.container.as_deref());
        let found = imported(&project, &module, import);
        let place = place_of(import);
        if found.is_empty() {
            if is_inside(&project, &module, import) {
                outgoing.unresolved.push(place);
            } else {
                outgoing.external += 1;
            }
            continue;
        }
        if found.iter().any(|found| found.entity == Entity::Outside) {
            outgoing.external += 1;
        }
        for other in found.iter().filter_map(file_of).filter(|other| *other != file) {
            if seen.insert((other, import.line, place.pattern.clone())) {
                outgoing.references.push((other, place.clone()));
            }
        }
    }
    for used in &sheet.facts.uses {
        let within = used.within.and_then(|within| sheet.facts.definitions.get(within as usize));
        let module = match within {
            Some(within) if within.kind == DefinitionKind::Module => {
                project.module_of(file, within).inner(&within.name)
            }
            Some(within) => project.module_of(file, within),
            None => Module::of_file(file),
        };
        let found = match &used.of {
            None => project.resolve(&module, &used.name),
            Some(Shape::Name(path)) => project.resolve(&module, &format!("{path}::{}", used.name)),
            Some(_) => continue,
        };
        for other in found.iter().filter_map(file_of).filter(|other| *other != file) {
            if seen.insert((other, used.line, used.name.clone())) {
                let place = Place { line: used.line, kind: Kind::Symbol, pattern: used.name.clone() };
                outgoing.references.push((other, place));
            }
        }
    }
    outgoing
}

fn imported(project: &Project<'_>, module: &Module, import: &Import) -> Vec<Found> {
    if import.form == ImportForm::Child {
        let child = project.child(module.file, import);
        return child
            .map(|child| Found { entity: Entity::Module(Module::of_file(child)), through: None })
            .into_iter()
            .collect();
    }
    if import.glob {
        return project.resolve(module, &import.module).to_vec();
    }
    import.names.iter().flat_map(|name| project.imported_meanings(module, import, &name.name, 0)).collect()
}

fn file_of(found: &Found) -> Option<FileId> {
    match &found.entity {
        Entity::Item(file, _) => Some(*file),
        Entity::Module(module) => Some(module.file),
        Entity::Outside => None,
    }
}

/// Returns true if the path of an import begins with a module that is declared beside it: `mod text; use text::parse;`.
fn is_of_child(project: &Project<'_>, module: &Module, import: &Import) -> bool {
    let first = import.module.split("::").next().unwrap_or_default();
    // The root of another crate has no module around it.
    let is_child = |found: &Found| matches!(&found.entity, Entity::Module(child) if project.outer(child).as_ref() == Some(module));
    !first.is_empty() && project.resolve(module, first).iter().any(is_child)
}

fn place_of(import: &Import) -> Place {
    let name = import.names.first().map_or("*", |name| &name.name);
    Place { line: import.line, kind: Kind::Import, pattern: name.into() }
}

/// Returns true if an import must resolve to a file of the project.
fn is_inside(project: &Project<'_>, module: &Module, import: &Import) -> bool {
    begins_inside(import) || is_of_child(project, module, import)
}

fn begins_inside(import: &Import) -> bool {
    let first = import.module.split("::").next().unwrap_or_default();
    import.form == ImportForm::Child || matches!(first, "crate" | "self" | "super")
}
