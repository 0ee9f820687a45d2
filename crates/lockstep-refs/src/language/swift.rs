//! Swift: a module is a directory of a package's sources; its files see each other without imports.

use tree_sitter::Node;

use crate::facts::{Definition, DefinitionKind, Facts, Import, Reach, Role, Shape, Use};
use crate::language::Language;
use crate::package::{Bindings, Leads, Packaged, Packages, Query};
use crate::scope;
use crate::syntax::{children, digest, line_of};
use crate::walk::{Function, Grammar, ImportOf, Parameter, Type, Walk, dotted};
use crate::world::{FileId, World};

struct Swift;

static GRAMMAR: Grammar = Grammar {
    names: &["simple_identifier"],
    types: &["type_identifier"],
    generics: &["user_type", "array_type"],
    paths: &["user_type"],
    itself: &["self_expression"],
    parent: &["super_expression"],
    casts: &[("as_expression", "name")],
    transparent: &["try_expression", "await_expression", "postfix_expression", "tuple_expression"],
    skipped: &["line_str_text", "multi_line_str_text", "raw_str_part", "modifiers"],
    functions: &["function_declaration", "init_declaration", "protocol_function_declaration"],
    infer,
    ..Grammar::of(Language::Swift, special)
};

/// The rules of the language.
pub(super) static RULES: Packaged = Packaged { grammar: &GRAMMAR, packages: &Swift };

impl Packages for Swift {
    fn language(&self) -> Language {
        Language::Swift
    }

    fn package(&self, world: &dyn World, file: FileId, _facts: &Facts) -> String {
        module(world.path(file)).unwrap_or_default().to_owned()
    }

    fn bindings(&self, _world: &dyn World, _file: FileId, facts: &Facts) -> Bindings {
        let globs = facts.imports.iter().map(|import| import.module.to_string()).collect();
        Bindings { names: Vec::new(), globs }
    }

    fn resolve_import(&self, query: &Query<'_>, _file: FileId, import: &Import) -> Leads {
        let of_it = |file: &FileId| module(query.world.path(*file)) == Some(&*import.module);
        let files: Vec<FileId> = query.world.files().into_iter().filter(of_it).collect();
        if files.is_empty() { Leads::Outside } else { Leads::To(files) }
    }

    fn constructs(&self, method: &Definition) -> bool {
        &*method.name == "init"
    }

    fn inherits_constructors(&self) -> bool {
        true
    }

    fn homes(&self, name: &str) -> Vec<String> {
        vec![format!("{name}.swift")]
    }
}

/// The module of a file, by the layout of packages; without it all files are one module.
fn module(path: &str) -> Option<&str> {
    let mut parts = path.split('/');
    parts.find(|part| matches!(*part, "Sources" | "Tests"))?;
    let module = parts.next()?;
    parts.next().map(|_| module)
}

fn child<'n>(node: Node<'n>, kind: &str) -> Option<Node<'n>> {
    children(node).into_iter().find(|child| child.kind() == kind)
}

/// Returns the parts of a call: the callee, its arguments, and whether it is a subscript.
fn call_parts(node: Node<'_>) -> Option<(Node<'_>, Option<Node<'_>>, bool)> {
    let callee = node.named_child(0)?;
    let arguments = child(node, "call_suffix").and_then(|suffix| child(suffix, "value_arguments"));
    let element = arguments.and_then(|arguments| arguments.child(0)).is_some_and(|first| first.kind() == "[");
    Some((callee, arguments, element))
}

fn member_parts(node: Node<'_>) -> Option<(Node<'_>, Node<'_>)> {
    let target = node.child_by_field_name("target")?;
    let suffix = node.child_by_field_name("suffix")?.child_by_field_name("suffix")?;
    Some((target, suffix))
}

fn infer(walk: &Walk<'_>, node: Node<'_>, depth: usize) -> Option<Shape> {
    match node.kind() {
        "call_expression" => {
            let (callee, _, element) = call_parts(node)?;
            let callee = walk.shape_within(callee, depth);
            Some(if element { scope::element(callee) } else { scope::call(callee) })
        }
        "navigation_expression" => {
            let (target, name) = member_parts(node)?;
            Some(scope::member(walk.shape_within(target, depth), walk.text(name)))
        }
        _ => None,
    }
}

/// Handles imports and definitions; [visit_inner] handles everything else.
fn special(walk: &mut Walk<'_>, node: Node<'_>) -> bool {
    let field = |name| node.child_by_field_name(name);
    match node.kind() {
        "import_declaration" => {
            let name = child(node, "identifier").map(|name| dotted(walk.text(name))).unwrap_or_default();
            let module = name.split('.').next().unwrap_or_default();
            walk.import(node, ImportOf { glob: true, ..ImportOf::module(module) });
        }
        "class_declaration" | "protocol_declaration" => type_(walk, node),
        "enum_entry" => {
            let owner = walk.collector.container().map(Shape::Of);
            let names: Vec<_> = node.children_by_field_name("name", &mut node.walk()).collect();
            for name in names.into_iter().filter(|name| name.kind() == "simple_identifier") {
                walk.value(node, name, DefinitionKind::Variant, Reach::Package, owner.clone(), None);
            }
            field("data_contents").into_iter().for_each(|data| walk.visit_type(data));
        }
        "typealias_declaration" => {
            let parts: Vec<_> = node.children_by_field_name("name", &mut node.walk()).collect();
            let [name, type_] = parts.as_slice() else { return false };
            let mut definition = walk.collector.definition(walk.text(*name), DefinitionKind::Type, node);
            definition.gives = Some(walk.type_shape(*type_));
            definition.signature = digest([*type_], walk.collector.text, |_| false);
            definition.reach = reach(walk, node);
            walk.collector.define(definition);
            walk.visit_type(*type_);
        }
        "function_declaration" | "protocol_function_declaration" | "init_declaration" => function(walk, node),
        "property_declaration" | "protocol_property_declaration" => property(walk, node),
        _ => return visit_inner(walk, node),
    }
    true
}

/// Statements and expressions.
fn visit_inner(walk: &mut Walk<'_>, node: Node<'_>) -> bool {
    let field = |name| node.child_by_field_name(name);
    match node.kind() {
        "call_expression" => call(walk, node),
        "navigation_expression" => {
            let Some((target, name)) = member_parts(node) else { return false };
            walk.member(target, name, Role::Value, None);
        }
        "prefix_expression" => {
            // `.small`: a member of the type that is expected here.
            let target = field("target")
                .filter(|child| child.kind() == "simple_identifier" && walk.text(node).starts_with('.'));
            let Some(name) = target else { return false };
            walk.collector.use_name(name, Role::Value, Some(Shape::Unknown), None);
        }
        "if_statement" | "guard_statement" | "while_statement" => conditions(walk, node),
        "for_statement" => {
            let (item, collection) = (field("item"), field("collection"));
            collection.into_iter().for_each(|child| walk.visit(child));
            let element =
                collection.map_or(Shape::Unknown, |collection| scope::element(walk.shape(collection)));
            if let Some(name) = item.and_then(|item| item.child_by_field_name("bound_identifier")) {
                walk.collector.scopes.bind(walk.text(name), element);
            }
            let rest =
                children(node).into_iter().filter(|child| Some(*child) != item && Some(*child) != collection);
            rest.for_each(|part| walk.visit(part));
        }
        "lambda_literal" => {
            walk.collector.scopes.open();
            ["$0", "$1", "$2"].iter().for_each(|name| walk.collector.scopes.bind(name, Shape::Unknown));
            let list = field("type")
                .and_then(|candidate| child(candidate, "lambda_function_type_parameters"))
                .map(children)
                .unwrap_or_default();
            for parameter in list {
                if let Some(name) = parameter.child_by_field_name("name") {
                    walk.local(name, type_of(parameter), None);
                }
            }
            let written = field("type");
            children(node)
                .into_iter()
                .filter(|child| Some(*child) != written)
                .for_each(|part| walk.visit(part));
            walk.collector.scopes.close();
        }
        "catch_block" => {
            walk.collector.scopes.bind("error", Shape::Unknown);
            return false;
        }
        "user_type" => {
            walk.path(node, Role::Type, None);
            child(node, "type_arguments").into_iter().for_each(|argument_list| {
                children(argument_list).into_iter().for_each(|child| walk.visit_type(child))
            });
        }
        "inheritance_specifier" => {
            children(node).into_iter().for_each(|child| walk.visit_type(child));
        }
        "pattern" => {
            if let Some(name) = field("bound_identifier").filter(|_| walk.is_inside_function()) {
                walk.collector.scopes.bind(walk.text(name), Shape::Unknown);
                walk.skip_node(name);
            }
            let is_case = |child: &Node<'_>| {
                child.kind() == "simple_identifier"
                    && child.prev_sibling().is_some_and(|dot| dot.kind() == ".")
            };
            let case = children(node).into_iter().find(is_case);
            let Some(case) = case else { return false };
            let of = child(node, "user_type").map_or(Shape::Unknown, |type_| walk.type_shape(type_));
            walk.collector.use_name(case, Role::Pattern, Some(of), None);
            walk.children_but(node, Some(case));
        }
        "parameter" => type_of(node).into_iter().for_each(|type_| walk.visit_type(type_)),
        "type_parameter" | "value_argument_label" | "value_binding_pattern" => {}
        _ => return false,
    }
    true
}

/// Returns the written type of a declaration: the last of its `name` fields that is a type.
fn type_of(node: Node<'_>) -> Option<Node<'_>> {
    let is_type = |child: &Node<'_>| child.kind().ends_with("_type");
    node.children_by_field_name("name", &mut node.walk()).filter(is_type).last()
}

fn reach(walk: &Walk<'_>, node: Node<'_>) -> Reach {
    let words = child(node, "modifiers").map(|child| walk.text(child)).unwrap_or_default();
    let has = |word| words.split(|c: char| !c.is_alphanumeric()).any(|part| part == word);
    match () {
        () if has("private") || has("fileprivate") => Reach::File,
        () if has("public") || has("open") => Reach::Everyone,
        () => Reach::Package,
    }
}

fn type_(walk: &mut Walk<'_>, node: Node<'_>) {
    let Some(name) = node.child_by_field_name("name") else { return };
    // `extension [T]`: arrays have no name, so its members are found by theirs.
    let name = Some(name)
        .filter(|child| child.kind() == "array_type")
        .and_then(|child| child.named_child(0))
        .unwrap_or(name);
    let specifiers = children(node).into_iter().filter(|child| child.kind() == "inheritance_specifier");
    let extends = specifiers.filter_map(|specifier| specifier.child_by_field_name("inherits_from")).collect();
    let body = node.child_by_field_name("body");
    let kind = match node.kind() {
        "protocol_declaration" => DefinitionKind::Interface,
        _ => DefinitionKind::Type,
    };
    let extension = node.children(&mut node.walk()).any(|child| child.kind() == "extension");
    if extension {
        walk.visit_type(name);
    }
    // An extension is a part of its type, written elsewhere.
    let reach = if extension { Reach::File } else { reach(walk, node) };
    walk.type_(&Type { node, name, kind, reach, extends, body });
}

fn function(walk: &mut Walk<'_>, node: Node<'_>) {
    let keyword = || node.children(&mut node.walk()).find(|child| child.kind() == "init");
    let Some(name) =
        node.child_by_field_name("name").filter(|name| name.kind() == "simple_identifier").or_else(keyword)
    else {
        return;
    };
    let mut parameters: Vec<Parameter<'_>> = Vec::new();
    for part in node.children(&mut node.walk()) {
        match part.kind() {
            "parameter" => {
                let shape = type_of(part).map_or(Shape::Unknown, |type_| walk.type_shape(type_));
                let rest = walk.text(part).ends_with("...");
                parameters.push(Parameter {
                    name: part.child_by_field_name("name"),
                    shape,
                    optional: false,
                    rest,
                });
            }
            "=" => {
                if let Some(last) = parameters.last_mut() {
                    last.optional = true;
                }
            }
            _ => {}
        }
    }
    let result = type_of(node).map(|type_| walk.type_shape(type_));
    let kind = match walk.collector.container() {
        Some(_) => DefinitionKind::Method,
        None => DefinitionKind::Function,
    };
    let in_protocol = node.kind() == "protocol_function_declaration";
    let reach = if in_protocol { Reach::Everyone } else { reach(walk, node) };
    let body = node.child_by_field_name("body");
    let returned = type_of(node);
    walk.function(&Function { node, name, kind, reach, parameters, result, body });
    returned.into_iter().for_each(|type_| walk.skip_node(type_));
}

fn property(walk: &mut Walk<'_>, node: Node<'_>) {
    let pattern = node.child_by_field_name("name");
    let Some(name) = pattern.and_then(|pattern| pattern.child_by_field_name("bound_identifier")) else {
        return walk.children(node);
    };
    let type_ = child(node, "type_annotation").and_then(|child| child.child_by_field_name("name"));
    let value = node.child_by_field_name("value");
    let computed = node.child_by_field_name("computed_value");
    if walk.is_inside_function() {
        type_.into_iter().for_each(|child| walk.visit_type(child));
        value.into_iter().chain(computed).for_each(|child| walk.visit(child));
        return walk.local(name, type_, value);
    }
    let kind =
        if walk.collector.container().is_some() { DefinitionKind::Field } else { DefinitionKind::Value };
    let gives = type_.map(|type_| walk.type_shape(type_)).or_else(|| value.map(|value| walk.shape(value)));
    let in_protocol = node.kind() == "protocol_property_declaration";
    let reach = if in_protocol { Reach::Everyone } else { reach(walk, node) };
    let at = walk.value(node, name, kind, reach, gives, value.or(computed));
    let before = walk.collector.within;
    walk.collector.within = at.or(before);
    // `@Wrapper var x`.
    let attributes = child(node, "modifiers").map(children).unwrap_or_default();
    for wrapper in attributes.into_iter().filter_map(|attribute| child(attribute, "user_type")) {
        walk.visit_type(wrapper);
    }
    type_.into_iter().for_each(|child| walk.visit_type(child));
    walk.collector.scopes.open();
    value.into_iter().chain(computed).for_each(|child| walk.visit(child));
    walk.collector.scopes.close();
    walk.collector.within = before;
}

fn call(walk: &mut Walk<'_>, node: Node<'_>) {
    let Some((callee, arguments, element)) = call_parts(node) else { return };
    let suffix = child(node, "call_suffix");
    let trailing = suffix
        .map(children)
        .unwrap_or_default()
        .iter()
        .filter(|child| child.kind() == "lambda_literal")
        .count();
    let written = arguments.map_or(0, |list| list.named_child_count());
    let count = u16::try_from(written + trailing).ok();
    match callee.kind() {
        _ if element => walk.visit(callee),
        "simple_identifier" => walk.use_bare_name(callee, Role::Call, count),
        "navigation_expression" => match member_parts(callee) {
            Some((target, name)) => walk.member(target, name, Role::Call, count),
            None => walk.visit(callee),
        },
        "prefix_expression" => {
            match callee.child_by_field_name("target").filter(|target| target.kind() == "simple_identifier") {
                Some(name) => {
                    let (text, line, within) = (walk.text(name).into(), line_of(name), walk.collector.within);
                    let of = Some(Shape::Unknown);
                    walk.collector.facts.uses.push(Use {
                        name: text,
                        line,
                        role: Role::Call,
                        of,
                        arguments: count,
                        keywords: Vec::new(),
                        within,
                    });
                }
                None => walk.visit(callee),
            }
        }
        _ => walk.visit(callee),
    }
    suffix.into_iter().for_each(|suffix| walk.children(suffix));
}

/// Handles `if let x = value`: each bound name has the shape of the following condition.
fn conditions(walk: &mut Walk<'_>, node: Node<'_>) {
    let mut bound: Option<Node<'_>> = None;
    let mut cursor = node.walk();
    let mut more = cursor.goto_first_child();
    let mut parts = Vec::new();
    while more {
        parts.push((cursor.field_name(), cursor.node()));
        more = cursor.goto_next_sibling();
    }
    for (field, part) in parts.into_iter().filter(|(_, part)| part.is_named()) {
        match (field, part.kind()) {
            (Some("bound_identifier"), _) => bound = Some(part),
            (_, "value_binding_pattern") => {}
            _ => {
                if bound.is_some() && field != Some("condition") {
                    // `if let x`: the name keeps its shape.
                    bound = None;
                }
                walk.visit(part);
                if let Some(name) = bound.take() {
                    let shape = walk.shape(part);
                    walk.collector.scopes.bind(walk.text(name), shape);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
