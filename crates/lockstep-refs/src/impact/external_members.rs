//! Members of things outside the project that got the new name of a renamed definition: `errors.New` became
//! `errors.NewAll`, because `New` of the project is `NewAll` now.

use std::collections::BTreeSet;

use super::renamed_types::TypeRenames;
use super::renamed_uses::{DefinedNames, OldFile};
use crate::facts::{Facts, Import, Shape};
use crate::language;
use crate::memo::Memo;
use crate::world::World;

/// A member with the new name of another definition.
pub(super) struct ExternalMember {
    /// Line number, starting at 1.
    pub(super) line: u32,
    pub(super) owner: String,
    pub(super) name: String,
    /// The former name.
    pub(super) was: String,
}

/// Returns the members of external owners in the file at `path` that were renamed like a definition of the project.
pub(super) fn external_members(
    world: &dyn World,
    path: &str,
    former: &OldFile<'_>,
    renames: &TypeRenames<'_>,
) -> Vec<ExternalMember> {
    let text = world.find(path).and_then(|file| Some((file, world.text(file)?)));
    let Some((file, text)) = text else { return Vec::new() };
    let facts = Memo::parses(world).facts_with_unbound_names(path, &text);
    let before = Memo::parses(world).facts_with_unbound_names(former.path, former.text);
    let former: BTreeSet<(&str, &str)> = members(&before).map(|(_, owner, name)| (owner, name)).collect();
    let mut new: Vec<(u32, &str, &str)> = members(&facts).collect();
    new.retain(|(_, owner, name)| {
        !former.contains(&(*owner, *name)) && former.iter().any(|(of, _)| of == owner)
    });
    if new.is_empty() {
        return Vec::new();
    }
    let renames = renames.definitions(world);
    let mut found: Vec<ExternalMember> = Vec::new();
    for (line, owner, name) in new {
        let is_former = |was: &str, to: &str| to == name && former.contains(&(owner, was));
        if let Some((was, _)) = renames.iter().find(|(was, to)| is_former(was, to)) {
            let (owner, name, was) = (owner.to_owned(), name.to_owned(), was.to_string());
            found.push(ExternalMember { line, owner, name, was });
        }
    }
    if found.is_empty() {
        return found;
    }
    let references = language::rules(facts.language).outgoing(world, file).references;
    let leads_to_project = |line: u32| references.iter().any(|(_, place)| place.line == line);
    let defined = DefinedNames::new(world);
    found.retain(|external_member| {
        match facts.imports.iter().find(|import| binds(import, &external_member.owner)) {
            Some(import) => !leads_to_project(import.line),
            // A type of the language, such as `Vec`.
            None => {
                external_member.owner.starts_with(char::is_uppercase)
                    && !defined.contains(&external_member.owner)
            }
        }
    });
    found
}

/// The line, the owner and the name of each use of a named owner's member.
fn members(facts: &Facts) -> impl Iterator<Item = (u32, &str, &str)> {
    facts.uses.iter().filter_map(|usage| match &usage.of {
        Some(Shape::Name(owner)) => Some((usage.line, &**owner, &*usage.name)),
        _ => None,
    })
}

/// Returns true if an import makes a name known in its file.
fn binds(import: &Import, name: &str) -> bool {
    let last = import.module.rsplit(['.', ':', '/', '\\']).next();
    import.alias.as_deref().or(last.filter(|_| import.names.is_empty())) == Some(name)
        || import.names.iter().any(|imported| &*imported.local == name)
}
