//! C and C++: declarations are visible to files that include them, directly or indirectly. A declaration and
//! its definition are the same entity in two files.

mod attributes;
mod declarator;
mod includes;
mod types;

use tree_sitter::Node;

use declarator::Declared;
use includes::Includes;
use types::{alias, type_, unnamed_struct};

pub(crate) use attributes::{attribute_words, parsed};
pub(crate) use includes::included;

use crate::facts::{DefinitionKind, ImportForm, Reach, Role, Shape};
use crate::language::Language;
use crate::package::Packaged;
use crate::scope;
use crate::syntax::children;
use crate::walk::{Function, Grammar, ImportOf, Parameter, Walk, dotted};

const fn grammar(language: Language) -> Grammar {
    Grammar {
        names: &["identifier", "field_identifier"],
        types: &["type_identifier"],
        generics: &["template_type", "template_function", "template_method"],
        paths: &["qualified_identifier"],
        calls: &[("call_expression", "function", "arguments")],
        members: &[("field_expression", "argument", "field")],
        creations: &[("new_expression", "type", "arguments")],
        itself: &["this"],
        elements: &[("subscript_expression", "argument")],
        casts: &[("cast_expression", "type"), ("compound_literal_expression", "type")],
        transparent: &["parenthesized_expression", "pointer_expression"],
        skipped: &[
            "string_literal",
            "raw_string_literal",
            "char_literal",
            "system_lib_string",
            "statement_identifier",
        ],
        functions: &["function_definition"],
        infer: |walk, node, depth| {
            member(node).map(|(of, name)| scope::member(pointed(walk, of, depth), walk.text(name)))
        },
        ..Grammar::of(language, special)
    }
}

/// The maximum number of names that are read from the text of a macro.
const MAX_MACRO_NAMES: usize = 64;

static PLAIN: Grammar = grammar(Language::C);
static PLUS: Grammar = grammar(Language::Cpp);

/// The rules of C.
pub(super) static C: Packaged = Packaged { grammar: &PLAIN, packages: &Includes };
/// The rules of C++.
pub(super) static CPP: Packaged = Packaged { grammar: &PLUS, packages: &Includes };

/// Handles imports and definitions; [visit_inner] handles everything else.
fn special(walk: &mut Walk<'_>, node: Node<'_>) -> bool {
    let field = |name| node.child_by_field_name(name);
    match node.kind() {
        "preproc_include" => {
            let Some(path) = field("path") else { return false };
            let form =
                if path.kind() == "system_lib_string" { ImportForm::System } else { ImportForm::Plain };
            let module = walk.text(path).trim_matches(['"', '<', '>']);
            walk.import(node, ImportOf { form, ..ImportOf::module(module) });
        }
        "preproc_def" | "preproc_function_def" => macro_(walk, node),
        "namespace_definition" => {
            let name = field("name").map(|name| dotted(walk.text(name))).unwrap_or_default();
            // The content of an inline namespace is named as if it were in the enclosing one.
            if node.child(0).is_some_and(|child| walk.text(child) == "inline") {
                field("body").into_iter().for_each(|body| walk.visit(body));
                return true;
            }
            let container = walk.collector.enter(if name.is_empty() { "_" } else { &name });
            field("body").into_iter().for_each(|body| walk.visit(body));
            walk.collector.leave(container);
        }
        "using_declaration" | "namespace_alias_definition" => using(walk, node),
        "class_specifier" | "struct_specifier" | "union_specifier" | "enum_specifier" => {
            let Some(body) = field("body") else {
                field("name").into_iter().for_each(|name| walk.visit_type(name));
                return true;
            };
            match field("name") {
                Some(name) => type_(walk, node, name, body),
                None => walk.children(node),
            }
        }
        "enumerator" => {
            let Some(name) = field("name") else { return false };
            walk.value(node, name, DefinitionKind::Variant, Reach::Everyone, None, field("value"));
            field("value").into_iter().for_each(|value| walk.visit(value));
        }
        "type_definition" | "alias_declaration" => alias(walk, node),
        "function_definition" => function(walk, node),
        "declaration" | "field_declaration" => declaration(walk, node),
        "parameter_declaration" | "optional_parameter_declaration" => {
            field("type").into_iter().for_each(|type_| walk.visit_type(type_));
            field("declarator").into_iter().for_each(|declarator| visit_sizes(walk, declarator));
            field("default_value").into_iter().for_each(|value| walk.visit(value));
        }
        _ => return visit_inner(walk, node),
    }
    true
}

/// Statements and expressions.
fn visit_inner(walk: &mut Walk<'_>, node: Node<'_>) -> bool {
    let field = |name| node.child_by_field_name(name);
    match node.kind() {
        "for_range_loop" => {
            field("right").into_iter().for_each(|right| walk.visit(right));
            let declared = field("type").filter(|type_| type_.kind() != "placeholder_type_specifier");
            if let Some(name) = field("declarator").and_then(Declared::of).map(|candidate| candidate.name) {
                match (declared, field("right")) {
                    (None, Some(right)) => {
                        let element = scope::element(walk.shape(right));
                        walk.collector.scopes.bind(walk.text(name), element);
                    }
                    (declared, _) => walk.local(name, declared, None),
                }
            }
            declared.into_iter().for_each(|type_| walk.visit_type(type_));
            field("body").into_iter().for_each(|body| walk.visit(body));
        }
        "lambda_expression" => {
            walk.collector.scopes.open();
            let list = field("declarator").and_then(|child| child.child_by_field_name("parameters"));
            for parameter in list.map(|list| parameters(walk, list)).unwrap_or_default() {
                parameter
                    .name
                    .into_iter()
                    .for_each(|name| walk.collector.scopes.bind(walk.text(name), parameter.shape.clone()));
            }
            walk.children(node);
            walk.collector.scopes.close();
        }
        "field_designator" => {
            if let Some(name) = node.named_child(0) {
                walk.collector.use_name(name, Role::Value, Some(Shape::Unknown), None);
            }
        }
        "field_initializer" => {
            // `: member(value)` in a constructor.
            if let Some(name) = node.named_child(0) {
                let role = if name.kind() == "field_identifier" { Role::Value } else { Role::Call };
                let of = (role == Role::Value).then_some(Shape::Itself);
                walk.collector.use_name(name, role, of, None);
                // It may as well be the base type.
                let arguments = children(node).into_iter().find(|child| child.kind() == "argument_list");
                if role == Role::Value {
                    let count = arguments.and_then(crate::walk::argument_count);
                    walk.collector.use_name(name, Role::Call, None, count);
                }
                walk.children_but(node, Some(name));
            }
        }
        "field_expression" => {
            let Some((of, name)) = member(node) else { return false };
            walk.visit(of);
            let of = pointed(walk, of, 0);
            walk.collector.use_name(name, Role::Value, Some(of), None);
        }
        "call_expression" => {
            let callee = field("function");
            if let Some(type_node) = callee.and_then(|callee| made_type(walk, callee)) {
                walk.creation(type_node, field("arguments"));
                return true;
            }
            let Some((of, name)) = callee.and_then(member) else { return false };
            walk.visit(of);
            let of = pointed(walk, of, 0);
            let count = field("arguments").and_then(crate::walk::argument_count);
            walk.collector.use_name(name, Role::Call, Some(of), count);
            field("arguments").into_iter().for_each(|arguments| walk.children(arguments));
        }
        "template_parameter_list" | "preproc_params" => {}
        "template_type" | "template_function" | "template_method" => {
            let head = walk.head(node);
            let role = if node.kind() == "template_type" { Role::Type } else { Role::Call };
            walk.use_bare_name(head, role, None);
            children(node)
                .into_iter()
                .filter(|child| *child != head)
                .for_each(|argument| walk.visit_type(argument));
        }
        "qualified_identifier" => {
            let role = if ends_in_type(node) { Role::Type } else { Role::Value };
            walk.path(node, role, None);
            visit_template_arguments(walk, node);
        }
        _ => return false,
    }
    true
}

/// The target of a dereference: for `a->b` it is the result of `operator->` of `a`, unless `a` is a plain
/// pointer.
const POINTED: &str = "->";

/// Returns the parts of `a->b`, where `a` may be a smart pointer.
fn member(node: Node<'_>) -> Option<(Node<'_>, Node<'_>)> {
    let arrow = node.kind() == "field_expression"
        && node.child_by_field_name("operator").is_some_and(|operator| operator.kind() == POINTED);
    let parts = node.child_by_field_name("argument").zip(node.child_by_field_name("field"));
    parts.filter(|(of, name)| arrow && name.kind() == "field_identifier" && of.kind() != "this")
}

fn pointed(walk: &Walk<'_>, of: Node<'_>, depth: usize) -> Shape {
    scope::member(walk.shape_within(of, depth), POINTED)
}

/// Returns the type of which a function of the standard library makes an object: `std::make_unique<T>`.
fn made_type<'n>(walk: &Walk<'_>, callee: Node<'n>) -> Option<Node<'n>> {
    let last = match callee.kind() {
        "qualified_identifier" => callee.child_by_field_name("name")?,
        _ => callee,
    };
    let name = last.child_by_field_name("name").filter(|_| last.kind() == "template_function")?;
    matches!(walk.text(name), "make_unique" | "make_shared").then_some(())?;
    let argument = last.child_by_field_name("arguments")?.named_child(0)?;
    argument.child_by_field_name("type").or(Some(argument))
}

/// Returns true if the last part of a path is a type.
fn ends_in_type(node: Node<'_>) -> bool {
    let mut last = node;
    while let Some(name) = last.child_by_field_name("name").filter(|_| last.kind() == "qualified_identifier")
    {
        last = name;
    }
    matches!(last.kind(), "type_identifier" | "template_type")
}

/// The arguments of templates in a path.
fn visit_template_arguments(walk: &mut Walk<'_>, node: Node<'_>) {
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        for child in children(node) {
            match child.kind() {
                "template_argument_list" => {
                    children(child).into_iter().for_each(|argument| walk.visit_type(argument))
                }
                "qualified_identifier" | "template_type" | "template_function" => open.push(child),
                _ => {}
            }
        }
    }
}

fn macro_(walk: &mut Walk<'_>, node: Node<'_>) {
    let Some(name) = node.child_by_field_name("name") else { return };
    let value = node.child_by_field_name("value");
    let at = walk.value(node, name, DefinitionKind::Macro, Reach::Everyone, None, value);
    let list = node.child_by_field_name("parameters");
    if let (Some(at), Some(list)) = (at.and_then(|at| usize::try_from(at).ok()), list) {
        let count = u16::try_from(list.named_child_count()).ok();
        let open = walk.text(list).contains("...");
        let arity = count.map(|count| crate::facts::Arity { least: count, most: (!open).then_some(count) });
        if let Some(definition) = walk.collector.facts.definitions.get_mut(at) {
            definition.arity = arity;
        }
    }
    // Its text has no syntax tree: its words are its uses.
    let text = value.map(|value| walk.text(value)).unwrap_or_default();
    let line = crate::syntax::line_of(node);
    let is_name = |word: &&str| word.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let names: Vec<&str> = crate::world::words(text).filter(is_name).collect();
    walk.collector.facts.omitted += u32::from(names.len() > MAX_MACRO_NAMES);
    for word in names.into_iter().take(MAX_MACRO_NAMES) {
        let use_ = crate::facts::Use {
            name: word.into(),
            line,
            role: Role::Value,
            of: None,
            arguments: None,
            keywords: Vec::new(),
            within: at,
        };
        walk.collector.facts.uses.push(use_);
    }
}

fn using(walk: &mut Walk<'_>, node: Node<'_>) {
    let alias = node.child_by_field_name("name").map(|name| walk.text(name));
    let Some(path) = children(node).into_iter().next_back() else { return };
    let module = dotted(walk.text(path));
    let glob = node.children(&mut node.walk()).any(|part| part.kind() == "namespace") && alias.is_none();
    let last = module.rsplit('.').next().unwrap_or_default().to_owned();
    let name = (!glob && alias.is_none()).then_some((last.as_str(), last.as_str()));
    walk.import(
        node,
        ImportOf { name, alias, glob, form: ImportForm::Namespace, ..ImportOf::module(&module) },
    );
}

fn has(walk: &Walk<'_>, node: Node<'_>, word: &str) -> bool {
    children(node).iter().any(|child| child.kind().ends_with("specifier") && walk.text(*child) == word)
}

/// Returns the visibility. `static` is for the file alone, unless it is intended for including files.
fn reach(walk: &Walk<'_>, node: Node<'_>) -> Reach {
    let hidden = has(walk, node, "static") && !has(walk, node, "inline") && !is_in_class(walk);
    let unnamed = walk.collector.container().is_some_and(|path| path.split('.').any(|part| part == "_"));
    if hidden || unnamed { Reach::File } else { Reach::Everyone }
}

/// Returns true for a member of a class, also behind `template <…>`.
fn is_in_class(walk: &Walk<'_>) -> bool {
    let Some(grammar) = super::grammar(walk.grammar.language) else { return false };
    let mut kinds = walk.parents.iter().rev().map(|kind| grammar.node_kind_for_id(*kind));
    kinds.find(|kind| *kind != Some("template_declaration")) == Some(Some("field_declaration_list"))
}

fn function(walk: &mut Walk<'_>, node: Node<'_>) {
    let declared = node.child_by_field_name("declarator").and_then(Declared::of);
    match declared.filter(|declared| declared.parameters.is_some()) {
        Some(declared) => keep(walk, node, &declared, node.child_by_field_name("body")),
        None => walk.children(node),
    }
}

/// Records a function, declared or defined, in the type that its path names.
fn keep(walk: &mut Walk<'_>, node: Node<'_>, declared: &Declared<'_>, body: Option<Node<'_>>) {
    let path = declared.path.map(|path| dotted(walk.text(path)));
    let owner = path.as_deref().and_then(|path| path.rsplit_once('.')).map(|(owner, _)| owner.to_owned());
    let kind = match owner.is_some() || is_in_class(walk) {
        true => DefinitionKind::Method,
        false => DefinitionKind::Function,
    };
    let reach = reach(walk, node);
    let result = node.child_by_field_name("type").map(|type_| walk.type_shape(type_));
    let parameters = declared.parameters.map(|list| parameters(walk, list)).unwrap_or_default();
    if let (Some(path), Some(owner)) = (declared.path, owner.as_deref()) {
        walk.prefix(path, owner);
        walk.skip_node(path);
    }
    let container = owner.as_deref().map(|owner| walk.collector.enter(owner));
    walk.function(&Function { node, name: declared.name, kind, reach, parameters, result, body });
    if let Some(container) = container {
        walk.collector.leave(container);
    }
}

fn parameters<'n>(walk: &Walk<'_>, list: Node<'n>) -> Vec<Parameter<'n>> {
    let mut found = Vec::new();
    for node in list.children(&mut list.walk()) {
        let optional = node.kind() == "optional_parameter_declaration";
        match node.kind() {
            "parameter_declaration" | "optional_parameter_declaration" => {
                let declared = node.child_by_field_name("declarator").and_then(Declared::of);
                let shape =
                    node.child_by_field_name("type").map_or(Shape::Unknown, |type_| walk.type_shape(type_));
                let shape = if declared.as_ref().is_some_and(|declared| declared.list) {
                    listed(shape)
                } else {
                    shape
                };
                found.push(Parameter {
                    name: declared.map(|declared| declared.name),
                    shape,
                    optional,
                    rest: false,
                });
            }
            "variadic_parameter_declaration" | "variadic_parameter" | "..." => {
                found.push(Parameter { name: None, shape: Shape::Unknown, optional: false, rest: true });
            }
            _ => {}
        }
    }
    // `f(void)` takes no arguments.
    if found.len() == 1 && walk.text(list).trim_matches(['(', ')', ' ']) == "void" {
        found.clear();
    }
    found
}

fn listed(shape: Shape) -> Shape {
    Shape::Applied(Box::new(Shape::Of("[]".into())), vec![shape])
}

/// Visits the sizes of the arrays in a declarator.
fn visit_sizes(walk: &mut Walk<'_>, declarator: Node<'_>) {
    let mut node = declarator;
    while let Some(inner) = node.child_by_field_name("declarator") {
        if node.kind() == "array_declarator" {
            node.child_by_field_name("size").into_iter().for_each(|size| walk.visit(size));
        }
        node = inner;
    }
}

fn declaration(walk: &mut Walk<'_>, node: Node<'_>) {
    let type_ = node.child_by_field_name("type");
    let clause = children(node).into_iter().find(|child| child.kind() == "bitfield_clause");
    clause.into_iter().for_each(|clause| walk.children(clause));
    let value = node.child_by_field_name("value").or_else(|| node.child_by_field_name("default_value"));
    let declarators: Vec<_> = node.children_by_field_name("declarator", &mut node.walk()).collect();
    let local = walk.is_inside_function();
    let known = type_.filter(|type_| type_.kind() != "placeholder_type_specifier");
    for declarator in declarators {
        let Some(declared) = Declared::of(declarator) else { continue };
        visit_sizes(walk, declarator);
        let initial = declared.initial.or(value);
        match declared.parameters {
            Some(_) if !local => keep(walk, node, &declared, None),
            _ if local => {
                let called = initial.filter(|initial| initial.kind() == "argument_list");
                match (called, known) {
                    (Some(arguments), Some(type_node)) => walk.creation(type_node, Some(arguments)),
                    _ => initial.into_iter().for_each(|initial| walk.visit(initial)),
                }
                walk.local(declared.name, known, initial);
                if declared.list
                    && let Some(known) = known
                {
                    let shape = listed(walk.type_shape(known));
                    walk.collector.scopes.bind(walk.text(declared.name), shape);
                }
            }
            _ => {
                let kind = if is_in_class(walk) { DefinitionKind::Field } else { DefinitionKind::Value };
                let shape = |known| unnamed_struct(walk, known).unwrap_or_else(|| walk.type_shape(known));
                let gives = known.map(shape).or_else(|| initial.map(|initial| walk.shape(initial)));
                let gives = if declared.list { gives.map(listed) } else { gives };
                let reach = reach(walk, node);
                let at = walk.value(node, declared.name, kind, reach, gives, initial);
                initial.into_iter().for_each(|initial| walk.visit_within(at, initial));
            }
        }
    }
    let defines = |type_: &Node<'_>| type_.child_by_field_name("body").is_some();
    let functions = walk.collector.within.is_none()
        && node
            .child_by_field_name("declarator")
            .and_then(Declared::of)
            .is_some_and(|declared| declared.parameters.is_some());
    // The parts of a declared function were walked with it.
    if !functions || type_.as_ref().is_some_and(defines) || local {
        type_.into_iter().for_each(|type_| walk.visit_type(type_));
    }
}

#[cfg(test)]
mod tests;
