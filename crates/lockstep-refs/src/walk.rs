//! Reads code by a table: common constructs (calls, members, names, types, locals) are handled here, and a
//! language defines the names of its nodes and its own constructs ([`Grammar::special`]).
//!
//! Paths of names have `.` between their parts in all languages.

use std::collections::HashSet;

use tree_sitter::{Language as Parser, Node};

use crate::fact_builder::FactBuilder;
use crate::facts::{Arity, DefinitionKind, Facts, Import, ImportForm, ImportedName, Reach, Role, Shape, Use};
use crate::language::Language;
use crate::package::is_type;
use crate::scope;
use crate::syntax::{children, digest, header, line_of, parse, problems, unread, unread_lines};

/// The node kinds of a language, and the names of their fields. An empty field means the first child, or for
/// arguments the last.
pub(crate) struct Grammar {
    pub(crate) language: Language,
    pub(crate) parser: fn() -> Parser,
    pub(crate) names: &'static [&'static str],
    pub(crate) types: &'static [&'static str],
    /// Types with arguments, and arrays: the head is the first type in them.
    pub(crate) generics: &'static [&'static str],
    /// Whole paths of names.
    pub(crate) paths: &'static [&'static str],
    /// Calls: the callee and the arguments.
    pub(crate) calls: &'static [(&'static str, &'static str, &'static str)],
    /// Calls of members: the object, if there is one, the name and the arguments.
    pub(crate) invocations: &'static [(&'static str, &'static str, &'static str, &'static str)],
    /// Members: the object and the name.
    pub(crate) members: &'static [(&'static str, &'static str, &'static str)],
    /// Object creations: the type and the arguments.
    pub(crate) creations: &'static [(&'static str, &'static str, &'static str)],
    pub(crate) itself: &'static [&'static str],
    pub(crate) parent: &'static [&'static str],
    /// Subscripts: the object.
    pub(crate) elements: &'static [(&'static str, &'static str)],
    /// Casts: the type.
    pub(crate) casts: &'static [(&'static str, &'static str)],
    /// Expressions with the value of their content: parentheses, `&x`, `x!!`.
    pub(crate) transparent: &'static [&'static str],
    pub(crate) skipped: &'static [&'static str],
    /// Functions, whose bodies do not belong to the enclosing type.
    pub(crate) functions: &'static [&'static str],
    /// Set if a file is like a function body: a script.
    pub(crate) script: bool,
    /// Returns the shape of expressions that only this language has. The last argument is the depth in the
    /// expression. Inner expressions are evaluated with [`Walk::shape_within`], so that the depth is counted.
    pub(crate) infer: fn(&Walk<'_>, Node<'_>, usize) -> Option<Shape>,
    /// Handles constructs that only this language has. Returns true if the node is finished.
    pub(crate) special: fn(&mut Walk<'_>, Node<'_>) -> bool,
}

impl Grammar {
    /// Returns an empty grammar of a language.
    pub(crate) const fn of(
        language: Language,
        parser: fn() -> Parser,
        special: fn(&mut Walk<'_>, Node<'_>) -> bool,
    ) -> Self {
        Self {
            language,
            parser,
            names: &[],
            types: &[],
            generics: &[],
            paths: &[],
            calls: &[],
            invocations: &[],
            members: &[],
            creations: &[],
            itself: &[],
            parent: &[],
            elements: &[],
            casts: &[],
            transparent: &[],
            skipped: &[],
            functions: &[],
            script: false,
            infer: |_, _, _| None,
            special,
        }
    }
}

pub(crate) fn facts(grammar: &'static Grammar, text: &str) -> Facts {
    let Some(tree) = parse(&(grammar.parser)(), text) else {
        return Facts::unparsable(grammar.language);
    };
    let mut walk =
        Walk { grammar, collector: FactBuilder::new(grammar.language, text), seen: HashSet::new() };
    if grammar.script {
        walk.collector.scopes.open();
    }
    walk.children(tree.root_node());
    let mut facts = walk.collector.facts;
    facts.problems += problems(&tree);
    facts.unread = unread_lines(&tree, text);
    facts
}

/// Returns true if two texts have the same tokens, and in unparsed parts the same words, ignoring comment
/// lines.
pub(crate) fn same_tokens(grammar: &Grammar, one: &str, other: &str) -> bool {
    let tokens = |text: &str| {
        let tree = parse(&(grammar.parser)(), text)?;
        let unread = unread(&tree).into_iter().filter_map(|range| text.get(range));
        let lines = unread.flat_map(str::lines).filter(|line| !line.trim_start().starts_with(['/', '*']));
        let words: Vec<String> = lines.flat_map(str::split_whitespace).map(str::to_owned).collect();
        Some((digest([tree.root_node()], text, |_| false), words))
    };
    tokens(one).zip(tokens(other)).is_some_and(|(one, other)| one == other)
}

/// A walk through one tree.
pub(crate) struct Walk<'t> {
    pub(crate) grammar: &'static Grammar,
    pub(crate) collector: FactBuilder<'t>,
    /// Nodes that are already handled and must be skipped.
    seen: HashSet<usize>,
}

pub(crate) struct Function<'n> {
    pub(crate) node: Node<'n>,
    pub(crate) name: Node<'n>,
    pub(crate) kind: DefinitionKind,
    pub(crate) reach: Reach,
    pub(crate) parameters: Vec<Parameter<'n>>,
    pub(crate) result: Option<Shape>,
    pub(crate) body: Option<Node<'n>>,
}

pub(crate) struct Parameter<'n> {
    pub(crate) name: Option<Node<'n>>,
    pub(crate) shape: Shape,
    pub(crate) optional: bool,
    pub(crate) rest: bool,
}

pub(crate) struct Type<'n> {
    pub(crate) node: Node<'n>,
    pub(crate) name: Node<'n>,
    pub(crate) kind: DefinitionKind,
    pub(crate) reach: Reach,
    pub(crate) extends: Vec<Node<'n>>,
    pub(crate) body: Option<Node<'n>>,
}

impl<'t> Walk<'t> {
    pub(crate) fn text(&self, node: Node<'_>) -> &'t str {
        self.collector.text(node)
    }

    pub(crate) fn visit(&mut self, node: Node<'_>) {
        if self.seen.contains(&node.id()) || !self.collector.descend() {
            return;
        }
        if !(self.grammar.special)(self, node) {
            self.visit_default(node);
        }
        self.collector.ascend();
    }

    pub(crate) fn children(&mut self, node: Node<'_>) {
        self.children_but(node, None);
    }

    /// Visits the children of a node, except one. Children in type positions are visited as types.
    pub(crate) fn children_but(&mut self, node: Node<'_>, left_out: Option<Node<'_>>) {
        let mut cursor = node.walk();
        let mut more = cursor.goto_first_child();
        while more {
            let child = cursor.node();
            if child.is_named() && Some(child) != left_out {
                match cursor.field_name() {
                    Some("type" | "returns" | "return_type") => self.visit_type(child),
                    _ => self.visit(child),
                }
            }
            more = cursor.goto_next_sibling();
        }
    }

    /// Visits a node in a type position.
    pub(crate) fn visit_type(&mut self, node: Node<'_>) {
        if self.seen.contains(&node.id()) || !self.collector.descend() {
            return;
        }
        if !(self.grammar.special)(self, node) {
            self.usual_type(node);
        }
        self.collector.ascend();
    }

    /// Visits a type in the common way.
    pub(crate) fn usual_type(&mut self, node: Node<'_>) {
        let (grammar, kind) = (self.grammar, node.kind());
        if grammar.paths.contains(&kind) {
            self.path(node, Role::Type, None);
        } else if grammar.names.contains(&kind) || grammar.types.contains(&kind) {
            self.use_bare_name(node, Role::Type, None);
        } else if !grammar.skipped.contains(&kind) {
            children(node).into_iter().for_each(|child| self.visit_type(child));
        }
    }

    /// Visits a node in the common way.
    pub(crate) fn visit_default(&mut self, node: Node<'_>) {
        let (grammar, kind) = (self.grammar, node.kind());
        if grammar.skipped.contains(&kind) || kind.contains("comment") {
            return;
        }
        if let Some((object, name, arguments)) = invocation(grammar, node) {
            self.invocation(object, name, arguments);
        } else if let Some((callee, arguments)) = parts(grammar.calls, node) {
            self.call(callee, Some(arguments));
        } else if let Some((made, arguments)) = parts(grammar.creations, node) {
            self.creation(made, Some(arguments));
        } else if let Some((object, name)) = parts(grammar.members, node) {
            self.member(object, name, Role::Value, None);
        } else if grammar.paths.contains(&kind) {
            let role = if kind.contains("type") { Role::Type } else { Role::Value };
            self.path(node, role, None);
        } else if grammar.types.contains(&kind) {
            self.use_bare_name(node, Role::Type, None);
        } else if grammar.names.contains(&kind) {
            self.use_bare_name(node, Role::Value, None);
        } else {
            self.children(node);
        }
    }

    /// Records a call of `callee`.
    pub(crate) fn call(&mut self, callee: Node<'_>, arguments: Option<Node<'_>>) {
        let count = arguments.and_then(argument_count);
        let grammar = self.grammar;
        let first = self.collector.facts.uses.len();
        if let Some((object, name)) = parts(grammar.members, callee) {
            self.member(object, name, Role::Call, count);
        } else if grammar.paths.contains(&callee.kind()) {
            self.path(callee, Role::Call, count);
        } else if grammar.names.contains(&callee.kind()) || grammar.types.contains(&callee.kind()) {
            self.use_bare_name(callee, Role::Call, count);
        } else if grammar.generics.contains(&callee.kind()) {
            self.creation(callee, arguments);
            return;
        } else {
            self.visit(callee);
        }
        if let Some(arguments) = arguments {
            self.name_arguments(first, arguments);
            self.children(arguments);
        }
    }

    /// Sets the argument names of the call among the uses from `first` on.
    pub(crate) fn name_arguments(&mut self, first: usize, arguments: Node<'_>) {
        let named: Vec<Box<str>> = children(arguments)
            .into_iter()
            .filter_map(argument_name)
            .map(|it| self.text(it).into())
            .collect();
        let mut uses = self.collector.facts.uses.iter_mut().skip(first);
        if let Some(call) = uses.rfind(|it| it.role == Role::Call).filter(|_| !named.is_empty()) {
            call.keywords = named;
        }
    }

    /// Records the use of a member of an object.
    pub(crate) fn member(&mut self, object: Node<'_>, name: Node<'_>, role: Role, arguments: Option<u16>) {
        self.visit(object);
        let of = self.shape(object);
        let simple = if self.grammar.generics.contains(&name.kind()) { self.head(name) } else { name };
        self.collector.use_name(simple, role, Some(of), arguments);
        if simple != name {
            children(name)
                .into_iter()
                .filter(|child| *child != simple)
                .for_each(|child| self.visit_type(child));
        }
    }

    /// Records a call of a member, or of a name.
    pub(crate) fn invocation(
        &mut self,
        object: Option<Node<'_>>,
        name: Node<'_>,
        arguments: Option<Node<'_>>,
    ) {
        let count = arguments.map_or(Some(0), argument_count);
        let first = self.collector.facts.uses.len();
        match object {
            Some(object) => self.member(object, name, Role::Call, count),
            None => self.use_bare_name(name, Role::Call, count),
        }
        if let Some(arguments) = arguments {
            self.name_arguments(first, arguments);
            self.children(arguments);
        }
    }

    /// Records the creation of an object of the type at `made`: a call of the type.
    pub(crate) fn creation(&mut self, made: Node<'_>, arguments: Option<Node<'_>>) {
        let count = arguments.and_then(argument_count);
        let first = self.collector.facts.uses.len();
        let head = self.head(made);
        if self.grammar.paths.contains(&head.kind()) {
            self.path(head, Role::Call, count);
        } else {
            self.use_bare_name(head, Role::Call, count);
        }
        if head != made {
            for child in children(made).into_iter().filter(|child| *child != head) {
                self.visit(child);
            }
        }
        if let Some(arguments) = arguments {
            self.name_arguments(first, arguments);
            self.children(arguments);
        }
    }

    /// Records the creation of an object of the enclosing type: `new self`.
    pub(crate) fn own_creation(&mut self, node: Node<'_>, arguments: Option<Node<'_>>) {
        let count = arguments.map_or(Some(0), argument_count);
        let first = self.collector.facts.uses.len();
        if let Some(around) = self.collector.container() {
            let name = around.rsplit('.').next().unwrap_or(&around);
            self.record_use(node, name, Role::Call, None, count);
        }
        if let Some(arguments) = arguments {
            self.name_arguments(first, arguments);
            self.children(arguments);
        }
    }

    /// Records a call of the base type's constructor, in languages whose constructors have the names of their
    /// types.
    pub(crate) fn super_constructor_call(&mut self, node: Node<'_>, arguments: Option<Node<'_>>) {
        let count = arguments.and_then(argument_count);
        let around = self.collector.container();
        let is_around = |it: &&crate::facts::Definition| {
            is_type(it) && around.as_deref() == Some(&*crate::resolve::path_of(it))
        };
        let parent =
            self.collector.facts.definitions.iter().rfind(is_around).and_then(|it| it.extends.first());
        if let Some(parent) = parent.and_then(|it| it.split('<').next()).map(str::to_owned) {
            // It is a call of the constructor, and no use of the type's name.
            let name = parent.rsplit('.').next().unwrap_or(&parent).to_owned();
            self.record_use(node, &name, Role::Call, Some(Shape::Of(parent.into())), count);
        }
        if let Some(arguments) = arguments {
            self.children(arguments);
        }
    }

    /// Records the calls of the base type's constructor that are not written: in constructors that call no other one, and in a class
    /// without constructors.
    pub(crate) fn default_calls(
        &mut self,
        name: Node<'_>,
        base: Node<'_>,
        constructors: &[Node<'_>],
        calls_another: impl Fn(Node<'_>) -> bool,
    ) {
        let base = dotted(self.text(self.head(base)));
        let simple = base.rsplit('.').next().unwrap_or(&base);
        let mut places: Vec<Node<'_>> =
            constructors.iter().filter(|it| !calls_another(**it)).copied().collect();
        if constructors.is_empty() {
            places.push(name);
        }
        let is_class = |it: &crate::facts::Definition| is_type(it) && it.line == line_of(name);
        let class = self.collector.facts.definitions.iter().rposition(is_class);
        let before = self.collector.within;
        self.collector.within = class.and_then(|at| u32::try_from(at).ok()).or(before);
        for place in places.into_iter().map(|it| it.child_by_field_name("name").unwrap_or(it)) {
            self.record_use(place, simple, Role::Call, Some(Shape::Of(base.as_str().into())), Some(0));
        }
        self.collector.within = before;
    }

    /// Records the use of a bare name, unless it is a local variable.
    pub(crate) fn use_bare_name(&mut self, node: Node<'_>, role: Role, arguments: Option<u16>) {
        if role == Role::Type || self.collector.scopes.get(self.text(node)).is_none() {
            self.collector.use_name(node, role, None, arguments);
        }
    }

    /// Records a path of names: the last is used, the preceding ones qualify it, and the first is used too.
    pub(crate) fn path(&mut self, node: Node<'_>, role: Role, arguments: Option<u16>) {
        let path = dotted(self.text(node));
        let Some((before, name)) = path.rsplit_once('.') else {
            let name = path.as_str();
            return self.record_use(node, name, role, None, arguments);
        };
        let mut parts = before.split('.');
        let first = parts.next().unwrap_or_default();
        if let Some(local) = self.collector.scopes.get(first).cloned() {
            let of = parts.fold(local, scope::member);
            return self.record_use(node, name, role, Some(of), arguments);
        }
        self.prefix(node, before);
        self.record_use(node, name, role, Some(Shape::Name(before.into())), arguments);
    }

    /// Records the parts of a path before its last: namespaces and types.
    pub(crate) fn prefix(&mut self, node: Node<'_>, before: &str) {
        let mut prefix = String::new();
        for part in before.split('.').filter(|part| !part.is_empty()) {
            let of = (!prefix.is_empty()).then(|| Shape::Name(prefix.as_str().into()));
            self.record_use(node, part, Role::Type, of, None);
            if !prefix.is_empty() {
                prefix.push('.');
            }
            prefix.push_str(part);
        }
    }

    /// Excludes a node from the rest of the walk.
    pub(crate) fn skip_node(&mut self, node: Node<'_>) {
        self.seen.insert(node.id());
    }

    /// Records the use of a name that differs from the node's text.
    pub(crate) fn record_use(
        &mut self,
        node: Node<'_>,
        name: &str,
        role: Role,
        of: Option<Shape>,
        arguments: Option<u16>,
    ) {
        if name.is_empty() {
            return;
        }
        let (within, line) = (self.collector.within, line_of(node));
        let (name, keywords) = (name.into(), Vec::new());
        self.collector.facts.uses.push(Use { name, line, role, of, arguments, keywords, within });
    }

    pub(crate) fn shape(&self, node: Node<'_>) -> Shape {
        self.shape_at(node, 0)
    }

    /// Returns the shape of a part of an expression at this depth.
    pub(crate) fn shape_within(&self, node: Node<'_>, depth: usize) -> Shape {
        self.shape_at(node, depth + 1)
    }

    fn shape_at(&self, node: Node<'_>, depth: usize) -> Shape {
        let (grammar, kind) = (self.grammar, node.kind());
        if depth > 24 {
            return Shape::Unknown;
        }
        if let Some(shape) = (grammar.infer)(self, node, depth) {
            return shape;
        }
        if grammar.itself.contains(&kind) {
            return Shape::Itself;
        }
        if grammar.parent.contains(&kind) {
            return Shape::Parent;
        }
        if let Some((object, name, _)) = invocation(grammar, node) {
            let name = self.text(name);
            return scope::call(match object {
                Some(object) => scope::member(self.shape_at(object, depth + 1), name),
                None => Shape::Name(name.into()),
            });
        }
        if let Some((callee, _)) = parts(grammar.calls, node) {
            return scope::call(self.shape_at(callee, depth + 1));
        }
        if let Some((made, _)) = parts(grammar.creations, node) {
            return self.type_shape(made);
        }
        if let Some((object, name)) = parts(grammar.members, node) {
            let name = if grammar.generics.contains(&name.kind()) { self.head(name) } else { name };
            return scope::member(self.shape_at(object, depth + 1), self.text(name));
        }
        if let Some((_, field)) = grammar.elements.iter().find(|(element, _)| *element == kind) {
            let object = if field.is_empty() { node.named_child(0) } else { node.child_by_field_name(field) };
            return object.map_or(Shape::Unknown, |object| scope::element(self.shape_at(object, depth + 1)));
        }
        if let Some((_, field)) = grammar.casts.iter().find(|(cast, _)| *cast == kind) {
            return node.child_by_field_name(field).map_or(Shape::Unknown, |type_| self.type_shape(type_));
        }
        if grammar.transparent.contains(&kind) {
            let inner =
                node.named_child(u32::try_from(node.named_child_count()).unwrap_or(1).saturating_sub(1));
            return inner.map_or(Shape::Unknown, |inner| self.shape_at(inner, depth + 1));
        }
        if grammar.names.contains(&kind) || grammar.types.contains(&kind) {
            let name = self.text(node);
            return self.collector.scopes.get(name).cloned().unwrap_or_else(|| Shape::Name(name.into()));
        }
        if grammar.paths.contains(&kind) {
            let path = dotted(self.text(node));
            let (first, rest) = path.split_once('.').unwrap_or((&path, ""));
            return match self.collector.scopes.get(first) {
                Some(local) => rest.split('.').filter(|p| !p.is_empty()).fold(local.clone(), scope::member),
                None => Shape::Name(path.into()),
            };
        }
        if grammar.generics.contains(&kind) {
            return self.type_shape(node);
        }
        Shape::Unknown
    }

    /// Returns the shape of values of the type at a node.
    pub(crate) fn type_shape(&self, node: Node<'_>) -> Shape {
        self.type_shape_at(node, 0)
    }

    fn type_shape_at(&self, node: Node<'_>, depth: usize) -> Shape {
        if depth > 8 {
            return Shape::Unknown;
        }
        let head = self.head(node);
        let grammar = self.grammar;
        // The C++ node around a type argument.
        let node =
            node.child_by_field_name("type").filter(|_| node.kind() == "type_descriptor").unwrap_or(node);
        let shape = match head.kind() {
            kind if grammar.paths.contains(&kind)
                || grammar.types.contains(&kind)
                || grammar.names.contains(&kind) =>
            {
                Shape::Of(dotted(self.text(head)).into())
            }
            _ => Shape::Unknown,
        };
        // The arguments of a path are those of its last part.
        let mut node = node;
        while let Some(last) =
            node.child_by_field_name("name").filter(|_| grammar.paths.contains(&node.kind()))
        {
            node = last;
        }
        if !grammar.generics.contains(&node.kind()) {
            return shape;
        }
        let is_list = ["array", "slice", "map", "channel"].iter().any(|part| node.kind().contains(part));
        let mut held = Vec::new();
        for child in children(node) {
            match child.kind().contains("argument") {
                true => held.extend(
                    children(child).into_iter().take(4).map(|held| self.type_shape_at(held, depth + 1)),
                ),
                false if is_list => held.push(self.type_shape_at(child, depth + 1)),
                false => {}
            }
        }
        held.retain(|shape| *shape != Shape::Unknown);
        match (is_list, held.is_empty()) {
            (true, _) => Shape::Applied(Box::new(Shape::Of("[]".into())), held),
            (false, true) => shape,
            (false, false) => Shape::Applied(Box::new(shape), held),
        }
    }

    /// Returns the first name of a written type.
    pub(crate) fn head<'n>(&self, node: Node<'n>) -> Node<'n> {
        let grammar = self.grammar;
        let is_name = |kind| {
            grammar.paths.contains(&kind) || grammar.types.contains(&kind) || grammar.names.contains(&kind)
        };
        let mut node = node;
        for _ in 0..8 {
            if is_name(node.kind()) {
                break;
            }
            let named = children(node);
            let next =
                named.iter().find(|child| is_name(child.kind()) || grammar.generics.contains(&child.kind()));
            match next.or(named.first()) {
                Some(next) => node = *next,
                None => break,
            }
        }
        node
    }

    pub(crate) fn function(&mut self, function: &Function<'_>) {
        let mut definition =
            self.collector.definition(self.text(function.name), function.kind, function.node);
        let text = self.collector.text;
        let body = function.body;
        let name = function.name;
        definition.reach = function.reach;
        definition.signature = digest([function.node], text, |node| Some(node) == body || node == name);
        definition.body = digest(body, text, |_| false);
        definition.header = header(function.node, Some(name), body.as_slice(), text);
        // Annotations may come first, but the line of a definition is that of its name.
        definition.line = line_of(name);
        definition.arity = arity(&function.parameters);
        definition.gives = function.result.clone();
        let before = self.collector.within;
        self.collector.within = self.collector.define(definition);
        self.collector.scopes.open();
        for parameter in &function.parameters {
            if let Some(name) = parameter.name {
                self.collector.scopes.bind(self.text(name), parameter.shape.clone());
            }
        }
        self.skip_node(name);
        self.children(function.node);
        self.collector.scopes.close();
        self.collector.within = before;
    }

    pub(crate) fn type_(&mut self, type_: &Type<'_>) {
        let text = self.collector.text;
        let grammar = self.grammar;
        let name = self.text(type_.name);
        let mut definition = self.collector.definition(name, type_.kind, type_.node);
        let inside = |node: Node<'_>| grammar.functions.contains(&node.kind());
        let (body, name_node) = (type_.body, type_.name);
        // Its constructor is a definition of its own.
        let constructor = match grammar.language {
            Language::Java => type_.node.child_by_field_name("parameters"),
            Language::Kotlin => {
                children(type_.node).into_iter().find(|it| it.kind() == "primary_constructor")
            }
            _ => None,
        };
        let whole = type_.kind == DefinitionKind::Interface;
        definition.line = line_of(name_node);
        definition.reach = type_.reach;
        // Subtypes must implement these. Another signature of one concerns its overrides, not every subtype.
        let members = body.map(children).unwrap_or_default().into_iter().filter(|it| is_asked(*it));
        let demanded = members.filter(|member| whole || is_demanded(*member, text));
        let demanded: Vec<Node<'_>> = demanded.map(|member| demand(member, grammar)).collect();
        definition.signature = digest(std::iter::once(type_.node).chain(demanded), text, |node| {
            Some(node) == body || node == name_node || Some(node) == constructor
        });
        definition.body = digest(body, text, inside);
        let left_out: Vec<Node<'_>> = body.into_iter().chain(constructor).collect();
        definition.header = header(type_.node, Some(name_node), &left_out, text);
        definition.extends =
            type_.extends.iter().map(|node| dotted(self.text(self.head(*node))).into()).collect();
        let before = self.collector.within;
        self.collector.within = self.collector.define(definition);
        for node in &type_.extends {
            self.extended(*node);
        }
        let container = self.collector.enter(&dotted(name));
        self.skip_node(name_node);
        self.children(type_.node);
        self.collector.leave(container);
        self.collector.within = before;
    }

    /// Records a type that another one extends.
    pub(crate) fn extended(&mut self, node: Node<'_>) {
        let head = self.head(node);
        self.skip_node(head);
        match self.grammar.paths.contains(&head.kind()) {
            true => self.path(head, Role::Extend, None),
            false => self.use_bare_name(head, Role::Extend, None),
        }
    }

    /// Records a variable, constant or field.
    pub(crate) fn value(
        &mut self,
        node: Node<'_>,
        name: Node<'_>,
        kind: DefinitionKind,
        reach: Reach,
        gives: Option<Shape>,
        initial: Option<Node<'_>>,
    ) -> Option<u32> {
        let text = self.collector.text;
        let mut definition = self.collector.definition(self.text(name), kind, name);
        definition.reach = reach;
        let left_out: Vec<Node<'_>> = sibling_names(node, name).into_iter().chain(initial).collect();
        definition.signature = digest([node], text, |it| it == name || left_out.contains(&it));
        definition.body = digest(initial, text, |_| false);
        definition.header = header(node, Some(name), &left_out, text);
        definition.gives = gives;
        self.collector.define(definition)
    }

    /// Walks a node as a part of the definition at `within`.
    pub(crate) fn visit_within(&mut self, within: Option<u32>, node: Node<'_>) {
        let before = self.collector.within;
        if within.is_some() {
            self.collector.within = within;
        }
        self.visit(node);
        self.collector.within = before;
    }

    /// Binds a local variable with its type, otherwise with its initial value.
    pub(crate) fn local(&mut self, name: Node<'_>, type_: Option<Node<'_>>, initial: Option<Node<'_>>) {
        let shape = match (type_, initial) {
            (Some(type_), _) => self.type_shape(type_),
            (None, Some(initial)) => self.shape(initial),
            (None, None) => Shape::Unknown,
        };
        self.collector.scopes.bind(self.text(name), shape);
    }

    pub(crate) fn is_inside_function(&self) -> bool {
        self.collector.scopes.is_inside()
    }

    /// Records an import of `module`.
    pub(crate) fn import(&mut self, node: Node<'_>, import: ImportOf<'_>) {
        let line = line_of(node);
        let name =
            |(name, local): (&str, &str)| ImportedName { name: name.into(), local: local.into(), line };
        self.collector.facts.imports.push(Import {
            module: import.module.into(),
            names: import.name.map(name).into_iter().collect(),
            alias: import.alias.map(Into::into),
            glob: import.glob,
            reexport: false,
            form: import.form,
            container: self.collector.container(),
            line,
        });
    }
}

#[derive(Clone, Copy)]
pub(crate) struct ImportOf<'a> {
    pub(crate) module: &'a str,
    /// One name of it, and its local name.
    pub(crate) name: Option<(&'a str, &'a str)>,
    pub(crate) alias: Option<&'a str>,
    pub(crate) glob: bool,
    pub(crate) form: ImportForm,
}

impl<'a> ImportOf<'a> {
    pub(crate) fn module(module: &'a str) -> Self {
        Self { module, name: None, alias: None, glob: false, form: ImportForm::Plain }
    }
}

/// Returns the object, name and arguments of a call of a member.
fn invocation<'n>(
    grammar: &Grammar,
    node: Node<'n>,
) -> Option<(Option<Node<'n>>, Node<'n>, Option<Node<'n>>)> {
    let (_, object, name, arguments) = grammar.invocations.iter().find(|(kind, ..)| *kind == node.kind())?;
    let field = |name: &str| node.child_by_field_name(name);
    Some((field(object), field(name)?, field(arguments)))
}

/// Returns the two parts of a node that a table names.
fn parts<'n>(table: &[(&str, &str, &str)], node: Node<'n>) -> Option<(Node<'n>, Node<'n>)> {
    let (_, first, second) = table.iter().find(|(kind, ..)| *kind == node.kind())?;
    let last = || node.named_child(u32::try_from(node.named_child_count()).ok()?.checked_sub(1)?);
    let first = if first.is_empty() { node.named_child(0) } else { node.child_by_field_name(first) }?;
    let second = if second.is_empty() { last() } else { node.child_by_field_name(second) }?;
    (first != second).then_some((first, second))
}

/// Returns true if a member of an interface must be implemented: it is neither a type nor a constant, and has no body.
fn is_asked(member: Node<'_>) -> bool {
    const OTHERS: &[&str] =
        &["class", "interface", "enum", "record", "struct", "object", "const", "annotation"];
    let kind = member.kind();
    let has_body = children(member).iter().any(|part| part.kind().contains("body"));
    !OTHERS.iter().any(|it| kind.starts_with(it)) && !has_body && member.child_by_field_name("body").is_none()
}

/// The part of a demanded member that concerns every subtype: the name of a function, else all of it.
fn demand<'n>(member: Node<'n>, grammar: &Grammar) -> Node<'n> {
    let is_function = grammar.functions.contains(&member.kind()) || member.kind().contains("function");
    let mut declarator = member.child_by_field_name("declarator");
    while let Some(inner) = declarator.and_then(|it| it.child_by_field_name("declarator")) {
        declarator = Some(inner);
    }
    let declared = declarator.filter(|it| it.kind() == "field_identifier");
    member.child_by_field_name("name").filter(|_| is_function).or(declared).unwrap_or(member)
}

/// Returns true if a member has no body, so that subtypes must implement it: `abstract`, `= 0`.
fn is_demanded(member: Node<'_>, text: &str) -> bool {
    let written = |node: Node<'_>| text.get(node.byte_range()).unwrap_or_default();
    let is_abstract = |part: Node<'_>| {
        part.kind() == "abstract"
            || part.kind().contains("modifier") && written(part).split_whitespace().any(|it| it == "abstract")
    };
    let pure = || {
        let compact: String = written(member).split_whitespace().collect();
        compact.starts_with("virtual") && compact.trim_end_matches(';').ends_with("=0")
    };
    member.children(&mut member.walk()).any(is_abstract) || pure()
}

/// Returns the other names that a declaration introduces beside one, with the commas between them.
fn sibling_names<'n>(declaration: Node<'n>, name: Node<'n>) -> Vec<Node<'n>> {
    let holds = |it: &Node<'_>| it.start_byte() <= name.start_byte() && name.end_byte() <= it.end_byte();
    let parts: Vec<Node<'n>> = declaration.children(&mut declaration.walk()).collect();
    let field = |at: usize| declaration.field_name_for_child(u32::try_from(at).unwrap_or(u32::MAX));
    let Some(own) = parts.iter().position(holds) else { return Vec::new() };
    let Some(own_field) = field(own) else { return Vec::new() };
    let is_other = |at: usize| at != own && field(at) == Some(own_field);
    if !(0..parts.len()).any(is_other) {
        return Vec::new();
    }
    let left_out = (0..parts.len()).filter(|at| is_other(*at) || parts[*at].kind() == ",");
    left_out.map(|at| parts[at]).collect()
}

/// Returns the number of written arguments. `None` if some of them expand to any number.
pub(crate) fn argument_count(arguments: Node<'_>) -> Option<u16> {
    const MANY: &[&str] = &["spread", "variadic", "splat", "unpack", "block_argument"];
    let all = children(arguments);
    let many = |node: &Node<'_>| MANY.iter().any(|part| node.kind().contains(part));
    if all.iter().any(|child| many(child) || child.named_child(0).is_some_and(|inner| many(&inner))) {
        return None;
    }
    let count = all.iter().filter(|child| !child.kind().contains("comment")).count();
    u16::try_from(count).ok()
}

/// Returns the name by which an argument is passed: `name = value`, `name: value`.
fn argument_name(argument: Node<'_>) -> Option<Node<'_>> {
    match argument.kind() {
        "value_argument" => {
            argument.named_child(0).filter(|_| argument.child(1).is_some_and(|it| it.kind() == "="))
        }
        "argument" => argument.child_by_field_name("name"),
        "pair" => argument.child_by_field_name("key").filter(|it| it.kind() == "hash_key_symbol"),
        _ => None,
    }
}

/// Returns the number of arguments that the parameters accept.
pub(crate) fn arity(parameters: &[Parameter<'_>]) -> Option<Arity> {
    let needed = parameters.iter().filter(|parameter| !parameter.optional && !parameter.rest).count();
    let rest = parameters.iter().any(|parameter| parameter.rest);
    let all = u16::try_from(parameters.len()).ok()?;
    Some(Arity { least: u16::try_from(needed).ok()?, most: (!rest).then_some(all) })
}

/// Returns a path with `.` between its parts, without spaces and type arguments: `a::b<c>::d` is `a.b.d`.
pub(crate) fn dotted(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    let mut depth = 0_u32;
    for c in path.chars() {
        match c {
            '<' | '[' | '(' => depth += 1,
            '>' | ']' | ')' => depth = depth.saturating_sub(1),
            _ if depth > 0 || c.is_whitespace() || matches!(c, '*' | '&' | '?' | '!' | '`' | '@') => {}
            ':' | '\\' | '.' | '-' => {
                if !out.ends_with('.') && !out.is_empty() {
                    out.push('.');
                }
            }
            c => out.push(c),
        }
    }
    out.truncate(out.trim_end_matches('.').len());
    out
}

/// Returns the conventional file name of a type: `HTTPServer` is in `http_server`.
pub(crate) fn snake(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut out = String::new();
    for (at, letter) in letters.iter().enumerate() {
        let after_small = at > 0 && letters.get(at - 1).is_some_and(|it| !it.is_uppercase());
        let before_small = at > 0 && letters.get(at + 1).is_some_and(|it| it.is_lowercase());
        if letter.is_uppercase() && (after_small || before_small) {
            out.push('_');
        }
        out.extend(letter.to_lowercase());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_after_types() {
        for (name, expected) in
            [("HttpServer", "http_server"), ("HTTPServer", "http_server"), ("list", "list")]
        {
            assert_eq!(snake(name), expected);
        }
    }

    #[test]
    fn paths_are_written_with_dots() {
        for (path, expected) in
            [("a::b<c::d>::e", "a.b.e"), ("\\A\\B", "A.B"), ("::x", "x"), ("a . b", "a.b"), ("*T?", "T")]
        {
            assert_eq!(dotted(path), expected);
        }
    }
}
