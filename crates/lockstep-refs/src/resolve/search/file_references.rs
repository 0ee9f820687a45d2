//! The references that leave one file.

use std::collections::BTreeMap;

use super::super::names::{Entity, Mode, Resolver};
use super::super::types::{Place as At, Type};
use super::super::{Found, Module, Scheme};
use crate::facts::{Import, Role, Use};
use crate::reference::{FileReferences, Kind, Place};
use crate::world::{FileId, World};

/// Returns the imports of a file that should resolve to the project and do not.
pub(crate) fn unresolved_imports(world: &dyn World, scheme: &dyn Scheme, file: FileId) -> Vec<Place> {
    let resolver = Resolver::new(world, scheme);
    let Some(view) = resolver.view(file) else { return Vec::new() };
    let named = view.facts.imports.iter().filter(|import| !import.module.is_empty());
    let missing = named.filter(|import| resolver.module(file, &import.module) == Found::Missing);
    missing.map(unresolved).collect()
}

/// Returns the references of a file by its imports and by the names it uses.
pub(crate) fn outgoing(world: &dyn World, scheme: &dyn Scheme, file: FileId) -> FileReferences {
    let resolver = Resolver::new(world, scheme);
    let mut outgoing = FileReferences::default();
    let Some(view) = resolver.view(file) else { return outgoing };
    let mut places: BTreeMap<(FileId, u32), Place> = BTreeMap::new();
    let mut note = |to: FileId, line: u32, kind: Kind, pattern: &str| {
        if to != file {
            places.entry((to, line)).or_insert_with(|| Place { line, kind, pattern: pattern.into() });
        }
    };
    for import in view.facts.imports.iter().filter(|import| !import.module.is_empty()) {
        match resolver.module(file, &import.module) {
            Found::Here(module) => {
                if let Module::File(to) = module {
                    note(to, import.line, Kind::Import, &import.module);
                }
                for name in &import.names {
                    for hit in resolver.exported(&module, &name.name, Mode::Named) {
                        match hit.entity {
                            Entity::Symbol(symbol) => note(symbol.file, name.line, Kind::Import, &name.name),
                            Entity::Module(Module::File(to)) => note(to, name.line, Kind::Import, &name.name),
                            _ => {}
                        }
                    }
                }
            }
            Found::Outside => outgoing.external += 1,
            Found::Missing => outgoing.unresolved.push(unresolved(import)),
        }
    }
    for usage in &view.facts.uses {
        for to in defining_files(&resolver, file, usage) {
            note(to, usage.line, Kind::Symbol, &usage.name);
        }
    }
    outgoing.references = places.into_iter().map(|((to, _), place)| (to, place)).collect();
    outgoing
}

fn unresolved(import: &Import) -> Place {
    Place { line: import.line, kind: Kind::Import, pattern: import.module.clone() }
}

/// Returns the files that define a used name.
fn defining_files(resolver: &Resolver<'_>, file: FileId, usage: &Use) -> Vec<FileId> {
    let symbols = |hits: &[super::super::names::Hit]| -> Vec<FileId> {
        hits.iter()
            .filter_map(|hit| match hit.entity {
                Entity::Symbol(symbol) => Some(symbol.file),
                _ => None,
            })
            .collect()
    };
    if matches!(usage.role, Role::Conform | Role::Key) {
        return Vec::new();
    }
    if usage.role == Role::Quoted && usage.of.is_none() {
        let file_of = |hit: super::super::names::Hit| match hit.entity {
            Entity::Symbol(symbol) => Some(symbol.file),
            Entity::Module(Module::File(file)) => Some(file),
            _ => None,
        };
        return resolver.absolute(file, &usage.name).into_iter().filter_map(file_of).collect();
    }
    let Some(of) = &usage.of else { return symbols(&resolver.lookup(file, &usage.name, Mode::Inside)) };
    let place = At { file, within: usage.within, this: None };
    let mut files = Vec::new();
    for one in resolver.types(&place, of).iter() {
        match one {
            Type::Module(module) => {
                files.extend(symbols(&resolver.exported(module, &usage.name, Mode::Named)))
            }
            Type::Symbol(class, _) | Type::Instance(class) => {
                files.extend(resolver.members(*class, &usage.name).symbols.iter().map(|symbol| symbol.file));
            }
            _ => {}
        }
    }
    files
}
