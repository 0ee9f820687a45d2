//! The parts of declarations, calls and functions in syntax trees.

use tree_sitter::Node;

use super::super::super::tree::{Source, ancestors, descendants};
use super::{CALLS, LAMBDAS, NAMES, PARAMETERS, VARIABLES};
use crate::facts::{Arity, Definition};
use crate::language::Language;
use crate::syntax::{children, line_of};

/// Returns the number of parameters of a type of functions; `None` for other types.
pub(super) fn parameters_of(source: &Source, owner: &Definition) -> Option<Arity> {
    let is_named = |node: Node<'_>| {
        let mut inside = descendants(node).into_iter();
        inside.any(|child| child.child_count() == 0 && source.text(child) == &*owner.name)
    };
    let kinds =
        ["type_alias_declaration", "type_spec", "type_definition", "type_alias", "typealias_declaration"];
    let kinds = kinds.into_iter().chain(["delegate_declaration", "interface_declaration"]);
    let kinds: Vec<&str> = kinds.collect();
    let nodes = source.nodes(&kinds).into_iter();
    let whole = nodes.filter(|node| (owner.line.saturating_sub(2)..=owner.line).contains(&line_of(*node)));
    let whole = whole.into_iter().find(|node| is_named(*node))?;
    let list = match whole.kind() {
        "type_alias_declaration" => {
            let value = whole.child_by_field_name("value").filter(|value| value.kind() == "function_type")?;
            value.child_by_field_name("parameters")?
        }
        "type_spec" => {
            let value = whole
                .child_by_field_name("type")
                .filter(|annotation| annotation.kind() == "function_type")?;
            value.child_by_field_name("parameters")?
        }
        "type_definition" => {
            let declarator = whole.child_by_field_name("declarator");
            let declarator = declarator.filter(|declarator| declarator.kind() == "function_declarator")?;
            declarator.child_by_field_name("parameters")?
        }
        "delegate_declaration" => whole.child_by_field_name("parameters")?,
        "interface_declaration" if source.language == Language::Java => only_method(whole)?,
        "type_alias" | "typealias_declaration" => {
            children(whole).into_iter().find(|child| child.kind() == "function_type")?.named_child(0)?
        }
        _ => return None,
    };
    Some(count_parameters(source, list))
}

/// Returns the parameters of the only abstract method of an interface of Java.
fn only_method(interface: Node<'_>) -> Option<Node<'_>> {
    let body = interface.child_by_field_name("body")?;
    let is_abstract =
        |node: &Node<'_>| node.kind() == "method_declaration" && node.child_by_field_name("body").is_none();
    let methods: Vec<Node<'_>> = children(body).into_iter().filter(is_abstract).collect();
    let [method] = methods.as_slice() else { return None };
    method.child_by_field_name("parameters")
}

fn count_parameters(source: &Source, list: Node<'_>) -> Arity {
    let (mut least, mut most, mut is_open) = (0_u16, 0_u16, false);
    for part in children(list).into_iter().filter(|child| !child.is_extra()) {
        let text = source.text(part);
        // Go declares several parameters with one type.
        let names = part.children_by_field_name("name", &mut part.walk()).count();
        let count = if source.language == Language::Go { names.max(1) } else { 1 };
        let count = u16::try_from(count).unwrap_or(u16::MAX);
        is_open |= part.kind().contains("variadic") || text.starts_with("...") || text == "...";
        if text == "void" && matches!(source.language, Language::C | Language::Cpp) {
            continue;
        }
        most = most.saturating_add(count);
        least += if part.kind().starts_with("optional") { 0 } else { count };
    }
    Arity { least, most: (!is_open).then_some(most) }
}

/// Returns the declaration whose type a name is.
pub(in super::super) fn declaration(leaf: Node<'_>) -> Option<Node<'_>> {
    for node in ancestors(leaf).take(6) {
        let kind = node.kind();
        if PARAMETERS.contains(&kind) || VARIABLES.contains(&kind) {
            return Some(node);
        }
        let is_part = ["argument", "array", "slice", "map", "function", "union", "pointer"];
        if is_part.iter().any(|part| kind.contains(part)) {
            return None;
        }
    }
    None
}

/// Returns the name that a declaration gives: behind the type in some languages, before it in others.
pub(super) fn declared_name<'n>(language: Language, type_: Node<'n>, place: Node<'n>) -> Option<Node<'n>> {
    use Language::{C, CSharp, Cpp, Java};
    let names = descendants(place).into_iter().filter(|descendant| NAMES.contains(&descendant.kind()));
    match matches!(language, C | CSharp | Cpp | Java) {
        true => names.into_iter().find(|name| name.start_byte() > type_.end_byte()),
        false => names.into_iter().take_while(|name| name.start_byte() < type_.start_byte()).last(),
    }
}

/// Returns the value that is assigned to a field or given for it in a literal.
pub(super) fn given_to(leaf: Node<'_>) -> Option<Node<'_>> {
    for node in ancestors(leaf).take(4) {
        let value = match node.kind() {
            "assignment_expression" | "assignment_statement" | "assignment" => {
                node.child_by_field_name("right")
            }
            "pair" | "initializer_pair" | "keyed_element" => node.child_by_field_name("value"),
            kind if CALLS.contains(&kind) => return None,
            _ => continue,
        };
        let mut value = value.filter(|value| value.start_byte() > leaf.start_byte())?;
        while matches!(value.kind(), "expression_list" | "literal_element") {
            value = value.named_child(0)?;
        }
        return Some(value);
    }
    None
}

/// Returns true if a call of Kotlin is the call before it with a function behind the parentheses.
pub(super) fn is_continued(call: Node<'_>) -> bool {
    call.kind() == "call_expression"
        && call.named_child(0).is_some_and(|child| child.kind() == "call_expression")
}

/// Returns the name of the called function.
pub(super) fn callee(call: Node<'_>) -> Option<Node<'_>> {
    if call.parent().is_some_and(is_continued) {
        return None;
    }
    let callee = ["function", "name"].iter().find_map(|field| call.child_by_field_name(field));
    let mut node = callee.or_else(|| call.named_child(0))?;
    if is_continued(call) {
        node = node.named_child(0)?;
    }
    while node.child_count() > 0 {
        node = children(node).pop()?;
    }
    Some(node)
}

/// Returns the values that a call passes, with functions behind the parentheses.
pub(super) fn arguments(call: Node<'_>) -> Vec<Node<'_>> {
    let mut found = Vec::new();
    let mut parts = children(call);
    if is_continued(call) {
        let inner = parts.remove(0);
        parts.splice(0..0, children(inner));
    }
    for part in parts {
        match part.kind() {
            "arguments" | "argument_list" | "value_arguments" => {
                let given = children(part).into_iter().filter(|child| !child.is_extra());
                found.extend(given.map(|node| match node.kind() {
                    "argument" | "value_argument" => children(node).pop().unwrap_or(node),
                    _ => node,
                }));
            }
            "annotated_lambda" => found.extend(part.named_child(0)),
            "call_suffix" => found.extend(arguments(part)),
            "lambda_literal" => found.push(part),
            _ => {}
        }
    }
    found
}

/// Returns the number of parameters that a function literal names; `None` if it names none and may use them all the same.
pub(super) fn lambda_parameters(lambda: Node<'_>) -> Option<u16> {
    let count = |list: Node<'_>| {
        let parts: Vec<Node<'_>> = children(list).into_iter().filter(|child| !child.is_extra()).collect();
        let names = |node: &Node<'_>| node.children_by_field_name("name", &mut node.walk()).count().max(1);
        let is_go = lambda.kind() == "func_literal";
        let sum: usize = parts.iter().map(|part| if is_go { names(part) } else { 1 }).sum();
        u16::try_from(sum).ok()
    };
    if lambda.child_by_field_name("parameter").is_some() {
        return Some(1);
    }
    let lists = ["lambda_parameters", "lambda_function_type_parameters"];
    let written =
        || descendants(lambda).into_iter().take(6).find(|descendant| lists.contains(&descendant.kind()));
    let list = lambda.child_by_field_name("parameters").or_else(written)?;
    if list.named_child_count() == 0 && NAMES.contains(&list.kind()) || list.kind() == "implicit_parameter" {
        return Some(1);
    }
    count(list)
}

/// Returns the values that a method of Java returns, if a name is that of its result type.
pub(super) fn returned_values<'n>(leaf: Node<'n>) -> Vec<Node<'n>> {
    let mut inner = leaf;
    for node in ancestors(leaf).take(4) {
        let is_result = |field: &str| node.child_by_field_name(field) == Some(inner);
        let is_function = matches!(node.kind(), "function_declaration" | "method_declaration");
        if is_function && (is_result("type") || is_result("result")) {
            let Some(body) = node.child_by_field_name("body") else { return Vec::new() };
            let is_own = |child: &Node<'_>| {
                let mut around = ancestors(*child).take_while(|around| *around != body);
                !around.any(|child| LAMBDAS.contains(&child.kind()) || child.kind() == "class_body")
            };
            let returns =
                descendants(body).into_iter().filter(|descendant| descendant.kind() == "return_statement");
            let values = returns.filter(is_own).filter_map(|child| child.named_child(0));
            // A return statement of Go has a list.
            let only =
                |child: Node<'n>| match child.kind() == "expression_list" && child.named_child_count() == 1 {
                    true => child.named_child(0).unwrap_or(child),
                    false => child,
                };
            return values.map(only).collect();
        }
        if node.kind().contains("argument") {
            break;
        }
        inner = node;
    }
    Vec::new()
}
