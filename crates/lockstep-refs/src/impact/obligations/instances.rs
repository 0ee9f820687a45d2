//! Places that make an object of a class or extend it, and may no longer: the class is abstract, final or static now. Annotations that do
//! not give an element which has no default value any more.

use tree_sitter::Node;

use super::super::tree::{Source, ancestors};
use super::{Search, Unmet};
use crate::facts::{Definition, DefinitionKind, Facts};
use crate::language::Language;
use crate::package::is_type;
use crate::resolve::path_of;
use crate::syntax::{TOKEN_END, children};

/// Adds the places that a new modifier of a class or a new element of an annotation forbids.
pub(super) fn find(search: &Search<'_>, old: &Facts, new: &Facts, found: &mut Vec<Unmet>) {
    if !matches!(new.language, Language::CSharp | Language::Java) {
        return;
    }
    let same = |definition: &Definition, was: &Definition| {
        definition.name == was.name && definition.container == was.container
    };
    for owner in new.definitions.iter().filter(|definition| is_type(definition)) {
        let Some(was) =
            old.definitions.iter().find(|definition| is_type(definition) && same(definition, owner))
        else {
            continue;
        };
        let adds = |word: &str| has_word(owner, word) && !has_word(was, word);
        let elements = new_elements(old, new, owner);
        let restriction = Restriction {
            is_abstract: adds("abstract"),
            is_final: adds("final") || adds("sealed"),
            changes_parameters: changes_parameters(old, new, owner),
            is_static: adds("static") && new.language == Language::CSharp,
            elements: &elements,
        };
        if restriction.is_none() {
            continue;
        }
        for reference in search.references(search.file, std::slice::from_ref(owner)) {
            let Some(source) = search.trees.get(reference.file) else { continue };
            let leaves = source.leaves(reference.line, &reference.pattern);
            if let Some(reason) = leaves.into_iter().find_map(|leaf| restriction.reason(&source, leaf)) {
                found.push(Unmet {
                    file: reference.file,
                    line: reference.line,
                    pattern: reference.pattern.clone(),
                    reason: format!("{} {reason}", owner.name),
                    owner: path_of(owner),
                });
            }
        }
    }
}

fn has_word(definition: &Definition, word: &str) -> bool {
    definition.header.split(TOKEN_END).any(|token| token == word)
}

/// The elements that every use of an annotation must give now and did not have to before.
fn new_elements<'f>(old: &Facts, new: &'f Facts, owner: &Definition) -> Vec<&'f str> {
    if !has_word(owner, "@interface") {
        return Vec::new();
    }
    let path = path_of(owner);
    let is_required = |definition: &&Definition| {
        definition.kind == DefinitionKind::Method
            && definition.container.as_deref() == Some(&*path)
            && !has_word(definition, "default")
    };
    let before: Vec<&str> =
        old.definitions.iter().filter(is_required).map(|definition| &*definition.name).collect();
    let now = new.definitions.iter().filter(is_required).map(|definition| &*definition.name);
    now.filter(|name| !before.contains(name)).collect()
}

/// Returns true if the only constructor of a class takes another number of arguments.
fn changes_parameters(old: &Facts, new: &Facts, owner: &Definition) -> bool {
    let path = path_of(owner);
    let only = |facts: &Facts| {
        let mut own = facts.definitions.iter().filter(|definition| {
            definition.kind == DefinitionKind::Method
                && definition.name == owner.name
                && definition.container.as_deref() == Some(&*path)
        });
        let first = own.next()?;
        first.arity.filter(|_| own.next().is_none())
    };
    only(old).zip(only(new)).is_some_and(|(was, is)| was != is)
}

/// The new restrictions of a type.
struct Restriction<'r> {
    is_abstract: bool,
    is_final: bool,
    /// Set if its only constructor takes another number of arguments.
    changes_parameters: bool,
    is_static: bool,
    elements: &'r [&'r str],
}

impl Restriction<'_> {
    fn is_none(&self) -> bool {
        !(self.is_abstract || self.is_final || self.changes_parameters || self.is_static)
            && self.elements.is_empty()
    }

    /// Returns the reason if the use at a leaf is not allowed any more.
    fn reason(&self, source: &Source, leaf: Node<'_>) -> Option<String> {
        let missing = self.elements.iter().find(|element| lacks_element(source, leaf, element));
        if let Some(element) = missing {
            return Some(format!("now requires {element}"));
        }
        if self.is_final && is_anonymous_base(leaf) {
            return Some("cannot be extended any more".to_owned());
        }
        if self.is_abstract && is_constructor_reference(source, leaf) {
            return Some("is abstract now".to_owned());
        }
        if self.changes_parameters && is_constructor_reference(source, leaf) {
            return Some("takes other arguments".to_owned());
        }
        let around = leaf.parent()?;
        let is_object = matches!(
            around.kind(),
            "object_creation_expression" | "variable_declaration" | "parameter" | "property_declaration"
        );
        let is_named = around.child_by_field_name("type") == Some(leaf);
        (self.is_static && is_object && is_named).then(|| "is static now".to_owned())
    }
}

/// Returns true if a name is the base of a class without a name: `new Base() { … }`.
pub(in crate::impact) fn is_anonymous_base(leaf: Node<'_>) -> bool {
    let mut inner = leaf;
    for node in ancestors(leaf).take(3) {
        if node.kind() == "object_creation_expression" {
            let has_body = children(node).iter().any(|child| child.kind() == "class_body");
            return has_body && node.child_by_field_name("type") == Some(inner);
        }
        inner = node;
    }
    false
}

/// Returns true for `Type::new`.
fn is_constructor_reference(source: &Source, leaf: Node<'_>) -> bool {
    let mut around = ancestors(leaf).take(3);
    let reference = around.find(|node| node.kind() == "method_reference");
    reference.is_some_and(|reference| source.text(reference).trim_end().ends_with("new"))
}

/// Returns true if a name is that of an annotation which does not give an element.
fn lacks_element(source: &Source, leaf: Node<'_>, element: &str) -> bool {
    let is_annotation = |node: &Node<'_>| matches!(node.kind(), "annotation" | "marker_annotation");
    let Some(annotation) = ancestors(leaf).take(2).find(is_annotation) else { return false };
    let is_named =
        annotation.child_by_field_name("name").is_some_and(|name| name.end_byte() == leaf.end_byte());
    let arguments = annotation.child_by_field_name("arguments").map(children).unwrap_or_default();
    let gives = |node: &Node<'_>| match node.child_by_field_name("key") {
        Some(key) => source.text(key) == element,
        None => element == "value",
    };
    is_named && !arguments.iter().any(gives)
}
