//! Java: classes with their members. Names across files are those of the [JVM](super::jvm).

use tree_sitter::Node;

use super::jvm::Jvm;
use crate::facts::{DefinitionKind, Reach, Role, Shape};
use crate::language::Language;
use crate::package::Packaged;
use crate::scope;
use crate::syntax::{children, digest, header, line_of};
use crate::walk::{self, Function, Grammar, ImportOf, Parameter, Type, Walk, dotted};

static GRAMMAR: Grammar = Grammar {
    names: &["identifier"],
    types: &["type_identifier"],
    generics: &["generic_type", "array_type"],
    paths: &["scoped_type_identifier", "scoped_identifier"],
    invocations: &[("method_invocation", "object", "name", "arguments")],
    members: &[("field_access", "object", "field"), ("method_reference", "", "")],
    creations: &[("object_creation_expression", "type", "arguments")],
    itself: &["this"],
    parent: &["super"],
    elements: &[("array_access", "array")],
    casts: &[("cast_expression", "type")],
    transparent: &["parenthesized_expression"],
    skipped: &["string_literal", "character_literal"],
    functions: &["method_declaration", "constructor_declaration", "compact_constructor_declaration"],
    ..Grammar::of(Language::Java, special)
};

/// The rules of the language.
pub(super) static RULES: Packaged = Packaged { grammar: &GRAMMAR, packages: &Jvm };

fn special(walk: &mut Walk<'_>, node: Node<'_>) -> bool {
    let field = |name| node.child_by_field_name(name);
    match node.kind() {
        "package_declaration" => {
            let name = children(node).into_iter().find(|child| child.kind().ends_with("identifier"));
            walk.collector.facts.package = name.map(|name| dotted(walk.text(name)).into());
        }
        "import_declaration" => {
            let parts = children(node);
            let glob = parts.iter().any(|part| part.kind() == "asterisk");
            let name = parts.iter().find(|part| part.kind().ends_with("identifier"));
            let module = name.map(|name| dotted(walk.text(*name))).unwrap_or_default();
            walk.import(node, ImportOf { glob, ..ImportOf::module(&module) });
        }
        "class_declaration"
        | "record_declaration"
        | "enum_declaration"
        | "interface_declaration"
        | "annotation_type_declaration" => type_(walk, node),
        "method_declaration" | "constructor_declaration" | "annotation_type_element_declaration" => {
            function(walk, node)
        }
        "field_declaration" | "constant_declaration" => fields(walk, node),
        "enum_constant" => {
            let Some(name) = field("name") else { return false };
            let owner = walk.collector.container().map(Shape::Of);
            walk.value(node, name, DefinitionKind::Variant, Reach::Everyone, owner, None);
            walk.own_creation(name, field("arguments"));
            if let (Some(body), Some(owner)) = (field("body"), walk.collector.container()) {
                let base = owner.rsplit('.').next().unwrap_or(&owner);
                subtype(walk, node, base, body);
            }
        }
        "local_variable_declaration" | "resource" | "enhanced_for_statement" => locals(walk, node),
        "catch_formal_parameter" | "instanceof_expression" => {
            let type_ = field("right")
                .or_else(|| children(node).into_iter().find(|child| child.kind() == "catch_type"));
            field("left").into_iter().chain(type_).for_each(|part| walk.visit(part));
            if let Some(name) = field("name") {
                walk.local(name, type_, None);
            }
        }
        "explicit_constructor_invocation" => {
            let is_parent = field("constructor").is_some_and(|child| child.kind() == "super");
            match is_parent {
                true => walk.super_constructor_call(node, field("arguments")),
                false => walk.own_creation(node, field("arguments")),
            }
        }
        "switch_expression" => {
            labels(walk, node);
            return false;
        }
        "lambda_expression" => lambda(walk, node),
        "object_creation_expression" => {
            let Some(body) = children(node).into_iter().find(|child| child.kind() == "class_body") else {
                return false;
            };
            anonymous(walk, node, body);
        }
        "formal_parameter" | "spread_parameter" => {
            let named = field("name");
            let parts = children(node)
                .into_iter()
                .filter(|child| Some(*child) != named && child.kind() != "variable_declarator");
            parts.for_each(|part| walk.visit(part));
        }
        "marker_annotation" | "annotation" => {
            field("name").into_iter().for_each(|name| match name.kind() {
                "identifier" => walk.use_bare_name(name, Role::Type, None),
                _ => walk.path(name, Role::Type, None),
            });
            field("arguments").into_iter().for_each(|arguments| walk.visit(arguments));
        }
        "element_value_pair" => {
            let annotation = node.parent().and_then(|list| list.parent());
            let name = annotation.and_then(|annotation| annotation.child_by_field_name("name"));
            if let Some((key, name)) = field("key").zip(name) {
                let of = Shape::Of(dotted(walk.text(name)).into());
                walk.collector.use_name(key, Role::Value, Some(of), None);
            }
            field("value").into_iter().for_each(|value| walk.visit(value));
        }
        "labeled_statement" | "break_statement" | "continue_statement" => {
            children(node)
                .into_iter()
                .filter(|child| child.kind() != "identifier")
                .for_each(|child| walk.visit(child));
        }
        _ => return false,
    }
    true
}

fn child<'n>(node: Node<'n>, kind: &str) -> Option<Node<'n>> {
    children(node).into_iter().find(|child| child.kind() == kind)
}

fn modifiers(node: Node<'_>) -> Option<Node<'_>> {
    child(node, "modifiers")
}

fn reach(walk: &Walk<'_>, node: Node<'_>) -> Reach {
    let words = modifiers(node).map(|modifiers| walk.text(modifiers)).unwrap_or_default();
    let has = |word| words.split_whitespace().any(|known| known == word);
    let in_interface = node
        .parent()
        .is_some_and(|body| body.kind().starts_with("interface") || body.kind().starts_with("annotation"));
    match () {
        () if has("private") => Reach::File,
        () if has("public") || has("protected") || in_interface => Reach::Everyone,
        () => Reach::Package,
    }
}

fn type_(walk: &mut Walk<'_>, node: Node<'_>) {
    let Some(name) = node.child_by_field_name("name") else { return };
    let kind = match node.kind() {
        "interface_declaration" | "annotation_type_declaration" => DefinitionKind::Interface,
        _ => DefinitionKind::Type,
    };
    let clauses = ["superclass", "super_interfaces", "extends_interfaces"];
    let clauses = children(node).into_iter().filter(|child| clauses.contains(&child.kind()));
    let flat = |clause: Node<'_>| match clause.named_child(0) {
        Some(list) if list.kind() == "type_list" => (0..list.named_child_count()).collect::<Vec<_>>(),
        _ => Vec::new(),
    };
    let mut extends = Vec::new();
    for clause in clauses {
        match flat(clause).is_empty() {
            true => extends.extend(clause.named_child(0)),
            false => extends.extend(clause.named_child(0).map(children).into_iter().flatten()),
        }
    }
    let body = node.child_by_field_name("body");
    let reach = reach(walk, node);
    walk.type_(&Type { node, name, kind, reach, extends, body });
    if let Some(superclass) = child(node, "superclass") {
        default_calls(walk, name, superclass, body);
    }
    if node.kind() == "record_declaration" {
        record(walk, node, name);
    }
}

/// Records the calls of the base's constructor that are not written.
fn default_calls(walk: &mut Walk<'_>, name: Node<'_>, superclass: Node<'_>, body: Option<Node<'_>>) {
    let Some(base) = superclass.named_child(0) else { return };
    let members = body.map(children).unwrap_or_default();
    let written: Vec<_> =
        members.into_iter().filter(|member| member.kind() == "constructor_declaration").collect();
    walk.default_calls(name, base, &written, |walk| {
        let body = walk.child_by_field_name("body");
        body.and_then(|body| child(body, "explicit_constructor_invocation")).is_some()
    });
}

/// Records the components of a record: accessors, and the constructor that takes them.
fn record(walk: &mut Walk<'_>, node: Node<'_>, name: Node<'_>) {
    let Some(list) = node.child_by_field_name("parameters") else { return };
    let container = walk.collector.enter(walk.text(name));
    for component in children(list) {
        if let Some(name) = component.child_by_field_name("name") {
            let gives = component.child_by_field_name("type").map(|type_| walk.type_shape(type_));
            walk.value(component, name, DefinitionKind::Method, Reach::Everyone, gives, None);
        }
    }
    let parameters = parameters(walk, list);
    let mut definition = walk.collector.definition(walk.text(name), DefinitionKind::Method, name);
    definition.arity = walk::arity(&parameters);
    definition.signature = digest([list], walk.collector.text, |_| false);
    definition.header = header(list, None, &[], walk.collector.text);
    walk.collector.define(definition);
    walk.collector.leave(container);
}

fn function(walk: &mut Walk<'_>, node: Node<'_>) {
    let Some(name) = node.child_by_field_name("name") else { return };
    let parameters =
        node.child_by_field_name("parameters").map(|list| parameters(walk, list)).unwrap_or_default();
    let result = node.child_by_field_name("type").map(|type_| walk.type_shape(type_));
    let body = node.child_by_field_name("body");
    let reach = reach(walk, node);
    walk.function(&Function { node, name, kind: DefinitionKind::Method, reach, parameters, result, body });
}

fn parameters<'n>(walk: &Walk<'_>, list: Node<'n>) -> Vec<Parameter<'n>> {
    let one = |node: Node<'n>| {
        let rest = node.kind() == "spread_parameter";
        let declared = children(node).into_iter().find(|child| child.kind() == "variable_declarator");
        let name = node.child_by_field_name("name").or_else(|| declared?.child_by_field_name("name"));
        let type_ = node.child_by_field_name("type");
        let shape = type_.map_or(Shape::Unknown, |type_| walk.type_shape(type_));
        Parameter { name, shape, optional: false, rest }
    };
    children(list)
        .into_iter()
        .filter(|child| child.kind().ends_with("parameter") && child.kind() != "receiver_parameter")
        .map(one)
        .collect()
}

fn fields(walk: &mut Walk<'_>, node: Node<'_>) {
    let type_ = node.child_by_field_name("type");
    let gives = type_.map(|type_| walk.type_shape(type_));
    let reach = reach(walk, node);
    let mut first = None;
    for declarator in node.children_by_field_name("declarator", &mut node.walk()) {
        let Some(name) = declarator.child_by_field_name("name") else { continue };
        let initial = declarator.child_by_field_name("value");
        let at = walk.value(node, name, DefinitionKind::Field, reach, gives.clone(), initial);
        first = first.or(at);
        initial.into_iter().for_each(|initial| walk.visit_within(at, initial));
    }
    modifiers(node).into_iter().chain(type_).for_each(|part| walk.visit_within(first, part));
}

fn locals(walk: &mut Walk<'_>, node: Node<'_>) {
    let type_ = node.child_by_field_name("type");
    let open = type_.is_some_and(|type_| walk.text(type_) == "var");
    let declared = type_.filter(|_| !open);
    modifiers(node).into_iter().chain(declared).for_each(|part| walk.visit(part));
    let declarators: Vec<_> = node.children_by_field_name("declarator", &mut node.walk()).collect();
    if let Some(name) = node.child_by_field_name("name") {
        let value = node.child_by_field_name("value");
        value.into_iter().for_each(|value| walk.visit(value));
        let element = value.filter(|_| open && node.kind() == "enhanced_for_statement");
        match element.map(|value| scope::element(walk.shape(value))) {
            Some(shape) => walk.collector.scopes.bind(walk.text(name), shape),
            None => walk.local(name, declared, value),
        }
        node.child_by_field_name("body").into_iter().for_each(|body| walk.visit(body));
    }
    for declarator in declarators {
        let value = declarator.child_by_field_name("value");
        value.into_iter().for_each(|value| walk.visit(value));
        if let Some(name) = declarator.child_by_field_name("name") {
            walk.local(name, declared, value);
        }
    }
}

/// `new T(…) { … }`: a type without a name that extends T.
fn anonymous(walk: &mut Walk<'_>, node: Node<'_>, body: Node<'_>) {
    let Some(type_node) = node.child_by_field_name("type") else { return };
    walk.creation(type_node, node.child_by_field_name("arguments"));
    subtype(walk, node, &dotted(walk.text(walk.head(type_node))), body);
}

/// Walks the body of a type without a name.
fn subtype(walk: &mut Walk<'_>, node: Node<'_>, base: &str, body: Node<'_>) {
    let name = format!("_{}", line_of(node));
    let mut definition = walk.collector.definition(&name, DefinitionKind::Type, node);
    definition.reach = Reach::File;
    definition.extends = vec![base.into()];
    let before = walk.collector.within;
    walk.collector.within = walk.collector.define(definition);
    let container = walk.collector.enter(&name);
    walk.children(body);
    walk.collector.leave(container);
    walk.collector.within = before;
}

/// Handles `case NAME`: for an enumeration, the name is a variant of the switched type. It may also be
/// another constant, which is found when the rest is walked.
fn labels(walk: &mut Walk<'_>, node: Node<'_>) {
    let (Some(over), Some(body)) = (node.child_by_field_name("condition"), node.child_by_field_name("body"))
    else {
        return;
    };
    let of = walk.shape(over);
    let groups = children(body).into_iter().flat_map(children);
    for label in groups.filter(|group| group.kind() == "switch_label").flat_map(children) {
        if label.kind() == "identifier" {
            walk.collector.use_name(label, Role::Value, Some(of.clone()), None);
        }
    }
}

fn lambda(walk: &mut Walk<'_>, node: Node<'_>) {
    walk.collector.scopes.open();
    if let Some(list) = node.child_by_field_name("parameters") {
        match list.kind() {
            "identifier" => walk.collector.scopes.bind(walk.text(list), Shape::Unknown),
            "inferred_parameters" => {
                children(list)
                    .into_iter()
                    .for_each(|name| walk.collector.scopes.bind(walk.text(name), Shape::Unknown));
            }
            _ => {
                for parameter in parameters(walk, list) {
                    parameter.name.into_iter().for_each(|name| {
                        walk.collector.scopes.bind(walk.text(name), parameter.shape.clone())
                    });
                }
                walk.visit(list);
            }
        }
    }
    node.child_by_field_name("body").into_iter().for_each(|body| walk.visit(body));
    walk.collector.scopes.close();
}

#[cfg(test)]
mod tests;
