//! C#: namespaces, `using` in its forms, types with their members, extension methods.

mod conditional;
mod creations;

use tree_sitter::Node;

use conditional::conditional;
use creations::{creation, implicit_creation};

use crate::facts::{DefinitionKind, Facts, Import, ImportForm, Reach, Role, Shape, Use};
use crate::language::Language;
use crate::limits::Limit;
use crate::package::{Bindings, Bound, Leads, MAX_FILES, Packaged, Packages, Query};
use crate::scope;
use crate::syntax::{TOKEN_END, children, digest, header, line_of};
use crate::walk::{self, Function, Grammar, ImportOf, Parameter, Type, Walk, dotted};
use crate::world::{FileId, World};

/// So many files are read for what they use globally.
const MAX_GLOBAL_FILES: usize = 50;

struct CSharp;

static GRAMMAR: Grammar = Grammar {
    names: &["identifier"],
    generics: &["generic_name", "array_type"],
    paths: &["qualified_name", "alias_qualified_name"],
    calls: &[("invocation_expression", "function", "arguments")],
    members: &[("member_access_expression", "expression", "name")],
    creations: &[("object_creation_expression", "type", "arguments")],
    itself: &["this"],
    parent: &["base"],
    elements: &[("element_access_expression", "expression")],
    casts: &[("cast_expression", "type"), ("as_expression", "right"), ("object_creation_expression", "type")],
    transparent: &["parenthesized_expression", "await_expression", "postfix_unary_expression"],
    skipped: &[
        "string_literal",
        "verbatim_string_literal",
        "raw_string_literal",
        "character_literal",
        "modifier",
    ],
    functions: &[
        "method_declaration",
        "constructor_declaration",
        "destructor_declaration",
        "operator_declaration",
    ],
    ..Grammar::of(Language::CSharp, special)
};

/// The rules of the language.
pub(super) static RULES: Packaged = Packaged { grammar: &GRAMMAR, packages: &CSharp };

impl Packages for CSharp {
    fn language(&self) -> Language {
        Language::CSharp
    }

    fn bindings(&self, world: &dyn World, file: FileId, facts: &Facts) -> Bindings {
        let mut bindings = Bindings::default();
        let mut add = |import: &Import| match &import.alias {
            Some(alias) => bindings.names.push(Bound {
                local: alias.clone(),
                full: import.module.to_string(),
                line: import.line,
            }),
            None => bindings.globs.push(import.module.to_string()),
        };
        facts.imports.iter().for_each(&mut add);
        // A `global using` of one file applies to all files of the project.
        let others = world.containing("global using").into_iter().filter(|other| *other != file).collect();
        let others = Limit::first(others, MAX_GLOBAL_FILES).into_iter();
        for other in others.filter_map(|other| world.facts(other)).filter(|facts| self.speaks(facts.language))
        {
            other.imports.iter().filter(|import| import.form == ImportForm::System).for_each(&mut add);
        }
        bindings
    }

    fn resolve_import(&self, query: &Query<'_>, _file: FileId, import: &Import) -> Leads {
        let module = &*import.module;
        let last = module.rsplit('.').next().unwrap_or(module);
        if let Some(symbol) = query.types_with(module).first() {
            return Leads::To(vec![symbol.file]);
        }
        let inside = |path: &str| {
            path == module || path.strip_prefix(module).is_some_and(|rest| rest.starts_with('.'))
        };
        let holds = |file: &FileId| {
            let Some(view) = query.view(*file) else { return false };
            let mut containers =
                view.facts.definitions.iter().filter_map(|definition| definition.container.as_deref());
            inside(&view.package) || containers.any(inside)
        };
        let files: Vec<FileId> =
            Limit::first(query.world.containing(last), MAX_FILES).into_iter().filter(holds).collect();
        // The project's namespaces are not declared, so an unknown one belongs to a package.
        if files.is_empty() { Leads::Outside } else { Leads::To(files) }
    }

    fn short_name<'n>(&self, name: &'n str) -> Option<&'n str> {
        name.strip_suffix("Attribute").filter(|short| !short.is_empty())
    }

    fn sees_around(&self) -> bool {
        true
    }

    fn homes(&self, name: &str) -> Vec<String> {
        vec![format!("{name}.cs")]
    }
}

fn child<'n>(node: Node<'n>, kind: &str) -> Option<Node<'n>> {
    children(node).into_iter().find(|child| child.kind() == kind)
}

/// Handles imports and definitions; [visit_inner] handles everything else.
fn special(walk: &mut Walk<'_>, node: Node<'_>) -> bool {
    let field = |name| node.child_by_field_name(name);
    match node.kind() {
        "using_directive" => using(walk, node),
        "file_scoped_namespace_declaration" => {
            walk.collector.facts.package = field("name").map(|name| dotted(walk.text(name)).into());
            walk.children_but(node, field("name"));
        }
        "namespace_declaration" => {
            let name = field("name").map(|name| dotted(walk.text(name))).unwrap_or_default();
            let container = walk.collector.enter(&name);
            field("body").into_iter().for_each(|body| walk.visit(body));
            walk.collector.leave(container);
        }
        "class_declaration"
        | "struct_declaration"
        | "interface_declaration"
        | "record_declaration"
        | "enum_declaration" => type_(walk, node),
        "enum_member_declaration" => {
            let Some(name) = field("name") else { return false };
            let owner = walk.collector.container().map(Shape::Of);
            walk.value(node, name, DefinitionKind::Variant, Reach::Everyone, owner, field("value"));
            field("value").into_iter().for_each(|value| walk.visit(value));
        }
        "method_declaration" | "constructor_declaration" | "delegate_declaration" => function(walk, node),
        "local_function_statement" => {
            walk.collector.scopes.open();
            bind(walk, field("parameters"));
            walk.children_but(node, field("name"));
            walk.collector.scopes.close();
        }
        "property_declaration" => property(walk, node),
        "indexer_declaration"
        | "operator_declaration"
        | "conversion_operator_declaration"
        | "accessor_declaration" => {
            walk.collector.scopes.open();
            walk.collector.scopes.bind("value", Shape::Unknown);
            bind(walk, field("parameters"));
            walk.children(node);
            walk.collector.scopes.close();
        }
        "variable_declaration" => variables(walk, node),
        _ => return visit_inner(walk, node),
    }
    true
}

/// Statements and expressions.
fn visit_inner(walk: &mut Walk<'_>, node: Node<'_>) -> bool {
    let field = |name| node.child_by_field_name(name);
    match node.kind() {
        "foreach_statement" => {
            let open = field("type").is_none_or(|type_| type_.kind() == "implicit_type");
            field("right").into_iter().for_each(|right| walk.visit(right));
            let element = field("right").map_or(Shape::Unknown, |right| scope::element(walk.shape(right)));
            match field("left") {
                Some(left) if open => walk.collector.scopes.bind(walk.text(left), element),
                Some(left) => walk.local(left, field("type"), None),
                None => {}
            }
            field("type").filter(|_| !open).into_iter().for_each(|type_| walk.visit_type(type_));
            field("body").into_iter().for_each(|body| walk.visit(body));
        }
        "lambda_expression" | "anonymous_method_expression" => {
            walk.collector.scopes.open();
            if let Some(one) = field("parameters").filter(|list| list.kind() != "parameter_list") {
                walk.collector.scopes.bind(walk.text(one), Shape::Unknown);
            }
            bind(walk, field("parameters"));
            walk.children_but(node, field("parameters").filter(|list| list.kind() != "parameter_list"));
            walk.collector.scopes.close();
        }
        "declaration_pattern" | "declaration_expression" | "catch_declaration" | "recursive_pattern" => {
            if let Some(name) = field("name") {
                let type_ = field("type").filter(|type_| type_.kind() != "implicit_type");
                walk.local(name, type_, None);
            }
            walk.children_but(node, field("name"));
        }
        "object_creation_expression" => creation(walk, node),
        "implicit_object_creation_expression" => {
            implicit_creation(walk, node);
            return false;
        }
        "base_list" => {
            let (walked, arguments): (Vec<_>, Vec<_>) =
                children(node).into_iter().partition(|child| child.kind() != "argument_list");
            walked.into_iter().for_each(|part| walk.visit_type(part));
            arguments.into_iter().for_each(|part| walk.super_constructor_call(node, Some(part)));
        }
        "constructor_initializer" => {
            let is_parent = node.children(&mut node.walk()).any(|child| child.kind() == "base");
            let arguments = child(node, "argument_list");
            match is_parent {
                true => walk.super_constructor_call(node, arguments),
                false => walk.own_creation(node, arguments),
            }
        }
        "argument" => walk.children_but(node, field("name")),
        "conditional_access_expression" => conditional(walk, node, None),
        "invocation_expression" => {
            let Some(callee) =
                field("function").filter(|child| child.kind() == "conditional_access_expression")
            else {
                return false;
            };
            let count = field("arguments").map_or(0, |list| list.named_child_count());
            conditional(walk, callee, u16::try_from(count).ok());
            field("arguments").into_iter().for_each(|list| walk.children(list));
        }
        "is_expression" | "as_expression" => {
            field("left").into_iter().for_each(|left| walk.visit(left));
            field("right").into_iter().for_each(|right| walk.visit_type(right));
        }
        "generic_name" => {
            let head = walk.head(node);
            walk.use_bare_name(head, Role::Type, None);
            children(node)
                .into_iter()
                .filter(|child| *child != head)
                .for_each(|argument| walk.visit_type(argument));
        }
        "type_parameter_list" => {}
        "attribute" => {
            if let Some(name) = field("name") {
                let (of, last) = match dotted(walk.text(name)).rsplit_once('.') {
                    Some((before, last)) => (Some(Shape::Name(before.into())), last.to_owned()),
                    None => (None, dotted(walk.text(name))),
                };
                // `[Fast]` is the type `FastAttribute`.
                for name in [last.clone(), format!("{last}Attribute")] {
                    let (line, within, of) = (line_of(node), walk.collector.within, of.clone());
                    let (name, arguments, keywords) = (name.into(), None, Vec::new());
                    let use_ = Use { name, line, role: Role::Type, of, arguments, keywords, within };
                    walk.collector.facts.uses.push(use_);
                }
            }
            walk.children_but(node, field("name"));
        }
        "parameter" => {
            let parts = children(node).into_iter().filter(|part| Some(*part) != field("name"));
            parts.for_each(|part| {
                if Some(part) == field("type") { walk.visit_type(part) } else { walk.visit(part) }
            });
        }
        _ => return false,
    }
    true
}

fn using(walk: &mut Walk<'_>, node: Node<'_>) {
    let alias = node.child_by_field_name("name");
    let Some(name) =
        children(node).into_iter().rfind(|part| Some(*part) != alias && part.kind() != "modifier")
    else {
        return;
    };
    let module = dotted(walk.text(name));
    let form = match walk.text(node).starts_with("global") {
        true => ImportForm::System,
        false => ImportForm::Plain,
    };
    let alias = alias.map(|alias| walk.text(alias));
    walk.import(node, ImportOf { alias, glob: alias.is_none(), form, ..ImportOf::module(&module) });
}

fn has(walk: &Walk<'_>, node: Node<'_>, word: &str) -> bool {
    children(node).iter().any(|child| child.kind() == "modifier" && walk.text(*child) == word)
}

/// Returns the visibility. A private member is visible in all parts of its type, which may be in several
/// files.
fn reach(walk: &Walk<'_>, node: Node<'_>) -> Reach {
    let body = node.parent();
    let owner = body.and_then(|body| body.parent());
    let in_type = owner.is_some_and(|owner| {
        matches!(owner.kind(), "class_declaration" | "struct_declaration" | "record_declaration")
    });
    let open = ["public", "protected", "internal"].iter().any(|word| has(walk, node, word));
    match in_type && !open {
        true if owner.is_some_and(|owner| has(walk, owner, "partial")) => Reach::Package,
        true => Reach::File,
        false => Reach::Everyone,
    }
}

fn type_(walk: &mut Walk<'_>, node: Node<'_>) {
    let Some(name) = node.child_by_field_name("name") else { return };
    let kind = match node.kind() {
        "interface_declaration" => DefinitionKind::Interface,
        _ => DefinitionKind::Type,
    };
    let bases = child(node, "base_list").map(children).unwrap_or_default();
    let extends = bases.into_iter().filter(|base| base.kind() != "argument_list").collect();
    let body = node.child_by_field_name("body");
    let reach = reach(walk, node);
    walk.type_(&Type { node, name, kind, reach, extends, body });
    default_calls(walk, node, name, body);
    if let Some(list) = child(node, "parameter_list") {
        let container = walk.collector.enter(walk.text(name));
        for parameter in children(list).into_iter().filter(|_| node.kind() == "record_declaration") {
            if let Some(name) = parameter.child_by_field_name("name") {
                let gives = parameter.child_by_field_name("type").map(|type_| walk.type_shape(type_));
                walk.value(parameter, name, DefinitionKind::Field, Reach::Everyone, gives, None);
            }
        }
        let mut definition = walk.collector.definition(walk.text(name), DefinitionKind::Method, name);
        definition.arity = walk::arity(&parameters(walk, list));
        definition.signature = digest([list], walk.collector.text, |_| false);
        definition.header = header(list, None, &[], walk.collector.text);
        walk.collector.define(definition);
        walk.collector.leave(container);
    }
}

/// Records the calls of the base's constructor that are not written.
fn default_calls(walk: &mut Walk<'_>, node: Node<'_>, name: Node<'_>, body: Option<Node<'_>>) {
    let Some(bases) =
        child(node, "base_list").filter(|candidate| child(*candidate, "argument_list").is_none())
    else {
        return;
    };
    let Some(base) = bases.named_child(0).filter(|_| node.kind() == "class_declaration") else { return };
    let members = body.map(children).unwrap_or_default();
    let written: Vec<_> = members
        .into_iter()
        .filter(|member| member.kind() == "constructor_declaration" && !has(walk, *member, "static"))
        .collect();
    walk.default_calls(name, base, &written, |walk| child(walk, "constructor_initializer").is_some());
}

fn function(walk: &mut Walk<'_>, node: Node<'_>) {
    let Some(name) = node.child_by_field_name("name") else { return };
    let list = node.child_by_field_name("parameters");
    let mut taken = list.map(|list| parameters(walk, list)).unwrap_or_default();
    let result = node.child_by_field_name("returns").map(|type_| walk.type_shape(type_));
    let first = list.and_then(|list| list.named_child(0));
    let extends =
        first.filter(|first| has(walk, *first, "this")).and_then(|first| first.child_by_field_name("type"));
    let extends = extends.map(|type_| dotted(walk.text(walk.head(type_))));
    let kind =
        if node.kind() == "delegate_declaration" { DefinitionKind::Type } else { DefinitionKind::Method };
    let reach = reach(walk, node);
    let body = node.child_by_field_name("body");
    let at = walk.collector.facts.definitions.len();
    if extends.is_some() && !taken.is_empty() {
        // The extended value is written before the call.
        taken.rotate_left(1);
        let this = taken.pop();
        walk.collector.scopes.open();
        if let Some(Parameter { name: Some(name), shape, .. }) = this {
            walk.collector.scopes.bind(walk.text(name), shape);
        }
    } else {
        walk.collector.scopes.open();
    }
    walk.function(&Function { node, name, kind, reach, parameters: taken, result, body });
    walk.collector.scopes.close();
    if let (Some(definition), Some(extends)) = (walk.collector.facts.definitions.get_mut(at), extends) {
        definition.extends = vec![extends.into()];
    }
}

fn parameters<'n>(walk: &Walk<'_>, list: Node<'n>) -> Vec<Parameter<'n>> {
    let one = |node: Node<'n>| {
        let shape = node.child_by_field_name("type").map_or(Shape::Unknown, |type_| walk.type_shape(type_));
        let optional = node.children(&mut node.walk()).any(|part| part.kind() == "=");
        let rest = has(walk, node, "params");
        Parameter { name: node.child_by_field_name("name"), shape, optional, rest }
    };
    let mut found: Vec<_> =
        children(list).into_iter().filter(|child| child.kind() == "parameter").map(one).collect();
    // `params T[] xs` is directly in the list.
    if let Some(name) = list.child_by_field_name("name") {
        let shape = list.child_by_field_name("type").map_or(Shape::Unknown, |type_| walk.type_shape(type_));
        found.push(Parameter { name: Some(name), shape, optional: false, rest: true });
    }
    found
}

fn bind(walk: &mut Walk<'_>, list: Option<Node<'_>>) {
    for parameter in list.map(|list| parameters(walk, list)).unwrap_or_default() {
        if let Some(name) = parameter.name {
            walk.collector.scopes.bind(walk.text(name), parameter.shape);
        }
    }
}

fn property(walk: &mut Walk<'_>, node: Node<'_>) {
    let Some(name) = node.child_by_field_name("name") else { return };
    let type_ = node.child_by_field_name("type");
    let gives = type_.map(|type_| walk.type_shape(type_));
    let inside = node.child_by_field_name("value").or_else(|| node.child_by_field_name("accessors"));
    let reach = reach(walk, node);
    let at = walk.value(node, name, DefinitionKind::Field, reach, gives, inside);
    let is_declared = node
        .parent()
        .and_then(|parent| parent.parent())
        .is_some_and(|child| child.kind() == "interface_declaration")
        && !walk.text(inside.unwrap_or(node)).contains("=>")
        && !walk.text(inside.unwrap_or(node)).trim_start_matches('{').contains('{');
    if let Some(declared) =
        at.and_then(|at| walk.collector.facts.definitions.get_mut(at as usize)).filter(|_| is_declared)
    {
        declared.body = digest([], "", |_| false);
    }
    mark_unsettable(walk, node, at);
    let before = walk.collector.within;
    walk.collector.within = at;
    walk.children_but(node, Some(name));
    walk.collector.within = before;
}

/// Marks a property that others cannot assign as `readonly`.
fn mark_unsettable(walk: &mut Walk<'_>, node: Node<'_>, at: Option<u32>) {
    const HIDDEN: &[&str] = &["private", "protected"];
    let accessors = node.child_by_field_name("accessors").map(children).unwrap_or_default();
    let sets = |child: &Node<'_>| {
        let words = walk.text(*child).split(|c: char| !c.is_alphanumeric()).take(3).collect::<Vec<_>>();
        words.iter().any(|word| matches!(*word, "set" | "init"))
            && !words.iter().any(|word| HIDDEN.contains(word))
    };
    if accessors.iter().any(sets) {
        return;
    }
    if let Some(property) = at.and_then(|at| walk.collector.facts.definitions.get_mut(at as usize)) {
        property.header = format!("readonly{TOKEN_END}{}", property.header).into();
        property.signature ^= 1;
    }
}

/// Records variables: fields in a type, local variables in functions.
fn variables(walk: &mut Walk<'_>, node: Node<'_>) {
    let type_ = node.child_by_field_name("type").filter(|type_| type_.kind() != "implicit_type");
    let holder = node.parent().filter(|parent| parent.kind().ends_with("field_declaration"));
    let mut first = None;
    for declarator in children(node).into_iter().filter(|part| part.kind() == "variable_declarator") {
        let Some(name) = declarator.child_by_field_name("name") else { continue };
        let initial = children(declarator).into_iter().rfind(|part| *part != name);
        match holder {
            Some(holder) => {
                let gives = type_.map(|type_| walk.type_shape(type_));
                let reach = reach(walk, holder);
                let at = walk.value(holder, name, DefinitionKind::Field, reach, gives, initial);
                first = first.or(at);
                initial.into_iter().for_each(|initial| walk.visit_within(at, initial));
            }
            None => {
                initial.into_iter().for_each(|initial| walk.visit(initial));
                walk.local(name, type_, initial);
            }
        }
    }
    let before = walk.collector.within;
    walk.collector.within = first.or(before);
    type_.into_iter().for_each(|type_| walk.visit_type(type_));
    walk.collector.within = before;
}

#[cfg(test)]
mod tests;
