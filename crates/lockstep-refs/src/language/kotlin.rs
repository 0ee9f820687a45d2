//! Kotlin: classes, and functions and properties outside them. Names across files are those of the [JVM](super::jvm).

use tree_sitter::Node;

use super::jvm::Jvm;
use crate::facts::{Arity, DefinitionKind, Reach, Role, Shape, Use};
use crate::language::Language;
use crate::package::Packaged;
use crate::scope;
use crate::syntax::{children, digest, header, line_of};
use crate::walk::{self, Function, Grammar, ImportOf, Parameter, Type, Walk, dotted};

static GRAMMAR: Grammar = Grammar {
    names: &["identifier"],
    generics: &["user_type"],
    paths: &["user_type"],
    calls: &[("call_expression", "", "")],
    members: &[("navigation_expression", "", ""), ("callable_reference", "", "")],
    itself: &["this_expression"],
    parent: &["super_expression"],
    elements: &[("index_expression", "")],
    casts: &[("as_expression", "right")],
    transparent: &["parenthesized_expression", "unary_expression"],
    skipped: &["string_content", "label"],
    functions: &["function_declaration", "secondary_constructor"],
    ..Grammar::of(Language::Kotlin, special)
};

/// The rules of the language.
pub(super) static RULES: Packaged = Packaged { grammar: &GRAMMAR, packages: &Jvm };

fn child<'n>(node: Node<'n>, kind: &str) -> Option<Node<'n>> {
    children(node).into_iter().find(|child| child.kind() == kind)
}

/// Handles imports and definitions; [visit_inner] handles everything else.
fn special(walk: &mut Walk<'_>, node: Node<'_>) -> bool {
    match node.kind() {
        "package_header" => {
            let name = child(node, "qualified_identifier").or_else(|| child(node, "identifier"));
            walk.collector.facts.package = name.map(|name| dotted(walk.text(name)).into());
        }
        "import" => {
            let module =
                child(node, "qualified_identifier").map(|name| dotted(walk.text(name))).unwrap_or_default();
            let alias = child(node, "identifier").map(|name| walk.text(name)).filter(|name| *name != module);
            let glob = walk.text(node).trim_end().ends_with(".*");
            walk.import(node, ImportOf { alias, glob, ..ImportOf::module(&module) });
        }
        "class_declaration" | "object_declaration" => type_(walk, node),
        "companion_object" => walk.children(node),
        "enum_entry" => {
            if let Some(name) = child(node, "identifier") {
                let owner = walk.collector.container().map(Shape::Of);
                walk.value(node, name, DefinitionKind::Variant, Reach::Everyone, owner, None);
                walk.own_creation(name, child(node, "value_arguments"));
                let rest = children(node).into_iter().filter(|child| child.kind() == "class_body");
                rest.for_each(|body| walk.visit(body));
            }
        }
        "type_alias" => {
            let named = child(node, "user_type");
            let (Some(name), Some(type_)) =
                (node.child_by_field_name("type"), named.or_else(|| child(node, "function_type")))
            else {
                return false;
            };
            let mut definition = walk.collector.definition(walk.text(name), DefinitionKind::Type, node);
            definition.gives = named.map(|named| walk.type_shape(named));
            definition.signature = digest([type_], walk.collector.text, |_| false);
            walk.collector.define(definition);
            walk.visit_type(type_);
        }
        "function_declaration" => function(walk, node),
        "secondary_constructor" => {
            let parameters = child(node, "function_value_parameters")
                .map(|list| parameters(walk, list))
                .unwrap_or_default();
            constructor(walk, node, &parameters);
            walk.collector.scopes.open();
            bind(walk, &parameters);
            walk.children(node);
            walk.collector.scopes.close();
        }
        "property_declaration" => property(walk, node),
        _ => return visit_inner(walk, node),
    }
    true
}

/// Statements and expressions.
fn visit_inner(walk: &mut Walk<'_>, node: Node<'_>) -> bool {
    match node.kind() {
        "for_statement" => {
            let parts = children(node);
            let (Some(name), Some(over)) = (parts.first(), parts.get(1)) else { return false };
            walk.visit(*over);
            let element = scope::element(walk.shape(*over));
            for name in declared(*name) {
                walk.collector.scopes.bind(walk.text(name), element.clone());
            }
            parts.iter().skip(2).for_each(|part| walk.visit(*part));
        }
        "lambda_literal" | "anonymous_function" => {
            walk.collector.scopes.open();
            walk.collector.scopes.bind("it", Shape::Unknown);
            for parameter in child(node, "lambda_parameters").map(children).unwrap_or_default() {
                declared(parameter).into_iter().for_each(|name| walk.local(name, type_of(parameter), None));
            }
            let parameters = child(node, "function_value_parameters")
                .map(|list| parameters(walk, list))
                .unwrap_or_default();
            bind(walk, &parameters);
            walk.children(node);
            walk.collector.scopes.close();
        }
        "catch_block" => {
            if let Some(name) = child(node, "identifier") {
                walk.local(name, type_of(node), None);
                walk.children_but(node, Some(name));
            }
        }
        "call_expression" => call(walk, node),
        "infix_expression" => infix_call(walk, node),
        "object_literal" => {
            overrides(walk, node);
            return false;
        }
        "constructor_invocation" => constructor_invocation(walk, node),
        "constructor_delegation_call" => {
            let is_parent = node.child(0).is_some_and(|child| child.kind() == "super");
            let arguments = child(node, "value_arguments");
            match is_parent {
                true => walk.super_constructor_call(node, arguments),
                false => walk.own_creation(node, arguments),
            }
        }
        "value_argument" => {
            // `name = value`: the name is the parameter's.
            let named = node.child(1).is_some_and(|equals| equals.kind() == "=");
            walk.children_but(node, node.named_child(0).filter(|_| named));
        }
        "string_literal" | "multiline_string_literal" => {
            templates(walk, node);
            return false;
        }
        "user_type" => {
            walk.path(node, Role::Type, None);
            child(node, "type_arguments").into_iter().for_each(|arguments| walk.children(arguments));
        }
        "parameter" | "class_parameter" | "lambda_parameters" | "variable_declaration" => {
            let name = child(node, "identifier");
            walk.children_but(node, name);
        }
        "type_parameter" => child(node, "user_type").into_iter().for_each(|bound| walk.visit_type(bound)),
        _ => return false,
    }
    true
}

/// Records the names in a string: `$name`. The grammar reads them as text.
fn templates(walk: &mut Walk<'_>, node: Node<'_>) {
    let text = walk.text(node);
    let mut line = line_of(node);
    for (number, part) in text.split('$').enumerate() {
        let end = part.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(part.len());
        let name = &part[..end];
        let is_name = number > 0 && name.starts_with(|c: char| c.is_alphabetic() || c == '_');
        if is_name && walk.collector.scopes.get(name).is_none() {
            let (within, keywords) = (walk.collector.within, Vec::new());
            let name = name.into();
            let used = Use { name, line, role: Role::Value, of: None, arguments: None, keywords, within };
            walk.collector.facts.uses.push(used);
        }
        line += u32::try_from(part.matches('\n').count()).unwrap_or(0);
    }
}

/// The call of a constructor in the head of a type or object.
fn constructor_invocation(walk: &mut Walk<'_>, node: Node<'_>) {
    let arguments = child(node, "value_arguments");
    if let Some(type_node) = child(node, "user_type") {
        // It is a call of the constructor: the type's name is part of the header.
        let base = dotted(walk.text(type_node));
        let simple = base.rsplit('.').next().unwrap_or(&base).to_owned();
        let count = arguments.and_then(walk::argument_count);
        let first = walk.collector.facts.uses.len();
        walk.record_use(type_node, &simple, Role::Call, Some(Shape::Of(base.into())), count);
        arguments.into_iter().for_each(|argument| walk.name_arguments(first, argument));
        let header = node.parent().and_then(|parent| parent.parent()).and_then(|child| child.parent());
        if header.is_none_or(|header| header.kind() != "class_declaration") {
            walk.path(type_node, Role::Extend, None);
        }
        child(type_node, "type_arguments").into_iter().for_each(|argument_list| walk.children(argument_list));
    }
    arguments.into_iter().for_each(|arguments| walk.children(arguments));
}

fn call(walk: &mut Walk<'_>, node: Node<'_>) {
    let Some(callee) = node.named_child(0) else { return };
    let before = walk.collector.facts.uses.len();
    walk.call(callee, child(node, "value_arguments"));
    if let Some(lambda) = child(node, "annotated_lambda") {
        count_last_function(walk, (node, callee), before);
        walk.visit(lambda);
    }
}

/// Counts the function after the parentheses as the last argument of a call. `before` is the number of uses before it.
///
/// It is apart from [`call`], which calls itself for each call in a chain, so that their frames stay small.
fn count_last_function(walk: &mut Walk<'_>, (node, callee): (Node<'_>, Node<'_>), before: usize) {
    let is_continued = callee.kind() == "call_expression" && child(node, "value_arguments").is_none();
    let mut name = if is_continued { callee.named_child(0).unwrap_or(callee) } else { callee };
    while let Some(last) = children(name).pop() {
        name = last;
    }
    let name = walk.text(name).to_owned();
    let of_call = |used: &&mut Use| used.role == Role::Call && *used.name == *name;
    let mut uses = walk.collector.facts.uses.iter_mut().skip(before).rev();
    if let Some(called) = uses.find(of_call) {
        called.arguments = called
            .arguments
            .map_or(Some(1), |count| Some(count + 1))
            .filter(|_| called.arguments.is_some() || !is_continued);
    }
}

/// Records the members that an anonymous object overrides.
fn overrides(walk: &mut Walk<'_>, node: Node<'_>) {
    let specifiers = child(node, "delegation_specifiers").map(children).unwrap_or_default();
    let bases: Vec<Shape> = specifiers
        .into_iter()
        .filter_map(|specifier| specifier.named_child(0))
        .filter_map(|candidate| {
            if candidate.kind() == "user_type" { Some(candidate) } else { child(candidate, "user_type") }
        })
        .map(|child| walk.type_shape(child))
        .collect();
    for member in child(node, "class_body").map(children).unwrap_or_default() {
        let words = child(member, "modifiers").map(|child| walk.text(child)).unwrap_or_default();
        let name = member.child_by_field_name("name").or_else(|| {
            child(member, "variable_declaration").and_then(|candidate| child(candidate, "identifier"))
        });
        let Some(name) = name.filter(|_| words.split_whitespace().any(|word| word == "override")) else {
            continue;
        };
        for base in &bases {
            walk.collector.use_name(name, Role::Override, Some(base.clone()), None);
        }
    }
}

/// `left name right`: a call of a member with one argument.
fn infix_call(walk: &mut Walk<'_>, node: Node<'_>) {
    let parts = children(node);
    let [left, name, right] = parts.as_slice() else { return walk.children(node) };
    walk.member(*left, *name, Role::Call, Some(1));
    walk.visit(*right);
}

fn reach(walk: &Walk<'_>, node: Node<'_>) -> Reach {
    let words = child(node, "modifiers").map(|modifiers| walk.text(modifiers)).unwrap_or_default();
    match words.split_whitespace().any(|word| word == "private") {
        true => Reach::File,
        false => Reach::Everyone,
    }
}

fn type_(walk: &mut Walk<'_>, node: Node<'_>) {
    let Some(name) = node.child_by_field_name("name").or_else(|| child(node, "identifier")) else { return };
    let is_interface = node.children(&mut node.walk()).any(|part| part.kind() == "interface");
    let kind = if is_interface { DefinitionKind::Interface } else { DefinitionKind::Type };
    let specifiers = child(node, "delegation_specifiers").map(children).unwrap_or_default();
    let extends = specifiers.into_iter().filter_map(|specifier| {
        let inner = specifier.named_child(0)?;
        Some(if inner.kind() == "user_type" { inner } else { child(inner, "user_type").unwrap_or(inner) })
    });
    let extends = extends.collect();
    let body = child(node, "class_body").or_else(|| child(node, "enum_class_body"));
    let reach = reach(walk, node);
    walk.type_(&Type { node, name, kind, reach, extends, body });
    if let Some(list) =
        child(node, "primary_constructor").and_then(|candidate| child(candidate, "class_parameters"))
    {
        let container = walk.collector.enter(walk.text(name));
        for parameter in children(list) {
            let has_property =
                parameter.children(&mut parameter.walk()).any(|part| matches!(part.kind(), "val" | "var"));
            if let Some(name) = child(parameter, "identifier").filter(|_| has_property) {
                let gives = type_of(parameter).map(|type_| walk.type_shape(type_));
                let reach = self::reach(walk, parameter);
                walk.value(parameter, name, DefinitionKind::Field, reach, gives, None);
            }
        }
        constructor(walk, list, &parameters(walk, list));
        if child(node, "modifiers")
            .is_some_and(|child| walk.text(child).split_whitespace().any(|word| word == "data"))
        {
            copy(walk, list);
        }
        walk.collector.leave(container);
    }
}

/// Records the method `copy` of a data class: it takes any of the properties.
fn copy(walk: &mut Walk<'_>, list: Node<'_>) {
    let mut definition = walk.collector.definition("copy", DefinitionKind::Method, list);
    let most = u16::try_from(children(list).len()).ok();
    definition.arity = Some(Arity { least: 0, most });
    definition.signature = digest([list], walk.collector.text, |_| false);
    definition.header = header(list, None, &[], walk.collector.text);
    definition.gives = walk.collector.container().map(Shape::Of);
    walk.collector.define(definition);
}

/// A constructor, by the name of its type.
fn constructor(walk: &mut Walk<'_>, node: Node<'_>, parameters: &[Parameter<'_>]) {
    let Some(container) = walk.collector.container() else { return };
    let name = container.rsplit('.').next().unwrap_or(&container).to_owned();
    let body = child(node, "block");
    let mut definition = walk.collector.definition(&name, DefinitionKind::Method, node);
    definition.arity = walk::arity(parameters);
    definition.signature = digest([node], walk.collector.text, |child| Some(child) == body);
    definition.body = digest(body, walk.collector.text, |_| false);
    definition.header = header(node, None, body.as_slice(), walk.collector.text);
    walk.collector.define(definition);
}

fn function(walk: &mut Walk<'_>, node: Node<'_>) {
    let Some(name) = node.child_by_field_name("name") else { return };
    let Some(list) = child(node, "function_value_parameters") else { return };
    let after = |part: &Node<'_>| part.start_byte() > list.start_byte();
    let is_type = |part: &Node<'_>| matches!(part.kind(), "user_type" | "nullable_type");
    let written = children(node).into_iter().filter(is_type);
    let (result, receiver): (Vec<_>, Vec<_>) = written.partition(after);
    let body = child(node, "function_body");
    // With `= expression`, the result is that of the expression.
    let worth = body.filter(|body| child(*body, "block").is_none()).and_then(|body| body.named_child(0));
    let result = result
        .first()
        .map(|result| walk.type_shape(*result))
        .or_else(|| worth.map(|worth| walk.shape(worth)));
    let receiver = receiver.first().map(|receiver| walk.type_shape(*receiver));
    let kind = match walk.collector.container() {
        Some(_) if !walk.is_inside_function() => DefinitionKind::Method,
        _ => DefinitionKind::Function,
    };
    let parameters = parameters(walk, list);
    if walk.is_inside_function() {
        walk.collector.scopes.bind(walk.text(name), result.clone().unwrap_or(Shape::Unknown));
        walk.collector.scopes.open();
        bind(walk, &parameters);
        walk.children_but(node, Some(name));
        walk.collector.scopes.close();
        return;
    }
    let at = walk.collector.facts.definitions.len();
    let reach = reach(walk, node);
    walk.function(&Function { node, name, kind, reach, parameters, result, body });
    if let (Some(definition), Some(shape)) = (walk.collector.facts.definitions.get_mut(at), receiver) {
        definition.extends = vec![head_of(&shape)];
    }
}

fn head_of(shape: &Shape) -> Box<str> {
    match shape {
        Shape::Of(name) => name.clone(),
        Shape::Applied(head, _) => head_of(head),
        _ => "?".into(),
    }
}

fn type_of(node: Node<'_>) -> Option<Node<'_>> {
    children(node)
        .into_iter()
        .find(|part| matches!(part.kind(), "user_type" | "nullable_type" | "function_type"))
}

fn parameters<'n>(walk: &Walk<'_>, list: Node<'n>) -> Vec<Parameter<'n>> {
    let mut found: Vec<Parameter<'n>> = Vec::new();
    for node in children(list) {
        match node.kind() {
            "parameter" | "class_parameter" => {
                let shape = type_of(node).map_or(Shape::Unknown, |type_| walk.type_shape(type_));
                let words = walk.text(node);
                let rest = words.split_whitespace().next() == Some("vararg");
                let optional = node.children(&mut node.walk()).any(|part| part.kind() == "=");
                found.push(Parameter { name: child(node, "identifier"), shape, optional, rest });
            }
            "parameter_modifiers" | "modifiers" => {}
            // A default value follows its parameter.
            _ => {
                if let Some(last) = found.last_mut() {
                    last.optional = true;
                }
            }
        }
    }
    let varargs: Vec<bool> = children(list).iter().map(|node| node.kind() == "parameter_modifiers").collect();
    if varargs.iter().any(|is| *is)
        && walk.text(list).contains("vararg ")
        && let Some(last) = found.last_mut()
    {
        last.rest = true;
    }
    found
}

fn bind(walk: &mut Walk<'_>, parameters: &[Parameter<'_>]) {
    for parameter in parameters {
        if let Some(name) = parameter.name {
            walk.collector.scopes.bind(walk.text(name), parameter.shape.clone());
        }
    }
}

/// The names that a declaration of variables declares.
fn declared(node: Node<'_>) -> Vec<Node<'_>> {
    match node.kind() {
        "multi_variable_declaration" => children(node).into_iter().flat_map(declared).collect(),
        "variable_declaration" => child(node, "identifier").into_iter().collect(),
        _ => Vec::new(),
    }
}

fn property(walk: &mut Walk<'_>, node: Node<'_>) {
    let parts = children(node);
    let Some(variable) = parts.iter().find(|part| part.kind().ends_with("variable_declaration")).copied()
    else {
        return;
    };
    let type_ = type_of(variable);
    let own = [
        "modifiers",
        "getter",
        "setter",
        "property_delegate",
        "type_parameters",
        "user_type",
        "nullable_type",
    ];
    let initial = parts.iter().rfind(|part| !own.contains(&part.kind()) && **part != variable).copied();
    let names = declared(variable);
    if walk.is_inside_function() {
        walk.children_but(node, None);
        let single = names.len() == 1;
        names.into_iter().for_each(|name| walk.local(name, type_, initial.filter(|_| single)));
        return;
    }
    let kind =
        if walk.collector.container().is_some() { DefinitionKind::Field } else { DefinitionKind::Value };
    let reach = reach(walk, node);
    let gives =
        type_.map(|type_| walk.type_shape(type_)).or_else(|| initial.map(|initial| walk.shape(initial)));
    let receiver = child(node, "user_type").map(|receiver| head_of(&walk.type_shape(receiver)));
    let mut first = None;
    for name in names {
        let at = walk.value(node, name, kind, reach, gives.clone(), initial);
        let defined = at.and_then(|at| walk.collector.facts.definitions.get_mut(at as usize));
        if let Some((defined, receiver)) = defined.zip(receiver.as_ref()) {
            defined.extends = vec![receiver.clone()];
        }
        first = first.or(at);
    }
    parts.into_iter().for_each(|part| walk.visit_within(first, part));
}

#[cfg(test)]
mod tests;
