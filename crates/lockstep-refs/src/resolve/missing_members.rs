//! Members that a value of a known type does not have.

use std::ops::Range;

use super::Scheme;
use super::Symbol;
use super::names::Resolver;
use super::types::{Place, Type};
use crate::facts::{ANY_MEMBER, Definition, DefinitionKind, Role, Shape, Use};
use crate::language::Language;
use crate::reference::{Kind, MissingName};
use crate::world::{FileId, World};

/// Members that every object of TypeScript has, or every class and function.
const OF_OBJECTS: &[&str] = &[
    "apply",
    "bind",
    "call",
    "constructor",
    "hasOwnProperty",
    "isPrototypeOf",
    "length",
    "name",
    "propertyIsEnumerable",
    "prototype",
    "toLocaleString",
    "toString",
    "valueOf",
];

/// Bases of enumerations of Python: their members are those of the class body.
const ENUMERATIONS: &[&str] = &["Enum", "Flag", "IntEnum", "IntFlag", "StrEnum"];

/// Returns the members that uses on `lines` name and the types of their values certainly do not have.
pub(crate) fn missing_members(
    world: &dyn World,
    scheme: &dyn Scheme,
    file: FileId,
    lines: &[Range<u32>],
) -> Vec<MissingName> {
    let resolver = Resolver::new(world, scheme);
    let Some(view) = resolver.view(file) else { return Vec::new() };
    let text = world.text(file).unwrap_or_default();
    let text: Vec<&str> = text.lines().collect();
    let is_asked = |used: &&Use| {
        let line = text.get((used.line as usize).saturating_sub(1)).copied().unwrap_or_default();
        matches!(used.role, Role::Call | Role::Value)
            && lines.iter().any(|range| range.contains(&used.line))
            && !view.facts.suppressed_lines.contains(&used.line)
            && !is_assigned(line, &used.name)
    };
    let mut missing = Vec::new();
    for used in view.facts.uses.iter().filter(is_asked) {
        let Some(shape) = used.of.as_ref().filter(|shape| !matches!(shape, Shape::Itself | Shape::Parent))
        else {
            continue;
        };
        let place = Place { file, within: used.within, this: None };
        let types = resolver.types(&place, shape);
        let [one] = &*types else { continue };
        if let Some(owner) = lacking(&resolver, one, &used.name) {
            let (line, name) = (used.line, used.name.clone());
            missing.push(MissingName { line, kind: Kind::Symbol, name, module: owner });
        }
    }
    missing
}

/// Returns true if a line assigns to a member, which creates it in Python.
fn is_assigned(line: &str, name: &str) -> bool {
    let places = line.match_indices(name).map(|(at, _)| line[at + name.len()..].trim_start());
    places.into_iter().any(|rest| rest.starts_with('=') && !rest.starts_with("==") && !rest.starts_with("=>"))
}

/// The name of the type, if it certainly has no such member.
fn lacking(resolver: &Resolver<'_>, type_: &Type, name: &str) -> Option<Box<str>> {
    let (class, is_type) = match type_ {
        Type::Instance(class) => (*class, false),
        Type::Symbol(class, _) => (*class, true),
        _ => return None,
    };
    let view = resolver.view(class.file)?;
    let definition = view.definition(class.at)?;
    let is_class = matches!(definition.kind, DefinitionKind::Type | DefinitionKind::Interface);
    if !is_class || view.facts.problems > 0 || name.starts_with("__") {
        return None;
    }
    let is_closed = match view.facts.language {
        Language::Python => is_closed_in_python(resolver, class, is_type, name),
        Language::TypeScript | Language::Tsx => is_closed_in_typescript(resolver, class, name),
        _ => false,
    };
    let is_missing = || resolver.members(class, name).symbols.is_empty();
    (is_closed && is_missing()).then(|| definition.name.clone())
}

fn is_closed_in_python(resolver: &Resolver<'_>, class: Symbol, is_type: bool, name: &str) -> bool {
    let Some(definition) = resolver.definition(class) else { return false };
    let is_enumeration = definition.extends.iter().any(|base| {
        let base = base.rsplit('.').next().unwrap_or(base);
        ENUMERATIONS.contains(&base)
    });
    if is_enumeration {
        // The class itself has methods of its metaclass.
        return is_type && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    }
    let makes_up = ["__getattr__", "__getattribute__", "__slots__"];
    let makes_up_names = makes_up.iter().any(|text| !resolver.members(class, text).symbols.is_empty());
    let is_plain = !definition.header.contains("metaclass") && !makes_up_names && name != "mro";
    is_plain && !resolver.members(class, name).open && has_members(resolver, class, &definition)
}

fn is_closed_in_typescript(resolver: &Resolver<'_>, class: Symbol, name: &str) -> bool {
    let Some(definition) = resolver.definition(class) else { return false };
    let takes_any = !resolver.members(class, ANY_MEMBER).symbols.is_empty();
    let is_alias = definition.gives.is_some();
    !OF_OBJECTS.contains(&name)
        && !takes_any
        && !is_alias
        && !resolver.members(class, name).open
        && has_members(resolver, class, &definition)
        && !is_declared_again(resolver, class, &definition)
}

/// Returns true if the file shows members of a type: an empty one may be filled in elsewhere.
fn has_members(resolver: &Resolver<'_>, class: Symbol, definition: &Definition) -> bool {
    let path = super::path_of(definition);
    resolver.view(class.file).is_some_and(|view| {
        view.facts.definitions.iter().any(|candidate| candidate.container.as_deref() == Some(&*path))
    })
}

/// Returns true if another definition of the same name may add members.
fn is_declared_again(resolver: &Resolver<'_>, class: Symbol, definition: &Definition) -> bool {
    let is_same = |candidate: &&Definition| candidate.name == definition.name;
    let files = resolver.world.containing(&definition.name);
    let count = |file: FileId| {
        if !resolver.world.may_define(file, &definition.name) {
            return 0;
        }
        resolver.view(file).map_or(0, |view| view.facts.definitions.iter().filter(is_same).count())
    };
    files.len() > 100
        || files
            .into_iter()
            .map(|file| count(file) - usize::from(file == class.file))
            .any(|number| number > 0)
}
