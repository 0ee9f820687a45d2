//! Calls and constructions, with their arguments.

use tree_sitter::Node;

use super::{Grammar, Walk, dotted, parts};
use crate::facts::{Role, Shape};
use crate::package::is_type;
use crate::syntax::{children, line_of};

impl<'t> Walk<'t> {
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
            .map(|node| self.text(node).into())
            .collect();
        let mut uses = self.collector.facts.uses.iter_mut().skip(first);
        if let Some(call) = uses.rfind(|usage| usage.role == Role::Call).filter(|_| !named.is_empty()) {
            call.keywords = named;
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
    pub(crate) fn creation(&mut self, type_node: Node<'_>, arguments: Option<Node<'_>>) {
        let count = arguments.and_then(argument_count);
        let first = self.collector.facts.uses.len();
        let head = self.head(type_node);
        if self.grammar.paths.contains(&head.kind()) {
            self.path(head, Role::Call, count);
        } else {
            self.use_bare_name(head, Role::Call, count);
        }
        if head != type_node {
            for child in children(type_node).into_iter().filter(|child| *child != head) {
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
        let is_around = |definition: &&crate::facts::Definition| {
            is_type(definition) && around.as_deref() == Some(&*crate::resolve::path_of(definition))
        };
        let parent = self
            .collector
            .facts
            .definitions
            .iter()
            .rfind(is_around)
            .and_then(|definition| definition.extends.first());
        if let Some(parent) = parent.and_then(|parent| parent.split('<').next()).map(str::to_owned) {
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
            constructors.iter().filter(|constructor| !calls_another(**constructor)).copied().collect();
        if constructors.is_empty() {
            places.push(name);
        }
        let is_class =
            |definition: &crate::facts::Definition| is_type(definition) && definition.line == line_of(name);
        let class = self.collector.facts.definitions.iter().rposition(is_class);
        let before = self.collector.within;
        self.collector.within = class.and_then(|at| u32::try_from(at).ok()).or(before);
        for place in places.into_iter().map(|place| place.child_by_field_name("name").unwrap_or(place)) {
            self.record_use(place, simple, Role::Call, Some(Shape::Of(base.as_str().into())), Some(0));
        }
        self.collector.within = before;
    }
}

/// Returns the object, name and arguments of a call of a member.
pub(super) fn invocation<'n>(
    grammar: &Grammar,
    node: Node<'n>,
) -> Option<(Option<Node<'n>>, Node<'n>, Option<Node<'n>>)> {
    let (_, object, name, arguments) = grammar.invocations.iter().find(|(kind, ..)| *kind == node.kind())?;
    let field = |name: &str| node.child_by_field_name(name);
    Some((field(object), field(name)?, field(arguments)))
}

/// Returns the number of written arguments. `None` if some of them expand to any number.
pub(crate) fn argument_count(arguments: Node<'_>) -> Option<u16> {
    pub(super) const MANY: &[&str] = &["spread", "variadic", "splat", "unpack", "block_argument"];
    let all = children(arguments);
    let many = |node: &Node<'_>| MANY.iter().any(|part| node.kind().contains(part));
    if all.iter().any(|child| many(child) || child.named_child(0).is_some_and(|inner| many(&inner))) {
        return None;
    }
    let count = all.iter().filter(|child| !child.kind().contains("comment")).count();
    u16::try_from(count).ok()
}

/// Returns the name by which an argument is passed: `name = value`, `name: value`.
pub(super) fn argument_name(argument: Node<'_>) -> Option<Node<'_>> {
    match argument.kind() {
        "value_argument" => {
            argument.named_child(0).filter(|_| argument.child(1).is_some_and(|child| child.kind() == "="))
        }
        "argument" => argument.child_by_field_name("name"),
        "pair" => argument.child_by_field_name("key").filter(|key| key.kind() == "hash_key_symbol"),
        _ => None,
    }
}
