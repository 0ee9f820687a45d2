//! Constructors that are not written: of a class without one, and of a structure of Swift by its properties.

use super::{DefinitionChangeKind, SymbolChange, difference};
use crate::facts::{Arity, Definition, DefinitionKind, Facts, Reach};
use crate::language::Language;
use crate::resolve::path_of;
use crate::syntax::{OWN_NAME, TOKEN_END, digest_words, is_empty_digest};

/// Returns true if a definition is not written in the text.
pub(crate) fn is_implicit(definition: &Definition) -> bool {
    definition.end_line == 0
}

/// Returns the changes of constructors that were not written.
pub(super) fn changes(old: &Facts, new: &Facts) -> Vec<SymbolChange> {
    let mut found = Vec::new();
    for class in old.definitions.iter().filter(|definition| definition.kind == DefinitionKind::Type) {
        let is_same =
            |definition: &&Definition| definition.kind == class.kind && path_of(definition) == path_of(class);
        let Some(now) = new.definitions.iter().find(is_same) else { continue };
        let Some(was) = constructor(old, class) else { continue };
        let written = constructors(new, now);
        let is_kept = |definition: &Definition| {
            was.arity.is_some_and(|was| definition.arity.is_some_and(|is| is.takes(was.least)))
        };
        let is = match written.as_slice() {
            [] => constructor(new, now),
            written if written.iter().any(|definition| is_kept(definition)) => None,
            written => written.first().map(|definition| (*definition).clone()),
        };
        if let Some(what) = is.and_then(|is| difference(old.language, &was, &is))
            && matches!(what, DefinitionChangeKind::SignatureChanged { .. })
        {
            found.push(SymbolChange { was, what });
        }
    }
    found
}

/// Returns true if a removed constructor is replaced by one that is not written and takes the same.
pub(super) fn replaces(was: &Definition, new: &Facts) -> bool {
    let is_owner = |definition: &&Definition| {
        definition.kind == DefinitionKind::Type && was.container.as_deref() == Some(&*path_of(definition))
    };
    let Some(class) = new.definitions.iter().find(is_owner) else { return false };
    let is_constructor = constructor_name(new.language, class).as_deref() == Some(&*was.name);
    let implicit = constructor(new, class).filter(|_| is_constructor && constructors(new, class).is_empty());
    implicit.is_some_and(|definition| definition.arity == was.arity)
}

fn constructor_name(language: Language, class: &Definition) -> Option<Box<str>> {
    match language {
        Language::Java | Language::Kotlin | Language::CSharp => Some(class.name.clone()),
        Language::Php => Some("__construct".into()),
        Language::Ruby => Some("initialize".into()),
        Language::Swift => Some("init".into()),
        _ => None,
    }
}

/// Returns the constructors that a type writes.
fn constructors<'f>(facts: &'f Facts, class: &Definition) -> Vec<&'f Definition> {
    let Some(name) = constructor_name(facts.language, class) else { return Vec::new() };
    let path = path_of(class);
    let is_inside = |definition: &Definition| {
        // An extension of Swift adds constructors and leaves the others.
        facts.language != Language::Swift || (class.line..=class.end_line).contains(&definition.line)
    };
    let is_own = |definition: &&Definition| {
        definition.kind == DefinitionKind::Method
            && definition.name == name
            && definition.container.as_deref() == Some(&*path)
    };
    facts.definitions.iter().filter(is_own).filter(|definition| is_inside(definition)).collect()
}

/// Returns the constructor of a type that writes none.
fn constructor(facts: &Facts, class: &Definition) -> Option<Definition> {
    let name = constructor_name(facts.language, class).filter(|_| constructors(facts, class).is_empty())?;
    let words: Vec<&str> = class.header.split(TOKEN_END).collect();
    let has = |word: &str| words.contains(&word);
    let is_made = match facts.language {
        Language::Java => has("class"),
        Language::CSharp => has("class") && !has("static") && !has("partial"),
        Language::Kotlin => has("class") && !has("enum") && !has("object"),
        // Others inherit the constructor of a base.
        Language::Php | Language::Ruby => has("class") && class.extends.is_empty(),
        Language::Swift => has("struct") || has("class") && class.extends.is_empty(),
        _ => false,
    };
    let parameters = if has("struct") { properties(facts, class)? } else { Vec::new() };
    let optional = parameters.iter().filter(|property| property.is_optional).count();
    let all = u16::try_from(parameters.len()).ok()?;
    let mut header: Vec<&str> = vec![OWN_NAME, "("];
    for (at, parameter) in parameters.iter().enumerate() {
        header.extend((at > 0).then_some(","));
        header.extend([parameter.name, ":"]);
        header.extend(&parameter.type_);
        header.extend(parameter.is_optional.then_some(["=", "0"]).into_iter().flatten());
    }
    header.push(")");
    let mut definition = Definition::new(&name, DefinitionKind::Method, class.line, 0);
    definition.container = Some(path_of(class).into());
    definition.reach = class.reach;
    definition.signature = digest_words(header.iter().copied());
    definition.header = header.iter().map(|text| format!("{text}{TOKEN_END}")).collect::<String>().into();
    definition.arity =
        Some(Arity { least: all.checked_sub(u16::try_from(optional).ok()?)?, most: Some(all) });
    is_made.then_some(definition)
}

struct Property<'f> {
    name: &'f str,
    type_: Vec<&'f str>,
    is_optional: bool,
}

/// Returns the properties that the constructor of a structure of Swift takes. `None` if other files cannot call it.
fn properties<'f>(facts: &'f Facts, class: &Definition) -> Option<Vec<Property<'f>>> {
    let path = path_of(class);
    let own = facts.definitions.iter().filter(|definition| {
        definition.kind == DefinitionKind::Field
            && definition.container.as_deref() == Some(&*path)
            && (class.line..=class.end_line).contains(&definition.line)
    });
    let mut found = Vec::new();
    for field in own {
        let tokens: Vec<&str> = field.header.split(TOKEN_END).filter(|token| !token.is_empty()).collect();
        let has = |word: &str| tokens.contains(&word);
        let has_value = has("=") || field.gives.is_none();
        let is_computed = !has("=") && !is_empty_digest(field.body) && has(":");
        if is_computed || has("static") || has("lazy") || has("let") && !is_empty_digest(field.body) {
            continue;
        }
        if field.reach == Reach::File {
            return None;
        }
        let colon = tokens.iter().position(|token| *token == ":").map_or(tokens.len(), |at| at + 1);
        let type_: Vec<&str> = tokens[colon..].iter().copied().take_while(|token| *token != "=").collect();
        let is_optional = has_value || has("var") && type_.last() == Some(&"?");
        let type_ = if type_.is_empty() { vec!["_"] } else { type_ };
        found.push(Property { name: &field.name, type_, is_optional });
    }
    Some(found)
}
