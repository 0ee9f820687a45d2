//! Records: classes whose constructor is generated from their fields, and those that a call creates from
//! field names.

use tree_sitter::Node;

use super::Walk;
use crate::facts::{Arity, DefinitionKind, Shape};
use crate::syntax::{OWN_NAME, TOKEN_END, children, digest, digest_words, header, line_of};

/// A field that a call names: its node, its name, its type.
struct Field<'t> {
    node: Node<'t>,
    name: &'t str,
    holds: Shape,
}

/// A field that the constructor of a record takes.
struct RecordField<'t> {
    name: &'t str,
    /// The tokens of its type.
    type_: Box<str>,
    is_needed: bool,
}

impl<'t> Walk<'t> {
    /// Adds the constructor that a record gets from its fields, unless it has one. Inherited fields are
    /// unknown here, so its parameters are set only if it has no base.
    pub(super) fn record(&mut self, class: &str, node: Node<'t>, decorators: &[&str]) {
        let container: Box<str> = self.found.path(class).into();
        let definitions = &self.found.facts.definitions;
        let mine = |name: &str| {
            definitions.iter().any(|definition| {
                definition.container.as_deref() == Some(&*container) && *definition.name == *name
            })
        };
        if mine("__init__") || mine("__new__") {
            return;
        }
        let bases = node.child_by_field_name("superclasses").map(children).unwrap_or_default();
        let is_plain = |base: &Node<'t>| {
            let name = self.found.text(*base).split('[').next().unwrap_or_default();
            base.kind() == "keyword_argument"
                || matches!(last(name), "object" | "Generic" | "Protocol" | "NamedTuple")
        };
        let by_keyword = decorators.iter().any(|decorator| decorator.contains("kw_only=True"));
        let fields = self.record_fields(node);
        let is_known = bases.iter().all(is_plain)
            && !decorators.iter().any(|decorator| decorator.contains("init=False"));
        let (arity, header) = match is_known {
            true => (arity_of(&fields), header_of(&fields, by_keyword)),
            false => (Arity { least: 0, most: None }, String::new()),
        };
        self.constructor(container, node, arity, &header);
    }

    /// Returns the fields in the body of a class that its constructor takes.
    fn record_fields(&self, class: Node<'t>) -> Vec<RecordField<'t>> {
        let body = class.child_by_field_name("body").map(children).unwrap_or_default();
        let statements = body.into_iter().filter(|node| node.kind() == "expression_statement");
        let mut fields = Vec::new();
        for field in statements
            .filter_map(|statement| statement.named_child(0))
            .filter(|node| node.kind() == "assignment")
        {
            let (Some(left), Some(type_)) =
                (field.child_by_field_name("left"), field.child_by_field_name("type"))
            else {
                continue;
            };
            let annotation = self.found.text(type_);
            let value = field.child_by_field_name("right").map(|right_node| self.found.text(right_node));
            let is_none = annotation.contains("KW_ONLY") || annotation.contains("ClassVar");
            if is_none || value.is_some_and(|value| value.contains("init=False")) {
                continue;
            }
            let is_field =
                value.is_some_and(|value| last(value.split('(').next().unwrap_or(value)) == "field");
            let is_needed = value
                .is_none_or(|value| is_field && !value.contains("default") && !value.contains("factory"));
            let type_ = header(type_, None, &[], self.found.text);
            fields.push(RecordField { name: self.found.text(left), type_, is_needed });
        }
        fields
    }

    /// Adds a generated constructor, which is identified by its number of arguments and by its header, if that is known.
    fn constructor(&mut self, class: Box<str>, node: Node<'t>, arity: Arity, header: &str) {
        let mut definition = self.found.definition("__init__", DefinitionKind::Method, node);
        definition.container = Some(class);
        definition.signature = match header.is_empty() {
            true => u64::from(arity.least) << 32 | arity.most.map_or(u64::MAX >> 32, u64::from),
            false => digest_words(header.split(TOKEN_END)),
        };
        definition.header = header.into();
        definition.arity = Some(arity);
        self.found.define(definition);
    }

    /// Handles `Point = namedtuple("Point", "x y")`, a type with fields. Returns true if it is one.
    pub(super) fn made_type(&mut self, name: Node<'t>, value: Node<'t>, whole: Node<'t>) -> bool {
        let Some(fields) = self.made_fields(value) else { return false };
        let text = self.found.text(name);
        let mut definition = self.found.definition(text, DefinitionKind::Type, whole);
        definition.body = digest([value], self.found.text, |_| false);
        self.found.define(definition);
        let path: Box<str> = self.found.path(text).into();
        let all = u16::try_from(fields.len()).unwrap_or(u16::MAX);
        let with_defaults = self.found.text(value).contains("defaults");
        self.keep_fields(&path, fields);
        if is_tuple(self.callee(value)) {
            let least = if with_defaults { 0 } else { all };
            self.constructor(path, name, Arity { least, most: Some(all) }, "");
        }
        true
    }

    /// `class Point(namedtuple("Point", "x y"))`: the fields are the class's own.
    pub(super) fn fields_of_bases(&mut self, class: &str, node: Node<'t>) {
        let path: Box<str> = self.found.path(class).into();
        for base in node.child_by_field_name("superclasses").map(children).unwrap_or_default() {
            if let Some(fields) = self.made_fields(base) {
                self.keep_fields(&path, fields);
            }
        }
    }

    fn keep_fields(&mut self, container: &str, fields: Vec<Field<'t>>) {
        for field in fields {
            let mut definition = self.found.definition(field.name, DefinitionKind::Field, field.node);
            definition.container = Some(container.into());
            definition.line = line_of(field.node);
            definition.gives = Some(field.holds);
            self.found.define(definition);
        }
    }

    pub(super) fn callee(&self, call: Node<'t>) -> &'t str {
        let function = call.child_by_field_name("function").filter(|_| call.kind() == "call");
        function.map(|function| last(self.found.text(function))).unwrap_or_default()
    }

    /// Returns the fields that a call names, if it creates a type.
    fn made_fields(&mut self, call: Node<'t>) -> Option<Vec<Field<'t>>> {
        let callee = self.callee(call);
        let is_enum = matches!(callee, "Enum" | "IntEnum" | "StrEnum" | "Flag" | "IntFlag");
        if !is_tuple(callee) && !is_enum {
            return None;
        }
        let given: Vec<Node<'t>> = children(call.child_by_field_name("arguments")?)
            .into_iter()
            .filter(|child| !matches!(child.kind(), "comment" | "keyword_argument"))
            .collect();
        // A name and the fields: with anything else it is another call.
        let [name, names] = given.as_slice() else { return None };
        self.content(*name)?;
        let fields = match names.kind() {
            "string" => {
                let words = self.content(*names)?.split([' ', ',', '\n', '\t']);
                let words = words.filter(|word| !word.is_empty());
                words.map(|name| Field { node: *names, name, holds: Shape::Untyped }).collect()
            }
            "list" | "tuple" => {
                children(*names).into_iter().filter_map(|child| self.made_field(child)).collect()
            }
            _ => return None,
        };
        Some(fields)
    }

    /// `"x"`, `("x", int)`
    fn made_field(&mut self, node: Node<'t>) -> Option<Field<'t>> {
        let name = match node.kind() {
            "tuple" => node.named_child(0)?,
            _ => node,
        };
        let holds = match node.named_child(1).filter(|_| node.kind() == "tuple") {
            Some(annotation) => self.quietly(|walk| walk.annotation(annotation)),
            None => Shape::Untyped,
        };
        Some(Field { node: name, name: self.content(name)?, holds })
    }
}

fn arity_of(fields: &[RecordField<'_>]) -> Arity {
    let count = |all: usize| u16::try_from(all).unwrap_or(u16::MAX);
    let needed = fields.iter().filter(|record_field| record_field.is_needed).count();
    Arity { least: count(needed), most: Some(count(fields.len())) }
}

/// The header of a constructor that takes these fields, in their order.
fn header_of(fields: &[RecordField<'_>], by_keyword: bool) -> String {
    let mut tokens = vec![OWN_NAME, "(", "self"];
    if by_keyword {
        tokens.extend([",", "*"]);
    }
    for field in fields {
        tokens.extend([",", field.name, ":"]);
        tokens.extend(field.type_.split(TOKEN_END).filter(|token| !token.is_empty()));
        tokens.extend((!field.is_needed).then_some(["=", "0"]).into_iter().flatten());
    }
    tokens.push(")");
    tokens.iter().map(|token| format!("{token}{TOKEN_END}")).collect()
}

fn is_tuple(callee: &str) -> bool {
    matches!(callee, "namedtuple" | "NamedTuple")
}

fn last(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}
