//! Definitions of TypeScript and Python that were replaced by another kind of the same name: a class by an interface, an interface by an
//! alias, an enumeration by a constant object, a method by a property that holds a function, a class of Python by a function.

use crate::definition_diff::{DefinitionChangeKind, SymbolChange};
use crate::facts::{Definition, DefinitionKind, Facts, Role};
use crate::language::{self, Language};
use crate::reference::Reference;
use crate::resolve::path_of;
use crate::syntax::TOKEN_END;

/// Returns true if a use of the former kind is also one of the present kind.
pub(super) fn still_fits(change: &SymbolChange, after: Option<&Facts>, reference: &Reference) -> bool {
    use DefinitionKind::{Field, Interface, Method, Type, Value, Variant};
    let Some(after) = after else { return false };
    let is_python = after.language == Language::Python;
    if !is_python && language::family(after.language) != Language::TypeScript {
        return false;
    }
    let was = &change.was;
    if !matches!(change.what, DefinitionChangeKind::Removed | DefinitionChangeKind::SignatureChanged { .. }) {
        return false;
    }
    let same = |definition: &&Definition| {
        let is_other = definition.kind != was.kind || keyword(definition) != keyword(was);
        definition.name == was.name
            && definition.container == was.container
            && is_other
            && definition.reach >= was.reach
    };
    let present: Vec<&Definition> = after.definitions.iter().filter(same).collect();
    if is_python {
        return matches!(present.as_slice(), [now] if can_be_called(after, was, now, reference));
    }
    // An enumeration became a constant object and the type of its values.
    let is_enumeration = was.kind == Type && keyword(was).is_none();
    let has = |kind| {
        let mut own = after
            .definitions
            .iter()
            .filter(|definition| definition.name == was.name && definition.container == was.container);
        own.any(|definition| definition.kind == kind)
    };
    if is_enumeration && has(Type) && has(Value) {
        return true;
    }
    let [now] = present.as_slice() else { return false };
    let is_getter = |definition: &Definition| keyword(definition) == Some("get");
    match (was.kind, now.kind) {
        (Type | Interface, Type | Interface) => match reference.role {
            Role::Import | Role::Reexport | Role::Type => true,
            // A class cannot be extended any more; an interface and an alias are extended by the same words.
            Role::Extend => keyword(was) != Some("class"),
            _ => false,
        },
        (Variant, Field) => true,
        (Method, Field) if is_getter(now) => false,
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

/// Returns true if a use of a class of Python is also one of the function that replaced it, or the other way round.
fn can_be_called(after: &Facts, was: &Definition, now: &Definition, reference: &Reference) -> bool {
    use DefinitionKind::{Function, Type};
    let arity = match (was.kind, now.kind) {
        (Type, Function) => now.arity,
        (Function, Type) => {
            let path = path_of(now);
            let is_constructor = |definition: &&Definition| {
                &*definition.name == "__init__" && definition.container.as_deref() == Some(&*path)
            };
            after.definitions.iter().find(is_constructor).and_then(|definition| definition.arity)
        }
        _ => return false,
    };
    match reference.role {
        Role::Import | Role::Reexport => true,
        Role::Call => arity.zip(reference.arguments).is_none_or(|(arity, given)| arity.takes(given)),
        Role::Type | Role::Value => now.kind == Type,
        _ => false,
    }
}
