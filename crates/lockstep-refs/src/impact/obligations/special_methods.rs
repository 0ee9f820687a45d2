//! Special methods of a class of Python that statements, operators and builtin functions call: `with` calls `__enter__`, `len` calls
//! `__len__`. Nothing there names them.

use std::collections::{BTreeMap, BTreeSet};

use tree_sitter::Node;

use super::super::tree::{Source, ancestors, descendants};
use super::{Search, Unmet};
use crate::facts::{Definition, DefinitionKind, Facts};
use crate::language::Language;
use crate::package::is_type;
use crate::resolve::path_of;
use crate::syntax::{children, line_of};
use crate::world::FileId;

/// Functions that iterate over their argument.
const ITERATING: &[&str] = &[
    "all",
    "any",
    "dict",
    "enumerate",
    "filter",
    "frozenset",
    "iter",
    "list",
    "map",
    "max",
    "min",
    "reversed",
    "set",
    "sorted",
    "sum",
    "tuple",
    "zip",
];
/// Operators, and the methods that they call on the value before them.
const OPERATORS: &[(&str, &str)] = &[
    ("+", "__add__"),
    ("-", "__sub__"),
    ("*", "__mul__"),
    ("/", "__truediv__"),
    ("//", "__floordiv__"),
    ("%", "__mod__"),
    ("**", "__pow__"),
    ("@", "__matmul__"),
    ("&", "__and__"),
    ("|", "__or__"),
    ("^", "__xor__"),
    ("<<", "__lshift__"),
    (">>", "__rshift__"),
    ("<", "__lt__"),
    ("<=", "__le__"),
    (">", "__gt__"),
    (">=", "__ge__"),
];

/// Adds the places that call a special method which a class does not have any more.
pub(super) fn find(search: &Search<'_>, old: &Facts, new: &Facts, found: &mut Vec<Unmet>) {
    if new.language != Language::Python {
        return;
    }
    for owner in new.definitions.iter().filter(|definition| is_type(definition)) {
        let path = path_of(owner);
        let special = |facts: &Facts| -> BTreeSet<Box<str>> {
            let is_own = |definition: &&Definition| {
                definition.kind == DefinitionKind::Method
                    && definition.container.as_deref() == Some(&*path)
                    && definition.name.starts_with("__")
            };
            facts.definitions.iter().filter(is_own).map(|definition| definition.name.clone()).collect()
        };
        let mut lost = special(old);
        let remaining = special(new);
        lost.retain(|name| !remaining.contains(name) && can_be_missed(name, &remaining));
        // A base may have the methods too.
        let is_plain =
            owner.extends.iter().all(|base| matches!(&**base, "object" | "ABC" | "Protocol" | "Generic"));
        if lost.is_empty() || !is_plain {
            continue;
        }
        let mut names: BTreeMap<FileId, BTreeSet<Box<str>>> = BTreeMap::new();
        for reference in search.references(search.file, std::slice::from_ref(owner)) {
            names.entry(reference.file).or_default().insert(reference.pattern);
        }
        for (file, names) in names {
            let Some(source) = search.trees.get(file) else { continue };
            let values = Values { source: &source, names: &names };
            for (line, method) in values.calls() {
                if lost.contains(method) {
                    found.push(Unmet {
                        file,
                        line,
                        pattern: owner.name.clone(),
                        reason: format!("{} has no {method} any more", owner.name),
                        owner: path.clone(),
                    });
                }
            }
        }
    }
}

/// Returns true if no other method stands in for a lost one.
fn can_be_missed(name: &str, remaining: &BTreeSet<Box<str>>) -> bool {
    let has = |other: &str| remaining.iter().any(|text| &**text == other);
    match name {
        "__iter__" => !has("__getitem__"),
        "__contains__" => !has("__iter__") && !has("__getitem__"),
        _ => true,
    }
}

/// The values in a file that are evidently objects of a class.
struct Values<'s> {
    source: &'s Source,
    /// The names of the class.
    names: &'s BTreeSet<Box<str>>,
}

impl<'s> Values<'s> {
    /// The special methods that are called on such values, with their lines.
    fn calls(&self) -> Vec<(u32, &'static str)> {
        let mut found = Vec::new();
        for node in descendants(self.source.root()) {
            let is_value = match node.kind() {
                "call" => {
                    node.child_by_field_name("function").is_some_and(|function| self.is_class(function))
                }
                "identifier" => self.is_variable(node),
                _ => false,
            };
            if is_value {
                found.extend(self.methods_called_on(node).into_iter().map(|method| (line_of(node), method)));
            }
        }
        found
    }

    fn is_class(&self, expression: Node<'_>) -> bool {
        let text = self.source.text(expression);
        let name = text.rsplit('.').next().unwrap_or(text);
        matches!(expression.kind(), "identifier" | "attribute") && self.names.contains(name)
    }

    /// Returns true if a name is read, and its only binding in the nearest scope that binds it gives it an object of the class.
    fn is_variable(&self, name: Node<'s>) -> bool {
        let is_scope = |node: &Node<'_>| matches!(node.kind(), "function_definition" | "module");
        ancestors(name).filter(is_scope).find_map(|scope| self.binding_in(scope, name)).unwrap_or(false)
    }

    fn binding_in(&self, scope: Node<'s>, name: Node<'s>) -> Option<bool> {
        let written = self.source.text(name);
        let named = |node: Option<Node<'_>>| node.is_some_and(|node| self.source.text(node) == written);
        let mut bindings = descendants(scope).into_iter().filter_map(|node| {
            let field = |name: &str| node.child_by_field_name(name);
            let declared = || field("type").is_some_and(|child| self.is_annotation(child));
            match node.kind() {
                "assignment" if named(field("left")) => {
                    let created = field("right").filter(|child| child.kind() == "call");
                    let created = created.and_then(|child| child.child_by_field_name("function"));
                    Some(created.is_some_and(|child| self.is_class(child)) || declared())
                }
                "typed_parameter" if named(node.named_child(0)) => Some(declared()),
                "typed_default_parameter" if named(field("name")) => Some(declared()),
                "as_pattern_target" | "for_statement" | "for_in_clause" => {
                    let target = field("left").unwrap_or(node);
                    let is_named = descendants(target).into_iter().any(|descendant| named(Some(descendant)));
                    is_named.then_some(false)
                }
                "parameters" => {
                    let is_bare = |child: &Node<'_>| child.kind() == "identifier" && named(Some(*child));
                    children(node).iter().any(is_bare).then_some(false)
                }
                _ => None,
            }
        });
        let first = bindings.next()?;
        Some(first && bindings.all(|binding| binding))
    }

    fn is_annotation(&self, type_: Node<'_>) -> bool {
        let text = self.source.text(type_).trim_matches(['"', '\'']);
        self.names.contains(text.rsplit('.').next().unwrap_or(text))
    }

    /// The special methods that are called on a value by what stands around it.
    fn methods_called_on(&self, value: Node<'_>) -> Vec<&'static str> {
        let Some(around) = value.parent() else { return Vec::new() };
        let field = |name: &str| around.child_by_field_name(name) == Some(value);
        let text = |node: Option<Node<'_>>| node.map_or("", |node| self.source.text(node));
        match around.kind() {
            "for_statement" | "for_in_clause" if field("right") => vec!["__iter__", "__aiter__"],
            "list_splat" => vec!["__iter__"],
            "with_item" | "as_pattern" => vec!["__enter__", "__exit__", "__aenter__", "__aexit__"],
            "subscript" if field("value") => {
                let assignment = around.parent().filter(|parent| parent.kind() == "assignment");
                let is_target = assignment
                    .is_some_and(|assignment| assignment.child_by_field_name("left") == Some(around));
                vec![if is_target { "__setitem__" } else { "__getitem__" }]
            }
            "call" if field("function") && value.kind() == "identifier" => vec!["__call__"],
            "await" => vec!["__await__"],
            "argument_list" => {
                match text(around.parent().and_then(|parent| parent.child_by_field_name("function"))) {
                    "len" => vec!["__len__"],
                    "next" => vec!["__next__"],
                    "hash" => Vec::new(),
                    name if ITERATING.contains(&name) => vec!["__iter__"],
                    _ => Vec::new(),
                }
            }
            "binary_operator" if field("left") => {
                operator_method(text(around.child_by_field_name("operator")))
            }
            "comparison_operator" => {
                let parts: Vec<Node<'_>> = around.children(&mut around.walk()).collect();
                match parts.as_slice() {
                    [left, operator, _] if *left == value => operator_method(text(Some(*operator))),
                    [_, operator, right] if *right == value && text(Some(*operator)).ends_with("in") => {
                        vec!["__contains__"]
                    }
                    _ => Vec::new(),
                }
            }
            _ => Vec::new(),
        }
    }
}

fn operator_method(operator: &str) -> Vec<&'static str> {
    OPERATORS.iter().filter(|(written, _)| *written == operator).map(|(_, method)| *method).collect()
}
