//! Ruby: constants by the modules around them, files by `require`, methods mostly by name.

mod mixin;

use std::collections::HashMap;

use tree_sitter::Node;

use crate::facts::{Arity, Definition, DefinitionKind, Import, ImportForm, Reach, Role, Shape};
use crate::language::Language;
use crate::package::{Leads, Packaged, Packages, Query};
use crate::syntax::{TOKEN_END, children, digest, line_of};
use crate::walk::{Function, Grammar, ImportOf, Parameter, Type, Walk, dotted, snake};
use crate::world::{FileId, base, join, parent};

struct Ruby;

static GRAMMAR: Grammar = Grammar {
    names: &["constant"],
    paths: &["scope_resolution"],
    invocations: &[("call", "receiver", "method", "arguments")],
    itself: &["self"],
    elements: &[("element_reference", "object")],
    transparent: &["parenthesized_statements"],
    skipped: &["string_content", "simple_symbol", "hash_key_symbol", "instance_variable", "global_variable"],
    functions: &["method", "singleton_method"],
    script: true,
    infer,
    ..Grammar::of(Language::Ruby, special)
};

/// The rules of the language.
pub(super) static RULES: Packaged = Packaged { grammar: &GRAMMAR, packages: &Ruby };

impl Packages for Ruby {
    fn language(&self) -> Language {
        Language::Ruby
    }

    fn resolve_import(&self, query: &Query<'_>, file: FileId, import: &Import) -> Leads {
        let world = query.world;
        let path = match import.module.ends_with(".rb") {
            true => import.module.to_string(),
            false => format!("{}.rb", import.module),
        };
        if import.form == ImportForm::Child {
            let found = join(parent(world.path(file)), &path).and_then(|path| world.find(&path));
            return found.map_or(Leads::Missing, |found| Leads::To(vec![found]));
        }
        // The load path is not declared: a directory `lib`, or the only file whose path ends so.
        let ends = |file: &FileId| {
            world
                .path(*file)
                .strip_suffix(&*path)
                .is_some_and(|strip_suffix| strip_suffix.is_empty() || strip_suffix.ends_with('/'))
        };
        let found: Vec<FileId> = world.named(base(&path)).into_iter().filter(ends).collect();
        let lib = |file: &&FileId| world.path(**file).ends_with(&format!("lib/{path}"));
        match found.iter().find(lib).or(found.first().filter(|_| found.len() == 1 && path.contains('/'))) {
            Some(found) => Leads::To(vec![*found]),
            None => Leads::Outside,
        }
    }

    fn overloads(&self) -> bool {
        false
    }

    fn constructs(&self, method: &Definition) -> bool {
        &*method.name == "initialize"
    }

    fn inherits_constructors(&self) -> bool {
        true
    }

    fn homes(&self, name: &str) -> Vec<String> {
        vec![format!("{}.rb", snake(name))]
    }
}

fn infer(walk: &Walk<'_>, node: Node<'_>, depth: usize) -> Option<Shape> {
    match node.kind() {
        "call" => {
            let method = node.child_by_field_name("method").map(|method| walk.text(method));
            match node.child_by_field_name("receiver").filter(|_| method == Some("new")) {
                Some(receiver) => {
                    is_constant(receiver).then(|| Shape::Of(dotted(walk.text(receiver)).into()))
                }
                None => made_here(walk, method),
            }
        }
        "instance_variable" => Some(Shape::Member(Box::new(Shape::Itself), walk.text(node).into())),
        "identifier" => {
            let name = walk.text(node);
            let local = walk.collector.scopes.get(name).cloned().or_else(|| made_here(walk, Some(name)));
            Some(local.unwrap_or_else(|| Shape::Call(Box::new(Shape::Name(name.into())))))
        }
        "assignment" => node.child_by_field_name("right").map(|right| walk.shape_within(right, depth)),
        _ => None,
    }
}

/// Returns the result of a bare `new`: an object of the enclosing class.
fn made_here(walk: &Walk<'_>, method: Option<&str>) -> Option<Shape> {
    let class = walk.collector.container().filter(|_| method == Some("new"))?;
    Some(Shape::Of(class.rsplit('.').next().unwrap_or(&class).into()))
}

fn is_constant(node: Node<'_>) -> bool {
    matches!(node.kind(), "constant" | "scope_resolution")
}

fn special(walk: &mut Walk<'_>, node: Node<'_>) -> bool {
    let field = |name| node.child_by_field_name(name);
    match node.kind() {
        "class" | "module" => type_(walk, node),
        "method" | "singleton_method" => function(walk, node),
        "assignment" => assignment(walk, node),
        "call" => return call(walk, node),
        "identifier" => {
            let known = walk.collector.scopes.get(walk.text(node)).is_some();
            if !known {
                walk.collector.use_name(node, Role::Call, None, Some(0));
            }
        }
        "block" | "do_block" | "lambda" => {
            walk.collector.scopes.open();
            let list = field("parameters").map(children).unwrap_or_default();
            for name in list.into_iter().filter_map(|child| child.child_by_field_name("name").or(Some(child)))
            {
                walk.collector.scopes.bind(walk.text(name), Shape::Unknown);
            }
            field("body").into_iter().for_each(|body| walk.visit(body));
            walk.collector.scopes.close();
        }
        "method_parameters" | "block_parameters" | "lambda_parameters" => {
            let values = children(node).into_iter().filter_map(|child| child.child_by_field_name("value"));
            values.for_each(|value| walk.visit(value));
        }
        // `map(&:name)`.
        "block_argument" => {
            let symbol = node.named_child(0).filter(|child| child.kind() == "simple_symbol");
            let Some(symbol) = symbol else { return false };
            let name = walk.text(symbol).trim_start_matches(':').to_owned();
            walk.record_use(symbol, &name, Role::Call, Some(Shape::Unknown), Some(0));
        }
        "exception_variable" => {
            node.named_child(0)
                .into_iter()
                .for_each(|name| walk.collector.scopes.bind(walk.text(name), Shape::Unknown));
        }
        "for" => {
            field("pattern")
                .into_iter()
                .for_each(|name| walk.collector.scopes.bind(walk.text(name), Shape::Unknown));
            return false;
        }
        "pair" | "keyword_parameter" => field("value").into_iter().for_each(|value| walk.visit(value)),
        "alias" | "undef" => {}
        _ => return false,
    }
    true
}

/// Handles calls that are statements of the language, and those that create objects.
fn call(walk: &mut Walk<'_>, node: Node<'_>) -> bool {
    let Some(method) = node.child_by_field_name("method") else { return false };
    let receiver = node.child_by_field_name("receiver");
    let arguments = node.child_by_field_name("arguments");
    let first = arguments.and_then(|list| list.named_child(0));
    match (walk.text(method), receiver) {
        (word @ ("require" | "require_relative" | "load" | "autoload"), None) => {
            let path = arguments
                .map(children)
                .unwrap_or_default()
                .into_iter()
                .rfind(|child| child.kind() == "string");
            let path = path.map(|path| walk.text(path).trim_matches(['"', '\''])).unwrap_or_default();
            let form = if word == "require_relative" { ImportForm::Child } else { ImportForm::Dynamic };
            if !path.is_empty() && !path.contains("#{") {
                walk.import(node, ImportOf { form, ..ImportOf::module(path) });
            }
            true
        }
        ("attr_reader" | "attr_writer" | "attr_accessor", None) => {
            for symbol in arguments.map(children).unwrap_or_default() {
                let name = walk.text(symbol).trim_start_matches(':').to_owned();
                define_symbol(walk, symbol, &name, DefinitionKind::Method);
            }
            true
        }
        ("super", None) => {
            // The method of the same name in the base class.
            let around = walk.collector.within.and_then(|at| usize::try_from(at).ok());
            let around = around.and_then(|at| walk.collector.facts.definitions.get(at));
            if let Some(name) = around
                .filter(|definition| definition.kind == DefinitionKind::Method)
                .map(|definition| definition.name.clone())
            {
                let count = arguments.map_or(Some(0), crate::walk::argument_count);
                walk.record_use(node, &name, Role::Call, Some(Shape::Parent), count);
            }
            arguments.into_iter().for_each(|arguments| walk.children(arguments));
            node.child_by_field_name("block").into_iter().for_each(|block| walk.visit(block));
            true
        }
        ("new", Some(class)) if is_constant(class) => {
            walk.creation(class, arguments);
            node.child_by_field_name("block").into_iter().for_each(|block| walk.visit(block));
            true
        }
        ("new", class) if class.is_none_or(|class| class.kind() == "self") => {
            walk.own_creation(method, arguments);
            node.child_by_field_name("block").into_iter().for_each(|block| walk.visit(block));
            true
        }
        ("include" | "extend" | "prepend" | "send", Some(of)) if is_constant(of) => {
            mixin::from_outside(walk, node, of);
            walk.invocation(receiver, method, arguments);
            true
        }
        (word @ ("alias_method" | "define_method"), None) => {
            if word == "alias_method" {
                let symbols = arguments.map(children).unwrap_or_default();
                symbols.into_iter().skip(1).for_each(|symbol| named_method(walk, symbol, None));
            }
            let name = first.map(|first| walk.text(first).trim_start_matches(':').to_owned());
            if let Some((first, name)) = first.zip(name) {
                define_symbol(walk, first, &name, DefinitionKind::Method);
            }
            node.child_by_field_name("block").into_iter().for_each(|block| walk.visit(block));
            true
        }
        (word, _) => {
            walk.invocation(receiver, method, arguments);
            let is_sent = SENDING.contains(&word);
            let names_own = receiver.is_none() && is_at_class_level(walk);
            let symbols = arguments.map(children).unwrap_or_default();
            let symbols = symbols.into_iter().take(if is_sent { 1 } else { usize::MAX });
            for symbol in symbols.filter(|_| is_sent || names_own) {
                named_method(walk, symbol, receiver);
            }
            node.child_by_field_name("block").into_iter().for_each(|block| walk.visit(block));
            true
        }
    }
}

/// Methods that take the name of a method to call, or to look up.
const SENDING: &[&str] = &["send", "public_send", "__send__", "method", "instance_method", "public_method"];

/// Keeps that a symbol names a method: `send(:name)`, `private :name`.
fn named_method(walk: &mut Walk<'_>, symbol: Node<'_>, receiver: Option<Node<'_>>) {
    let of = match receiver.filter(|receiver| receiver.kind() != "self") {
        Some(receiver) => Some(walk.shape(receiver)),
        None => {
            let class = walk.collector.container();
            class.map(|class| Shape::Of(class.rsplit('.').next().unwrap_or(&class).into()))
        }
    };
    if let Some(of) = of.filter(|_| symbol.kind() == "simple_symbol") {
        let name = walk.text(symbol).trim_start_matches(':').to_owned();
        walk.record_use(symbol, &name, Role::Value, Some(of), None);
    }
}

/// Returns true if the walk is in the body of a type, outside its methods.
fn is_at_class_level(walk: &Walk<'_>) -> bool {
    let within = walk.collector.within.and_then(|at| usize::try_from(at).ok());
    let around = within.and_then(|at| walk.collector.facts.definitions.get(at));
    around.is_some_and(|definition| definition.kind == DefinitionKind::Type)
}

/// Records a definition by a symbol instead of a statement.
fn define_symbol(walk: &mut Walk<'_>, node: Node<'_>, name: &str, kind: DefinitionKind) {
    let definition = walk.collector.definition(name, kind, node);
    walk.collector.define(definition);
}

/// Returns true if a module contains only classes and modules.
fn is_namespace(body: Node<'_>) -> bool {
    let parts = children(body);
    !parts.is_empty() && parts.iter().all(|part| matches!(part.kind(), "class" | "module" | "comment"))
}

fn type_(walk: &mut Walk<'_>, node: Node<'_>) {
    let Some(name) = node.child_by_field_name("name") else { return };
    let (outer, name) = match name.kind() {
        "scope_resolution" => {
            let outer = name.child_by_field_name("scope").map(|scope| dotted(walk.text(scope)));
            (outer, name.child_by_field_name("name").unwrap_or(name))
        }
        _ => (None, name),
    };
    let body = node.child_by_field_name("body");
    let mut extends: Vec<Node<'_>> = node
        .child_by_field_name("superclass")
        .and_then(|superclass| superclass.named_child(0))
        .into_iter()
        .collect();
    extends.retain(|base| is_constant(*base));
    extends.extend(body.map(|body| mixin::mixed_in(walk, body)).unwrap_or_default());
    let container = outer.as_deref().map(|outer| walk.collector.enter(outer));
    walk.collector.scopes.open_closed();
    match body.filter(|body| node.kind() == "module" && is_namespace(*body)) {
        // Every file reopens it, so it has no own definition.
        Some(body) => {
            let container = walk.collector.enter(&dotted(walk.text(name)));
            walk.children(body);
            walk.collector.leave(container);
        }
        None => {
            let (kind, reach, from) =
                (DefinitionKind::Type, Reach::Everyone, walk.collector.facts.definitions.len());
            walk.type_(&Type { node, name, kind, reach, extends, body });
            body.into_iter().for_each(|body| mark_hidden(walk, body, from));
        }
    }
    walk.collector.scopes.close();
    if let Some(container) = container {
        walk.collector.leave(container);
    }
}

fn function(walk: &mut Walk<'_>, node: Node<'_>) {
    let Some(name) = node.child_by_field_name("name") else { return };
    let list = node.child_by_field_name("parameters").map(children).unwrap_or_default();
    // Keyword arguments follow the others in any order, and are not counted.
    let keywords =
        list.iter().any(|child| matches!(child.kind(), "keyword_parameter" | "hash_splat_parameter"));
    let one = |node: &Node<'_>| match node.kind() {
        "keyword_parameter" | "block_parameter" => true,
        _ => node.kind() == "optional_parameter",
    };
    let mut parameters: Vec<Parameter<'_>> = Vec::new();
    for parameter in list {
        let name = parameter.child_by_field_name("name").or(Some(parameter));
        let rest =
            parameter.kind().contains("splat") || (keywords && parameter.kind() == "keyword_parameter");
        if parameter.kind() == "block_parameter" {
            continue;
        }
        parameters.push(Parameter { name, shape: Shape::Unknown, optional: one(&parameter), rest });
    }
    let kind =
        if walk.collector.container().is_some() { DefinitionKind::Method } else { DefinitionKind::Function };
    let body = node.child_by_field_name("body");
    // A method returns its last expression.
    let last =
        body.and_then(|body| if body.kind() == "body_statement" { children(body).pop() } else { Some(body) });
    let result = last
        .filter(|last| {
            matches!(last.kind(), "call" | "instance_variable")
                || last.kind() == "identifier" && walk.text(*last) == "new"
        })
        .map(|child| walk.shape(child));
    if let Some(object) = node.child_by_field_name("object") {
        walk.skip_node(object);
    }
    walk.function(&Function { node, name, kind, reach: Reach::Everyone, parameters, result, body });
}

fn assignment(walk: &mut Walk<'_>, node: Node<'_>) {
    let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right"))
    else {
        return;
    };
    let shape = walk.shape(right);
    match left.kind() {
        "identifier" => {
            walk.visit(right);
            walk.collector.scopes.bind(walk.text(left), shape);
        }
        "instance_variable" => {
            walk.visit(right);
            if shape != Shape::Unknown {
                let mut definition = walk.collector.definition(walk.text(left), DefinitionKind::Field, left);
                definition.reach = Reach::File;
                definition.gives = Some(shape);
                walk.collector.define(definition);
            }
        }
        "constant" if makes_type(walk, right) => {
            let mut definition = walk.collector.definition(walk.text(left), DefinitionKind::Type, node);
            definition.line = line_of(left);
            definition.signature = digest([right], walk.collector.text, |child| {
                child.kind() == "simple_symbol" || child.kind() == ","
            });
            walk.collector.define(definition);
            let container = walk.collector.enter(walk.text(left));
            struct_constructor(walk, right);
            for symbol in right.child_by_field_name("arguments").map(children).unwrap_or_default() {
                if symbol.kind() == "simple_symbol" {
                    let name = walk.text(symbol).trim_start_matches(':').to_owned();
                    define_symbol(walk, symbol, &name, DefinitionKind::Method);
                }
            }
            right.child_by_field_name("block").into_iter().for_each(|block| walk.visit(block));
            walk.collector.leave(container);
        }
        "constant" => {
            let kind = if walk.collector.container().is_some() {
                DefinitionKind::Field
            } else {
                DefinitionKind::Value
            };
            let at = walk.value(node, left, kind, Reach::Everyone, Some(shape), Some(right));
            walk.visit_within(at, right);
            if right.kind() == "array" && makes_methods(walk.collector.text) {
                for symbol in children(right).into_iter().filter(|child| child.kind() == "simple_symbol") {
                    let name = walk.text(symbol).trim_start_matches(':').to_owned();
                    walk.record_use(symbol, &name, Role::Value, Some(Shape::Unknown), None);
                }
            }
        }
        "left_assignment_list" => {
            walk.visit(right);
            children(left)
                .into_iter()
                .for_each(|name| walk.collector.scopes.bind(walk.text(name), Shape::Unknown));
        }
        _ => {
            walk.visit(left);
            walk.visit(right);
        }
    }
}

/// Returns true if a text makes methods by their names, so that a list of symbols may be one of methods.
fn makes_methods(text: &str) -> bool {
    ["define_method", "module_eval", "class_eval", "def_delegators", "delegate"]
        .iter()
        .any(|name| text.contains(name))
}

/// Records the constructor of a struct: it takes a value for each member.
fn struct_constructor(walk: &mut Walk<'_>, node: Node<'_>) {
    let list = node.child_by_field_name("arguments").map(children).unwrap_or_default();
    let members = list.iter().filter(|child| child.kind() == "simple_symbol").count();
    let is_struct =
        node.child_by_field_name("receiver").is_some_and(|receiver| walk.text(receiver) == "Struct");
    if !is_struct || members != list.len() {
        return;
    }
    let mut definition = walk.collector.definition("initialize", DefinitionKind::Method, node);
    definition.arity = Some(Arity { least: 0, most: u16::try_from(members).ok() });
    walk.collector.define(definition);
}

/// Marks the methods of a class behind `private` or `protected`: they are called without a receiver.
fn mark_hidden(walk: &mut Walk<'_>, body: Node<'_>, from: usize) {
    let mut visibility = None;
    let mut hidden: HashMap<u32, &str> = HashMap::new();
    for part in children(body) {
        match (part.kind(), walk.text(part)) {
            ("identifier", word @ ("private" | "protected")) => visibility = Some(word),
            ("identifier", "public") => visibility = None,
            ("method", _) => {
                let name = part.child_by_field_name("name");
                hidden.extend(name.zip(visibility).map(|(name, word)| (line_of(name), word)));
            }
            // `private def name`.
            ("call", text) if text.starts_with("private def") || text.starts_with("protected def") => {
                let word = if text.starts_with("private") { "private" } else { "protected" };
                hidden.insert(line_of(part), word);
            }
            _ => {}
        }
    }
    let methods = walk.collector.facts.definitions.iter_mut().skip(from);
    for method in methods.filter(|definition| definition.kind == DefinitionKind::Method) {
        if let Some(word) = hidden.get(&method.line) {
            method.header = format!("{word}{TOKEN_END}{}", method.header).into();
            method.signature ^= 1;
        }
    }
}

/// `Struct.new(…)`, `Data.define(…)`, `Class.new(…)`.
fn makes_type(walk: &Walk<'_>, node: Node<'_>) -> bool {
    let receiver =
        node.child_by_field_name("receiver").map(|receiver| walk.text(receiver)).unwrap_or_default();
    node.kind() == "call" && matches!(receiver, "Struct" | "Data" | "Class")
}

#[cfg(test)]
mod tests;
