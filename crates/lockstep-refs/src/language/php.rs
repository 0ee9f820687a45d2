//! PHP: namespaces and `use`, classes with traits, functions and constants, files that are required.

use tree_sitter::Node;

use crate::facts::{Definition, DefinitionKind, Facts, Import, ImportForm, Reach, Role, Shape};
use crate::language::Language;
use crate::package::{Bindings, Bound, Leads, Packaged, Packages, Query};
use crate::scope;
use crate::syntax::{children, line_of};
use crate::walk::{Function, Grammar, ImportOf, Parameter, Type, Walk, dotted};
use crate::world::{FileId, World, join, parent};

struct Php;

static GRAMMAR: Grammar = Grammar {
    names: &["name"],
    paths: &["qualified_name"],
    calls: &[("function_call_expression", "function", "arguments")],
    invocations: &[
        ("member_call_expression", "object", "name", "arguments"),
        ("nullsafe_member_call_expression", "object", "name", "arguments"),
        ("scoped_call_expression", "scope", "name", "arguments"),
    ],
    members: &[
        ("member_access_expression", "object", "name"),
        ("nullsafe_member_access_expression", "object", "name"),
        ("class_constant_access_expression", "", ""),
    ],
    elements: &[("subscript_expression", "")],
    transparent: &["parenthesized_expression", "clone_expression"],
    skipped: &["string", "heredoc", "nowdoc", "text", "primitive_type", "relative_scope"],
    functions: &["method_declaration"],
    script: true,
    infer,
    ..Grammar::of(Language::Php, special)
};

/// The rules of the language.
pub(super) static RULES: Packaged = Packaged { grammar: &GRAMMAR, packages: &Php };

impl Packages for Php {
    fn language(&self) -> Language {
        Language::Php
    }

    fn bindings(&self, _world: &dyn World, _file: FileId, facts: &Facts) -> Bindings {
        let used = facts.imports.iter().filter(|import| import.form == ImportForm::Plain);
        let bound = |import: &Import| {
            let last = || import.module.rsplit('.').next().unwrap_or_default().into();
            let local = import.alias.clone().unwrap_or_else(last);
            Bound { local, full: import.module.to_string(), line: import.line }
        };
        Bindings { names: used.map(bound).collect(), globs: Vec::new() }
    }

    fn resolve_import(&self, query: &Query<'_>, file: FileId, import: &Import) -> Leads {
        if import.form == ImportForm::Dynamic {
            let relative = import.module.trim_start_matches('/');
            let here =
                join(parent(query.world.path(file)), relative).and_then(|path| query.world.find(&path));
            return match here.or_else(|| query.world.find(relative)) {
                Some(found) => Leads::To(vec![found]),
                None => Leads::Missing,
            };
        }
        match query.files_with(&import.module).into_iter().next() {
            Some(found) => Leads::To(vec![found]),
            None if is_own(query.world, &import.module) => Leads::Missing,
            None => Leads::Outside,
        }
    }

    fn constructs(&self, method: &Definition) -> bool {
        &*method.name == "__construct"
    }

    fn inherits_constructors(&self) -> bool {
        true
    }

    fn homes(&self, name: &str) -> Vec<String> {
        vec![format!("{name}.php")]
    }
}

/// Returns true if a namespace belongs to the project, by the autoload rules of its composer.json files.
fn is_own(world: &dyn World, module: &str) -> bool {
    let texts = world.named("composer.json").into_iter().filter_map(|file| world.text(file));
    texts.filter_map(|text| serde_json::from_str::<serde_json::Value>(&text).ok()).any(|composer| {
        ["autoload", "autoload-dev"].iter().any(|key| {
            let prefixes = composer
                .get(key)
                .and_then(|composer| composer.get("psr-4"))
                .and_then(|value| value.as_object());
            let owns = |prefix: &String| !prefix.is_empty() && module.starts_with(&dotted(prefix));
            prefixes.is_some_and(|prefixes| prefixes.keys().any(owns))
        })
    })
}

fn infer(walk: &Walk<'_>, node: Node<'_>, depth: usize) -> Option<Shape> {
    match node.kind() {
        "variable_name" => match walk.text(node) {
            "$this" => Some(Shape::Itself),
            name => Some(walk.collector.scopes.get(name).cloned().unwrap_or(Shape::Unknown)),
        },
        "relative_scope" => Some(match walk.text(node) {
            "parent" => Shape::Parent,
            _ => Shape::Itself,
        }),
        "object_creation_expression" => {
            let type_node = made_type(node);
            Some(type_node.map_or(Shape::Unknown, |type_node| match is_own_type(walk.text(type_node)) {
                true => Shape::Itself,
                false => Shape::Of(dotted(walk.text(type_node)).into()),
            }))
        }
        "assignment_expression" => {
            node.child_by_field_name("right").map(|right| walk.shape_within(right, depth))
        }
        _ => None,
    }
}

/// Returns the type of the object that an expression creates.
fn made_type(node: Node<'_>) -> Option<Node<'_>> {
    let is_type = |part: &Node<'_>| matches!(part.kind(), "name" | "qualified_name" | "relative_scope");
    children(node).into_iter().find(is_type)
}

fn is_own_type(name: &str) -> bool {
    matches!(name, "self" | "static")
}

fn child<'n>(node: Node<'n>, kind: &str) -> Option<Node<'n>> {
    children(node).into_iter().find(|child| child.kind() == kind)
}

/// Handles imports and definitions; [visit_inner] handles everything else.
fn special(walk: &mut Walk<'_>, node: Node<'_>) -> bool {
    let field = |name| node.child_by_field_name(name);
    match node.kind() {
        "namespace_definition" => {
            walk.collector.facts.package = field("name").map(|name| dotted(walk.text(name)).into());
            field("body").into_iter().for_each(|body| walk.visit(body));
        }
        "namespace_use_declaration" => using(walk, node),
        "require_expression"
        | "require_once_expression"
        | "include_expression"
        | "include_once_expression" => {
            required(walk, node);
        }
        "class_declaration" | "interface_declaration" | "trait_declaration" | "enum_declaration" => {
            type_(walk, node)
        }
        "function_definition" | "method_declaration" => function(walk, node),
        "anonymous_function" | "arrow_function" => {
            walk.collector.scopes.open();
            for parameter in field("parameters").map(|list| parameters(walk, list)).unwrap_or_default() {
                parameter
                    .name
                    .into_iter()
                    .for_each(|name| walk.collector.scopes.bind(walk.text(name), parameter.shape.clone()));
            }
            walk.children(node);
            walk.collector.scopes.close();
        }
        "const_declaration" => {
            for element in children(node).into_iter().filter(|part| part.kind() == "const_element") {
                let Some(name) = child(element, "name") else { continue };
                let value = children(element).into_iter().rfind(|part| *part != name);
                constant(walk, node, name, value);
            }
        }
        "enum_case" => {
            let Some(name) = field("name") else { return false };
            let owner = walk.collector.container().map(Shape::Of);
            walk.value(node, name, DefinitionKind::Variant, Reach::Everyone, owner, field("value"));
            field("value").into_iter().for_each(|value| walk.visit(value));
        }
        "property_declaration" => property(walk, node),
        _ => return visit_inner(walk, node),
    }
    true
}

/// Statements and expressions.
fn visit_inner(walk: &mut Walk<'_>, node: Node<'_>) -> bool {
    let field = |name| node.child_by_field_name(name);
    match node.kind() {
        "assignment_expression" => {
            let (Some(left), Some(right)) = (field("left"), field("right")) else { return false };
            walk.visit(right);
            match left.kind() {
                "variable_name" => {
                    let mocked = mocked_type(walk, right).map(|child| walk.type_shape(child));
                    let shape = mocked.unwrap_or_else(|| walk.shape(right));
                    walk.collector.scopes.bind(walk.text(left), shape);
                }
                "list_literal" | "array_creation_expression" => bind_variables(walk, left),
                _ => walk.visit(left),
            }
        }
        "foreach_statement" => {
            let parts = children(node);
            let Some(over) = parts.first() else { return false };
            walk.visit(*over);
            let element = scope::element(walk.shape(*over));
            let one = parts
                .get(1)
                .map(|one| if one.kind() == "pair" { children(*one).pop().unwrap_or(*one) } else { *one });
            parts.get(1).into_iter().for_each(|part| bind_variables(walk, *part));
            one.into_iter().for_each(|one| walk.collector.scopes.bind(walk.text(one), element.clone()));
            parts.iter().skip(2).for_each(|part| walk.visit(*part));
        }
        "catch_clause" => {
            if let Some(name) = field("name") {
                walk.local(name, field("type"), None);
            }
            return false;
        }
        "object_creation_expression" => {
            let parts = children(node);
            let arguments = parts.iter().find(|part| part.kind() == "arguments").copied();
            match made_type(node) {
                Some(type_node) if is_own_type(walk.text(type_node)) => {
                    walk.own_creation(type_node, arguments)
                }
                Some(type_node) => walk.creation(type_node, arguments),
                None => match child(node, "anonymous_class") {
                    Some(class) => anonymous(walk, class),
                    None => walk.children(node),
                },
            }
        }
        "member_call_expression" => {
            mocked_method(walk, node);
            return false;
        }
        "array_creation_expression" => {
            callable(walk, node);
            return false;
        }
        "function_call_expression" => {
            // `define('NAME', value)`.
            let list = field("arguments").map(children).unwrap_or_default();
            let named = list
                .first()
                .and_then(|list| list.named_child(0))
                .and_then(|candidate| child(candidate, "string_content"));
            match named.filter(|_| field("function").is_some_and(|child| walk.text(child) == "define")) {
                Some(name) => {
                    walk.value(
                        node,
                        name,
                        DefinitionKind::Value,
                        Reach::Everyone,
                        None,
                        list.get(1).copied(),
                    );
                }
                None => return false,
            }
        }
        "scoped_property_access_expression" => {
            let (Some(scope), Some(name)) = (field("scope"), field("name")) else { return false };
            let name = child(name, "name").unwrap_or(name);
            walk.member(scope, name, Role::Value, None);
        }
        "binary_expression" => {
            let (Some(left), Some(right)) = (field("left"), field("right")) else { return false };
            walk.visit(left);
            let is_type = field("operator").is_some_and(|child| walk.text(child) == "instanceof");
            if is_type { walk.visit_type(right) } else { walk.visit(right) }
        }
        "argument" => walk.children_but(node, field("name")),
        "use_declaration" => children(node).into_iter().for_each(|part| walk.visit_type(part)),
        "variable_name" => {
            // A variable that nothing binds is recorded, for an edit that removes the binding.
            let is_bound = walk.collector.scopes.get(walk.text(node)).is_some();
            let is_global =
                matches!(walk.text(node), "$this" | "$GLOBALS") || walk.text(node).starts_with("$_");
            if !is_bound && !is_global {
                walk.collector.use_name(node, Role::Value, None, None);
            }
        }
        "static_variable_declaration" | "global_declaration" | "anonymous_function_use_clause" => {
            bind_variables(walk, node);
        }
        "namespace_name" => {}
        "attribute" => {
            node.named_child(0).into_iter().for_each(|name| walk.creation(name, field("parameters")))
        }
        _ => return false,
    }
    true
}

/// Binds the variables in a node that are not bound yet.
fn bind_variables(walk: &mut Walk<'_>, node: Node<'_>) {
    for variable in children(node) {
        match variable.kind() {
            "variable_name" if walk.collector.scopes.get(walk.text(variable)).is_none() => {
                walk.collector.scopes.bind(walk.text(variable), Shape::Unknown);
            }
            "variable_name" => {}
            _ => bind_variables(walk, variable),
        }
    }
    if node.kind() == "variable_name" && walk.collector.scopes.get(walk.text(node)).is_none() {
        walk.collector.scopes.bind(walk.text(node), Shape::Unknown);
    }
}

fn using(walk: &mut Walk<'_>, node: Node<'_>) {
    let prefix = child(node, "namespace_name").map(|name| dotted(walk.text(name)));
    let clauses = child(node, "namespace_use_group").map_or_else(|| children(node), children);
    for clause in clauses.into_iter().filter(|part| part.kind() == "namespace_use_clause") {
        let alias = clause.child_by_field_name("alias");
        let Some(name) = children(clause).into_iter().find(|part| Some(*part) != alias) else { continue };
        let path = dotted(walk.text(name));
        let module = prefix.as_ref().map_or(path.clone(), |prefix| format!("{prefix}.{path}"));
        let alias = alias.map(|alias| walk.text(alias));
        walk.import(clause, ImportOf { alias, ..ImportOf::module(&module) });
    }
}

/// Records a required file, if its path can be read: a string, optionally after `__DIR__`.
fn required(walk: &mut Walk<'_>, node: Node<'_>) {
    let written = walk.text(node);
    let path = written.split(['"', '\'']).nth(1).unwrap_or_default();
    let known = !written.contains('$') && written.matches(['"', '\'']).count() == 2;
    if known && !path.is_empty() {
        walk.import(node, ImportOf { form: ImportForm::Dynamic, ..ImportOf::module(path) });
    } else {
        walk.children(node);
    }
}

fn reach(node: Node<'_>, walk: &Walk<'_>) -> Reach {
    let words = child(node, "visibility_modifier").map(|child| walk.text(child));
    if words == Some("private") { Reach::File } else { Reach::Everyone }
}

fn type_(walk: &mut Walk<'_>, node: Node<'_>) {
    let Some(name) = node.child_by_field_name("name") else { return };
    let kind = match node.kind() {
        "interface_declaration" => DefinitionKind::Interface,
        _ => DefinitionKind::Type,
    };
    let clauses = children(node)
        .into_iter()
        .filter(|child| matches!(child.kind(), "base_clause" | "class_interface_clause"));
    let mut extends: Vec<Node<'_>> = clauses.flat_map(children).collect();
    let body = node.child_by_field_name("body");
    let inside = body.map(children).unwrap_or_default();
    let traits = inside.into_iter().filter(|part| part.kind() == "use_declaration").flat_map(children);
    extends.extend(traits.filter(|part| matches!(part.kind(), "name" | "qualified_name")));
    walk.type_(&Type { node, name, kind, reach: Reach::Everyone, extends, body });
}

/// `new class(…) extends T implements I { … }`: a type without a name.
fn anonymous(walk: &mut Walk<'_>, node: Node<'_>) {
    let clauses = children(node)
        .into_iter()
        .filter(|child| matches!(child.kind(), "base_clause" | "class_interface_clause"));
    let bases: Vec<Node<'_>> = clauses.flat_map(children).collect();
    let arguments = child(node, "arguments");
    if let Some(base) = child(node, "base_clause").and_then(|child| child.named_child(0)) {
        walk.creation(base, arguments);
    } else {
        arguments.into_iter().for_each(|arguments| walk.children(arguments));
    }
    let name = format!("_{}", line_of(node));
    let mut definition = walk.collector.definition(&name, DefinitionKind::Type, node);
    definition.reach = Reach::File;
    definition.extends = bases.iter().map(|base| dotted(walk.text(*base)).into()).collect();
    let before = walk.collector.within;
    walk.collector.within = walk.collector.define(definition);
    bases.into_iter().for_each(|base| walk.extended(base));
    let container = walk.collector.enter(&name);
    node.child_by_field_name("body").into_iter().for_each(|body| walk.visit(body));
    walk.collector.leave(container);
    walk.collector.within = before;
}

/// `[$object, 'method']` and `[T::class, 'method']` name a method.
fn callable(walk: &mut Walk<'_>, node: Node<'_>) {
    let elements = children(node);
    let [first, second] = elements.as_slice() else { return };
    let (Some(of), Some(text)) = (first.named_child(0), second.named_child(0)) else { return };
    let name = child(text, "string_content").filter(|_| second.named_child_count() == 1);
    let of = match of.kind() {
        "class_constant_access_expression" if walk.text(of).ends_with("::class") => of.named_child(0),
        "variable_name" | "member_access_expression" => Some(of),
        _ => None,
    };
    if let (Some(name), Some(of)) = (name, of) {
        let shape = walk.shape(of);
        walk.collector.use_name(name, Role::Value, Some(shape), None);
    }
}

/// The type in `$this->createMock(T::class)` of PHPUnit.
fn mocked_type<'n>(walk: &Walk<'_>, node: Node<'n>) -> Option<Node<'n>> {
    const MAKERS: &[&str] = &["createMock", "createStub", "createPartialMock", "createConfiguredMock"];
    let name = node.child_by_field_name("name").filter(|_| node.kind() == "member_call_expression")?;
    let class = node.child_by_field_name("arguments")?.named_child(0)?.named_child(0)?;
    let is_made = MAKERS.contains(&walk.text(name)) && walk.text(class).ends_with("::class");
    class.named_child(0).filter(|_| is_made)
}

/// `$mock->expects(…)->method('name')` of PHPUnit names a method of the mocked type.
fn mocked_method(walk: &mut Walk<'_>, node: Node<'_>) {
    let named = |node: Node<'_>, name: &str| {
        node.child_by_field_name("name").map(|name| walk.text(name)) == Some(name)
    };
    let first =
        node.child_by_field_name("arguments").and_then(|arguments| arguments.named_child(0)?.named_child(0));
    let text =
        first.and_then(|candidate| child(candidate, "string_content")).filter(|_| named(node, "method"));
    let mut of = node.child_by_field_name("object");
    while let Some(inner) =
        of.filter(|child| child.kind() == "member_call_expression" && named(*child, "expects"))
    {
        of = inner.child_by_field_name("object");
    }
    let of = of.filter(|child| matches!(child.kind(), "variable_name" | "member_access_expression"));
    if let (Some(text), Some(of)) = (text, of) {
        let shape = walk.shape(of);
        walk.collector.use_name(text, Role::Pattern, Some(shape), None);
    }
}

fn function(walk: &mut Walk<'_>, node: Node<'_>) {
    let Some(name) = node.child_by_field_name("name") else { return };
    let list = node.child_by_field_name("parameters");
    let parameters = list.map(|list| parameters(walk, list)).unwrap_or_default();
    let kind = match node.kind() {
        "method_declaration" => DefinitionKind::Method,
        _ => DefinitionKind::Function,
    };
    let result = node.child_by_field_name("return_type").map(|type_| match walk.text(type_) {
        "self" | "static" | "?self" | "?static" => Shape::Itself,
        _ => walk.type_shape(type_),
    });
    let body = node.child_by_field_name("body");
    let reach = reach(node, walk);
    walk.function(&Function { node, name, kind, reach, parameters, result, body });
    let promoted = list.map(children).unwrap_or_default();
    for parameter in promoted.into_iter().filter(|child| child.kind() == "property_promotion_parameter") {
        let Some(name) = parameter.child_by_field_name("name").and_then(|name| child(name, "name")) else {
            continue;
        };
        let gives = parameter.child_by_field_name("type").map(|type_| walk.type_shape(type_));
        let reach = self::reach(parameter, walk);
        walk.value(parameter, name, DefinitionKind::Field, reach, gives, None);
    }
}

fn parameters<'n>(walk: &Walk<'_>, list: Node<'n>) -> Vec<Parameter<'n>> {
    let one = |node: Node<'n>| Parameter {
        name: node.child_by_field_name("name"),
        shape: node.child_by_field_name("type").map_or(Shape::Unknown, |type_| walk.type_shape(type_)),
        optional: node.child_by_field_name("default_value").is_some(),
        rest: node.kind() == "variadic_parameter",
    };
    children(list).into_iter().filter(|node| node.kind().ends_with("parameter")).map(one).collect()
}

fn constant(walk: &mut Walk<'_>, node: Node<'_>, name: Node<'_>, value: Option<Node<'_>>) {
    let kind =
        if walk.collector.container().is_some() { DefinitionKind::Field } else { DefinitionKind::Value };
    let reach = reach(node, walk);
    let at = walk.value(node, name, kind, reach, None, value);
    value.into_iter().for_each(|value| walk.visit_within(at, value));
}

fn property(walk: &mut Walk<'_>, node: Node<'_>) {
    let type_ = node.child_by_field_name("type");
    let gives = type_.map(|type_| walk.type_shape(type_));
    let reach = reach(node, walk);
    for element in children(node).into_iter().filter(|part| part.kind() == "property_element") {
        let Some(name) = element.child_by_field_name("name").and_then(|name| child(name, "name")) else {
            continue;
        };
        let initial = element.child_by_field_name("default_value");
        let at = walk.value(node, name, DefinitionKind::Field, reach, gives.clone(), initial);
        initial.into_iter().for_each(|initial| walk.visit_within(at, initial));
    }
    type_.into_iter().for_each(|type_| walk.visit_type(type_));
}

#[cfg(test)]
mod tests;
