//! What a file references: its imports and the names that lead to other files.

use std::collections::HashSet;

use super::modules::{Module, Project};
use super::names::{Entity, Found};
use crate::facts::{DefinitionKind, Import, ImportForm, Shape};
use crate::reference::{Kind, Outgoing, Place};
use crate::world::{FileId, World};

/// What a file references.
pub(super) fn find(world: &dyn World, file: FileId) -> Outgoing {
    let project = Project::new(world);
    let mut outgoing = Outgoing::default();
    let Some(sheet) = project.sheet(file) else { return outgoing };
    let mut seen = HashSet::new();
    for import in &sheet.facts.imports {
        let module = project.module_at(file, import.container.as_deref());
        let name = import.names.first().map_or("*", |name| &name.name);
        let found = imported(&project, &module, import);
        let place = Place { line: import.line, kind: Kind::Import, pattern: name.into() };
        if found.is_empty() {
            if leads_inside(import) {
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
            if seen.insert((other, import.line, Box::from(name))) {
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
    import.names.iter().flat_map(|name| project.taken(module, import, &name.name, 0)).collect()
}

fn file_of(found: &Found) -> Option<FileId> {
    match &found.entity {
        Entity::Item(file, _) => Some(*file),
        Entity::Module(module) => Some(module.file),
        Entity::Outside => None,
    }
}

/// Whether an import must lead to a file of the project.
fn leads_inside(import: &Import) -> bool {
    let first = import.module.split("::").next().unwrap_or_default();
    import.form == ImportForm::Child || matches!(first, "crate" | "self" | "super")
}
