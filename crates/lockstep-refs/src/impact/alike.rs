//! Definitions of TypeScript that were replaced by another kind of the same name: a class by an interface, an interface by an alias, a
//! method by a property that holds a function.

use crate::definition_diff::{DefinitionChangeKind, SymbolChange};
use crate::facts::{Definition, DefinitionKind, Facts, Role};
use crate::language::{self, Language};
use crate::reference::Reference;
use crate::syntax::TOKEN_END;

/// Returns true if a use of the former kind is also one of the present kind.
pub(super) fn still_fits(change: &SymbolChange, after: Option<&Facts>, reference: &Reference) -> bool {
    use DefinitionKind::{Field, Interface, Method, Type};
    let Some(after) = after.filter(|it| language::family(it.language) == Language::TypeScript) else {
        return false;
    };
    let was = &change.was;
    if !matches!(change.what, DefinitionChangeKind::Removed | DefinitionChangeKind::SignatureChanged { .. }) {
        return false;
    }
    let same = |it: &&Definition| {
        let is_other = it.kind != was.kind || keyword(it) != keyword(was);
        it.name == was.name && it.container == was.container && is_other && it.reach >= was.reach
    };
    let mut present = after.definitions.iter().filter(same);
    let (Some(now), None) = (present.next(), present.next()) else { return false };
    let is_getter = |it: &Definition| keyword(it) == Some("get");
    match (was.kind, now.kind) {
        (Type | Interface, Type | Interface) => match reference.role {
            Role::Import | Role::Reexport | Role::Type => true,
            // A class cannot be extended any more; an interface and an alias are extended by the same words.
            Role::Extend => keyword(was) != Some("class"),
            _ => false,
        },
        (Method | Field, Field) if is_getter(was) => reference.role == Role::Value,
        (Field, Method | Field) if is_getter(now) => reference.role == Role::Value,
        (Method, Field) | (Field, Method) => {
            let takes = |arguments| now.arity.is_none_or(|arity| arity.takes(arguments));
            reference.role == Role::Call && reference.arguments.is_none_or(takes)
        }
        _ => false,
    }
}

/// The word that says the kind of a definition.
fn keyword(definition: &Definition) -> Option<&str> {
    definition.header.split(TOKEN_END).find(|word| matches!(*word, "class" | "interface" | "type" | "get"))
}
