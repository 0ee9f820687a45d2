//! Questions about the types that a type extends.

use super::names::{Query, Symbol};
use super::{Packages, is_type};
use crate::facts::Definition;
use crate::resolve::path_of;
use crate::world::{FileId, World};

/// Returns true if a type has a member that it does not define itself any more: it inherits one that takes the same arguments.
pub(crate) fn is_inherited(
    world: &dyn World,
    packages: &dyn Packages,
    file: FileId,
    member: &Definition,
) -> bool {
    let query = Query::new(world, packages);
    let (Some(view), Some(path)) = (query.view(file), member.container.as_deref()) else { return false };
    let is_owner = |definition: &Definition| is_type(definition) && path_of(definition) == path;
    let Some(at) = view.facts.definitions.iter().position(is_owner) else { return false };
    let owner = Symbol { file, at };
    let found = query.members(owner, &member.name);
    let is_same = |symbol: &Symbol| {
        query
            .definition(*symbol)
            .is_some_and(|defined| defined.kind == member.kind && defined.arity == member.arity)
    };
    let is_overload = !query.own_members(owner, &member.name).is_empty();
    let is_standard = |base: &str| {
        let methods = packages.standard_methods(&query.imported_path(file, base));
        methods.is_some_and(|methods| methods.contains(&&*member.name))
    };
    let extends = query.definition(owner).map(|defined| defined.extends.clone()).unwrap_or_default();
    !is_overload
        && !packages.constructs(member)
        && (found.iter().any(is_same) || extends.iter().any(|base| is_standard(base)))
}

/// Returns true if a type extends another one, both by the names that are written in a container of a file.
pub(crate) fn is_subtype(
    world: &dyn World,
    packages: &dyn Packages,
    (file, container): (FileId, Option<&str>),
    sub: &str,
    base: &str,
) -> bool {
    let query = Query::new(world, packages);
    let sub = query.type_of(file, container, sub);
    let base = query.type_of(file, container, base);
    sub.zip(base).is_some_and(|(sub, base)| query.ancestors(sub).contains(&base))
}
