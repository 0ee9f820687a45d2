//! Definitions: functions, types, variables and fields.

use tree_sitter::Node;

use super::{Grammar, Walk, dotted};
use crate::facts::{Arity, DefinitionKind, Reach, Role, Shape};
use crate::language::Language;
use crate::syntax::{children, digest, header, line_of};

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
                children(type_.node).into_iter().find(|child| child.kind() == "primary_constructor")
            }
            _ => None,
        };
        let whole = type_.kind == DefinitionKind::Interface;
        definition.line = line_of(name_node);
        definition.reach = type_.reach;
        // Subtypes must implement these. Another signature of one concerns its overrides, not every subtype.
        let members = body.map(children).unwrap_or_default().into_iter().filter(|node| is_asked(*node));
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
        definition.signature = digest([node], text, |child| child == name || left_out.contains(&child));
        definition.body = digest(initial, text, |_| false);
        definition.header = header(node, Some(name), &left_out, text);
        definition.gives = gives;
        self.collector.define(definition)
    }
}

/// Returns true if a member of an interface must be implemented: it is neither a type nor a constant, and has no body.
pub(super) fn is_asked(member: Node<'_>) -> bool {
    pub(super) const OTHERS: &[&str] =
        &["class", "interface", "enum", "record", "struct", "object", "const", "annotation"];
    let kind = member.kind();
    let has_body = children(member).iter().any(|part| part.kind().contains("body"));
    !OTHERS.iter().any(|name| kind.starts_with(name))
        && !has_body
        && member.child_by_field_name("body").is_none()
}

/// The part of a demanded member that concerns every subtype: the name of a function, else all of it.
pub(super) fn demand<'n>(member: Node<'n>, grammar: &Grammar) -> Node<'n> {
    let is_function = grammar.functions.contains(&member.kind()) || member.kind().contains("function");
    let mut declarator = member.child_by_field_name("declarator");
    while let Some(inner) = declarator.and_then(|declarator| declarator.child_by_field_name("declarator")) {
        declarator = Some(inner);
    }
    let declared = declarator.filter(|declarator| declarator.kind() == "field_identifier");
    member.child_by_field_name("name").filter(|_| is_function).or(declared).unwrap_or(member)
}

/// Returns true if a member has no body, so that subtypes must implement it: `abstract`, `= 0`.
pub(super) fn is_demanded(member: Node<'_>, text: &str) -> bool {
    let written = |node: Node<'_>| text.get(node.byte_range()).unwrap_or_default();
    let is_abstract = |part: Node<'_>| {
        part.kind() == "abstract"
            || part.kind().contains("modifier")
                && written(part).split_whitespace().any(|word| word == "abstract")
    };
    let pure = || {
        let compact: String = written(member).split_whitespace().collect();
        compact.starts_with("virtual") && compact.trim_end_matches(';').ends_with("=0")
    };
    member.children(&mut member.walk()).any(is_abstract) || pure()
}

/// Returns the other names that a declaration introduces beside one, with the commas between them.
pub(super) fn sibling_names<'n>(declaration: Node<'n>, name: Node<'n>) -> Vec<Node<'n>> {
    let holds =
        |node: &Node<'_>| node.start_byte() <= name.start_byte() && name.end_byte() <= node.end_byte();
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

/// Returns the number of arguments that the parameters accept.
pub(crate) fn arity(parameters: &[Parameter<'_>]) -> Option<Arity> {
    let needed = parameters.iter().filter(|parameter| !parameter.optional && !parameter.rest).count();
    let rest = parameters.iter().any(|parameter| parameter.rest);
    let all = u16::try_from(parameters.len()).ok()?;
    Some(Arity { least: u16::try_from(needed).ok()?, most: (!rest).then_some(all) })
}
