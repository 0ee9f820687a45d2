//! Go: a package is a directory, found by its module's path; names with a capital letter are exported.

pub(crate) mod conversions;
mod inferred;
mod modules;
mod standard;

pub(crate) use modules::{inside_module, module_name};

use std::rc::Rc;

use tree_sitter::Node;

use modules::{Place, directory, package_names, sources};

use crate::facts::{Definition, DefinitionKind, Facts, Import, ImportForm, Reach, Role, Shape, Use};
use crate::language::Language;
use crate::package::{Bindings, Bound, Leads, Packaged, Packages, Query};
use crate::scope;
use crate::syntax::{children, line_of};
use crate::walk::{Function, Grammar, ImportOf, Parameter, Type, Walk, dotted, snake};
use crate::world::{FileId, World, base, parent};

/// Types that every file has.
const BUILT_IN: &[&str] = &[
    "any",
    "bool",
    "byte",
    "complex128",
    "complex64",
    "error",
    "float32",
    "float64",
    "int",
    "int16",
    "int32",
    "int64",
    "int8",
    "rune",
    "string",
    "uint",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
    "uintptr",
    "[]",
];

/// The end of the name of a package of tests beside the tested one.
const OUTER: &str = "!test";

struct Go;

static GRAMMAR: Grammar = Grammar {
    names: &["identifier", "package_identifier"],
    types: &["type_identifier"],
    generics: &["generic_type", "slice_type", "array_type", "map_type", "channel_type"],
    paths: &["qualified_type"],
    calls: &[("call_expression", "function", "arguments")],
    members: &[("selector_expression", "operand", "field")],
    elements: &[("index_expression", "operand")],
    casts: &[
        ("composite_literal", "type"),
        ("type_assertion_expression", "type"),
        ("type_conversion_expression", "type"),
    ],
    transparent: &["parenthesized_expression", "unary_expression", "expression_list"],
    skipped: &["interpreted_string_literal", "raw_string_literal", "label_name"],
    functions: &["method_elem"],
    infer,
    ..Grammar::of(Language::Go, special)
};

/// The rules of the language.
pub(super) static RULES: Packaged = Packaged { grammar: &GRAMMAR, packages: &Go };

impl Packages for Go {
    fn language(&self) -> Language {
        Language::Go
    }

    fn package(&self, world: &dyn World, file: FileId, facts: &Facts) -> String {
        let path = world.path(file);
        // Tests may be a separate package next to the tested one.
        let outer = path.ends_with("_test.go")
            && facts.package.as_deref().is_some_and(|name| name.ends_with("_test"));
        format!("/{}{}", parent(path), if outer { OUTER } else { "" })
    }

    fn directory<'p>(&self, package: &'p str) -> Option<&'p str> {
        Some(package.strip_prefix('/')?.trim_end_matches(OUTER))
    }

    fn mark<'p>(&self, world: &dyn World, directory: &'p str) -> Option<&'p str> {
        // The import path of a module may end in another name than its directory.
        let is_module = world.directory(directory).into_iter().any(|file| base(world.path(file)) == "go.mod");
        (!is_module && !directory.is_empty()).then(|| base(directory))
    }

    fn is_standard_method(&self, name: &str) -> bool {
        standard::is_method(name)
    }

    fn bindings(&self, world: &dyn World, _file: FileId, facts: &Facts) -> Bindings {
        let mut bindings = Bindings::default();
        for import in &facts.imports {
            let full = match directory(world, &import.module) {
                Place::Here(directory) => format!("/{directory}"),
                _ => import.module.to_string(),
            };
            if import.glob {
                bindings.globs.push(full);
                continue;
            }
            let locals = match &import.alias {
                Some(alias) => Rc::from([alias.clone()]),
                None => package_names(world, &full, &import.module),
            };
            for local in locals.iter() {
                bindings.names.push(Bound { local: local.clone(), full: full.clone(), line: import.line });
            }
        }
        bindings
    }

    fn resolve_import(&self, query: &Query<'_>, _file: FileId, import: &Import) -> Leads {
        match directory(query.world, &import.module) {
            Place::Here(directory) => Leads::To(sources(query.world, &directory)),
            Place::Missing => Leads::Missing,
            Place::Outside => Leads::Outside,
        }
    }

    fn overloads(&self) -> bool {
        false
    }

    fn constructs(&self, _method: &Definition) -> bool {
        false
    }

    fn keeps_outside(&self) -> bool {
        true
    }

    fn is_structural(&self) -> bool {
        true
    }

    fn standard_methods(&self, interface: &str) -> Option<&'static [&'static str]> {
        standard::methods(interface)
    }

    fn standard_parameter(&self, function: &str, at: usize) -> Option<&'static str> {
        standard::parameter(function, at)
    }

    fn standard_field(&self, field: &str) -> Option<&'static str> {
        standard::field(field)
    }

    fn homes(&self, name: &str) -> Vec<String> {
        vec![format!("{}.go", name.to_lowercase()), format!("{}.go", snake(name))]
    }

    fn built_in(&self) -> &'static [&'static str] {
        BUILT_IN
    }
}

fn reach(name: &str) -> Reach {
    if name.starts_with(char::is_uppercase) { Reach::Everyone } else { Reach::Package }
}

/// Evaluates `new(T)` and `make(T)`, which return a value of the type.
fn infer(walk: &Walk<'_>, node: Node<'_>, _depth: usize) -> Option<Shape> {
    if node.kind() != "call_expression" {
        return None;
    }
    let function = node.child_by_field_name("function")?;
    let type_ = node.child_by_field_name("arguments")?.named_child(0)?;
    matches!(walk.text(function), "new" | "make").then(|| walk.type_shape(type_))
}

fn special(walk: &mut Walk<'_>, node: Node<'_>) -> bool {
    let field = |name| node.child_by_field_name(name);
    conversions::keep(walk, node);
    match node.kind() {
        "package_clause" => {
            walk.collector.facts.package = node.named_child(0).map(|name| walk.text(name).into());
        }
        "import_spec" => import(walk, node),
        "type_spec" | "type_alias" => type_(walk, node),
        "function_declaration" | "method_declaration" | "method_elem" => function(walk, node),
        "func_literal" => {
            walk.collector.scopes.open();
            for parameter in field("parameters").map(|list| parameters(walk, list)).unwrap_or_default() {
                if let Some(name) = parameter.name {
                    walk.collector.scopes.bind(walk.text(name), parameter.shape);
                }
            }
            walk.children(node);
            walk.collector.scopes.close();
        }
        "const_spec" | "var_spec" => values(walk, node),
        "short_var_declaration" | "range_clause" => {
            let (Some(left), Some(right)) = (field("left"), field("right")) else { return false };
            walk.visit(right);
            bind(walk, &children(left), right, node.kind() == "range_clause");
        }
        "type_switch_statement" => {
            for alias in field("alias").map(children).unwrap_or_default() {
                walk.collector.scopes.bind(walk.text(alias), Shape::Unknown);
            }
            return false;
        }
        "composite_literal" => literal(walk, node),
        "parameter_declaration" | "variadic_parameter_declaration" => {
            field("type").into_iter().for_each(|type_| walk.visit(type_));
        }
        _ => return false,
    }
    true
}

fn import(walk: &mut Walk<'_>, node: Node<'_>) {
    let Some(path) = node.child_by_field_name("path") else { return };
    let module = walk.text(path).trim_matches(['"', '`']);
    let name = node.child_by_field_name("name");
    let alias = name.map(|name| walk.text(name)).filter(|name| *name != ".");
    let glob = name.is_some_and(|name| name.kind() == "dot");
    walk.import(node, ImportOf { alias, glob, form: ImportForm::Plain, ..ImportOf::module(module) });
}

fn type_(walk: &mut Walk<'_>, node: Node<'_>) {
    let (Some(name), Some(type_)) = (node.child_by_field_name("name"), node.child_by_field_name("type"))
    else {
        return;
    };
    if walk.is_inside_function() {
        walk.visit(type_);
        return;
    }
    let list = children(type_).into_iter().find(|child| child.kind() == "field_declaration_list");
    let members = list.map(children).unwrap_or_default();
    let embedded = |field: &&Node<'_>| {
        field.kind() == "field_declaration" && field.child_by_field_name("name").is_none()
    };
    let kind = match type_.kind() {
        "interface_type" => DefinitionKind::Interface,
        _ => DefinitionKind::Type,
    };
    let mut extends: Vec<Node<'_>> =
        members.iter().filter(embedded).filter_map(|member| member.child_by_field_name("type")).collect();
    if kind == DefinitionKind::Interface {
        extends.extend(children(type_).into_iter().filter(|child| child.kind() == "type_elem"));
    }
    // An alias has the type of its target.
    let gives = (node.kind() == "type_alias").then(|| walk.type_shape(type_));
    let at = walk.collector.facts.definitions.len();
    walk.type_(&Type { node, name, kind, reach: reach(walk.text(name)), extends, body: Some(type_) });
    if let Some(definition) = walk.collector.facts.definitions.get_mut(at) {
        definition.gives = gives;
    }
    let container = walk.collector.enter(walk.text(name));
    for member in members {
        let gives = member.child_by_field_name("type").map(|type_| walk.type_shape(type_));
        for field in member.children_by_field_name("name", &mut member.walk()) {
            let reach = reach(walk.text(field));
            walk.value(member, field, DefinitionKind::Field, reach, gives.clone(), None);
        }
    }
    walk.collector.leave(container);
}

fn function(walk: &mut Walk<'_>, node: Node<'_>) {
    let Some(name) = node.child_by_field_name("name") else { return };
    let receiver =
        node.child_by_field_name("receiver").map(|list| parameters(walk, list)).unwrap_or_default();
    let own = receiver.first().and_then(|receiver| match &receiver.shape {
        Shape::Of(name) => Some(name.clone()),
        Shape::Applied(head, _) => match &**head {
            Shape::Of(name) => Some(name.clone()),
            _ => None,
        },
        _ => None,
    });
    let list = node.child_by_field_name("parameters");
    let parameters = list.map(|list| parameters(walk, list)).unwrap_or_default();
    let result = node.child_by_field_name("result").map(|result| {
        let first = (result.kind() == "parameter_list").then(|| children(result).first().copied()).flatten();
        let first = first.map(|first| first.child_by_field_name("type").unwrap_or(first));
        walk.type_shape(first.unwrap_or(result))
    });
    let kind = match own.is_some() || node.kind() == "method_elem" {
        true => DefinitionKind::Method,
        false => DefinitionKind::Function,
    };
    let container = own.as_deref().map(|own| walk.collector.enter(own));
    walk.collector.scopes.open();
    if let Some(Parameter { name: Some(name), shape, .. }) = receiver.into_iter().next() {
        walk.collector.scopes.bind(walk.text(name), shape);
    }
    let body = node.child_by_field_name("body");
    walk.function(&Function { node, name, kind, reach: reach(walk.text(name)), parameters, result, body });
    walk.collector.scopes.close();
    if let Some(container) = container {
        walk.collector.leave(container);
    }
}

fn parameters<'n>(walk: &Walk<'_>, list: Node<'n>) -> Vec<Parameter<'n>> {
    let mut found = Vec::new();
    for parameter in children(list) {
        let shape =
            parameter.child_by_field_name("type").map_or(Shape::Unknown, |type_| walk.type_shape(type_));
        let rest = parameter.kind() == "variadic_parameter_declaration";
        let names: Vec<_> = parameter.children_by_field_name("name", &mut parameter.walk()).collect();
        let make = |name| Parameter { name, shape: shape.clone(), optional: false, rest };
        match names.is_empty() {
            true => found.push(make(None)),
            false => found.extend(names.into_iter().map(|name| make(Some(name)))),
        }
    }
    found
}

fn values(walk: &mut Walk<'_>, node: Node<'_>) {
    let (type_, value) = (node.child_by_field_name("type"), node.child_by_field_name("value"));
    let names: Vec<_> = node.children_by_field_name("name", &mut node.walk()).collect();
    if let (Some(type_), Some(value)) = (type_, value) {
        conversions::declared(walk, type_, value);
    }
    if walk.is_inside_function() {
        type_.into_iter().chain(value).for_each(|part| walk.visit(part));
        match (type_, value) {
            (Some(_), _) | (None, None) => names.iter().for_each(|name| walk.local(*name, type_, None)),
            (None, Some(value)) => bind(walk, &names, value, false),
        }
        return;
    }
    let initials = value.map(children).unwrap_or_default();
    let mut first = None;
    // `_` binds no name.
    for (at, name) in names.iter().enumerate() {
        if walk.text(*name) == "_" {
            continue;
        }
        let initial = initials.get(at).copied();
        let gives =
            type_.map(|type_| walk.type_shape(type_)).or_else(|| initial.map(|initial| walk.shape(initial)));
        let defined = walk.value(node, *name, DefinitionKind::Value, reach(walk.text(*name)), gives, value);
        if type_.is_none() {
            let inferred = initial.map(|initial| inferred::type_tokens(walk, initial)).unwrap_or_default();
            let at = defined.and_then(|at| usize::try_from(at).ok());
            let definition = at.and_then(|at| walk.collector.facts.definitions.get_mut(at));
            definition.into_iter().for_each(|candidate| inferred::add_type(candidate, &inferred));
        }
        first = first.or(defined);
    }
    type_.into_iter().chain(value).for_each(|part| walk.visit_within(first, part));
}

/// Binds the names on the left to the values on the right.
fn bind(walk: &mut Walk<'_>, left: &[Node<'_>], right: Node<'_>, range: bool) {
    let values = if right.kind() == "expression_list" { children(right) } else { vec![right] };
    for (at, name) in left.iter().enumerate().filter(|(_, name)| name.kind() == "identifier") {
        let shape = match values.as_slice() {
            [one] if range && at == 1 => scope::element(walk.shape(*one)),
            _ if range => Shape::Unknown,
            // Of several results the first is the value; the others are errors or flags.
            [one] if at == 0 => walk.shape(*one),
            [_] => Shape::Unknown,
            many => many.get(at).map_or(Shape::Unknown, |value| walk.shape(*value)),
        };
        walk.collector.scopes.bind(walk.text(*name), shape);
    }
}

/// Handles `T{Field: value}`: its fields are uses of members of the type.
fn literal(walk: &mut Walk<'_>, node: Node<'_>) {
    let (Some(type_), Some(body)) = (node.child_by_field_name("type"), node.child_by_field_name("body"))
    else {
        return;
    };
    let head = walk.head(type_);
    match head.kind() {
        "qualified_type" => walk.path(head, Role::Construct, None),
        "type_identifier" if head == type_ => walk.use_bare_name(head, Role::Construct, None),
        _ => walk.visit(type_),
    }
    let shape = walk.type_shape(type_);
    let is_struct = head == type_ && head.kind() != "map_type";
    for element in children(body) {
        let key = element.child_by_field_name("key").and_then(|key| key.named_child(0));
        match key.filter(|key| is_struct && key.kind() == "identifier") {
            Some(key) => {
                let (name, line) = (dotted(walk.text(key)).into(), line_of(key));
                let within = walk.collector.within;
                let of = Some(shape.clone());
                walk.collector.facts.uses.push(Use {
                    name,
                    line,
                    role: Role::Value,
                    of,
                    arguments: None,
                    keywords: Vec::new(),
                    within,
                });
                if let Some(value) = element.child_by_field_name("value") {
                    let given = value.named_child(0).unwrap_or(value);
                    let key = walk.text(key);
                    conversions::element(walk, &shape, Some(key), given);
                    walk.visit(value);
                }
            }
            None => {
                let given = element.child_by_field_name("value").unwrap_or(element);
                conversions::element(walk, &shape, None, given.named_child(0).unwrap_or(given));
                walk.visit(element);
            }
        }
    }
}

#[cfg(test)]
mod tests;
