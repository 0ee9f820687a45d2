//! Names that a file imports from modules of the project that do not have them.

use super::names::{Entity, Mode, Resolver};
use super::{Found, Module, Scheme};
use crate::facts::{Reach, Role, Shape};
use crate::language::Language;
use crate::limits::Limit;
use crate::reference::{Kind, MissingName};
use crate::world::{FileId, World};

/// The maximum length of chains of glob re-exports.
const MAX_HOPS: usize = 8;

/// Returns the imported names, and the members of imported modules, that their modules do not define.
pub(crate) fn missing_names(world: &dyn World, scheme: &dyn Scheme, file: FileId) -> Vec<MissingName> {
    let resolver = Resolver::new(world, scheme);
    let Some(view) = resolver.view(file) else { return Vec::new() };
    let mut missing = Vec::new();
    for import in view.facts.imports.iter().filter(|import| !import.module.is_empty()) {
        let Found::Here(module) = resolver.module(file, &import.module) else { continue };
        for name in import.names.iter().filter(|name| lacks(&resolver, &module, &name.name)) {
            missing.push(MissingName {
                line: name.line,
                kind: Kind::Import,
                name: name.name.clone(),
                module: import.module.clone(),
            });
        }
    }
    for usage in view
        .facts
        .uses
        .iter()
        .filter(|candidate| !matches!(candidate.role, Role::Conform | Role::Key | Role::Quoted))
    {
        let Some(Shape::Name(path)) = &usage.of else { continue };
        let hits = resolver.dotted(file, path);
        let lacks_it = |entity: &Entity| matches!(entity, Entity::Module(module) if lacks(&resolver, module, &usage.name));
        if !hits.is_empty() && hits.iter().all(|hit| lacks_it(&hit.entity)) {
            missing.push(MissingName {
                line: usage.line,
                kind: Kind::Symbol,
                name: usage.name.clone(),
                module: path.clone(),
            });
        }
    }
    missing
}

/// Returns true if a module certainly does not have a name.
fn lacks(resolver: &Resolver<'_>, module: &Module, name: &str) -> bool {
    !name.starts_with("__")
        && is_closed(resolver, module, 0)
        && resolver.exported(module, name, Mode::Named).is_empty()
}

/// Returns true if every name of a module is known: it was parsed completely and creates none dynamically.
fn is_closed(resolver: &Resolver<'_>, module: &Module, hops: usize) -> bool {
    let Module::File(file) = module else { return false };
    if hops == MAX_HOPS {
        Limit::Hops.reach();
        return false;
    }
    let Some(view) = resolver.view(*file) else { return false };
    let facts = &view.facts;
    let makes_up_names = facts
        .definitions
        .iter()
        .any(|definition| &*definition.name == "__getattr__" && definition.container.is_none());
    // A script may export names by assignments that are not followed.
    let exports = facts
        .definitions
        .iter()
        .any(|definition| definition.reach == Reach::Everyone && definition.container.is_none());
    if facts.problems > 0 || makes_up_names || (facts.language == Language::JavaScript && !exports) {
        return false;
    }
    facts.imports.iter().filter(|import| import.glob && import.alias.is_none()).all(|import| {
        matches!(resolver.module(*file, &import.module), Found::Here(from) if is_closed(resolver, &from, hops + 1))
    })
}
