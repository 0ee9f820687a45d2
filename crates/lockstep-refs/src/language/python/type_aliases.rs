//! Type aliases: `Pair = Union[A, B]`, `T = TypeVar("T", bound=A)`. An annotation with one means its target.

use tree_sitter::Node;

use super::Walk;
use crate::facts::{ALIAS, Shape};
use crate::scope::either;
use crate::syntax::children;

/// Names after which brackets contain types.
const GENERICS: &[&str] = &[
    "Union",
    "Optional",
    "List",
    "Dict",
    "Tuple",
    "Set",
    "FrozenSet",
    "Type",
    "Callable",
    "Sequence",
    "Iterable",
    "Iterator",
    "Generator",
    "Mapping",
    "MutableMapping",
    "Awaitable",
    "Coroutine",
    "AsyncIterator",
    "AsyncIterable",
    "Annotated",
    "list",
    "dict",
    "tuple",
    "set",
    "frozenset",
    "type",
];

impl<'t> Walk<'t> {
    /// Returns the target of a name that is assigned `value`, if that is a type other than a plain class
    /// name.
    pub(super) fn aliased(&mut self, value: Node<'t>, annotation: Option<Node<'t>>) -> Option<Shape> {
        let says_so = annotation.is_some_and(|annotation| last(self.found.text(annotation)) == "TypeAlias");
        let shape = match value.kind() {
            _ if says_so => self.annotation(value),
            _ if annotation.is_some() => return None,
            "subscript" => {
                let head = value.child_by_field_name("value")?;
                if !GENERICS.contains(&last(self.found.text(head))) {
                    return None;
                }
                self.annotation(value)
            }
            "binary_operator" if self.is_union(value) => self.annotation(value),
            "call" if self.callee(value) == "TypeVar" => self.bound(value)?,
            _ => return None,
        };
        Some(stands_for(shape))
    }

    /// `A | None`: nothing but names of types.
    fn is_union(&self, node: Node<'t>) -> bool {
        let operator = node.child_by_field_name("operator");
        // Numbers and sets are not combined with `None`.
        let with_none = children(node).iter().any(|child| child.kind() == "none");
        let is_type = |child: Node<'t>| match child.kind() {
            "none" | "subscript" => true,
            "identifier" | "attribute" => {
                let name = last(self.found.text(child)).trim_start_matches('_');
                let is_class = name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase);
                with_none || is_class || matches!(name, "str" | "int" | "float" | "bool" | "bytes" | "object")
            }
            "binary_operator" => self.is_union(child),
            _ => false,
        };
        operator.is_some_and(|operator| operator.kind() == "|") && children(node).into_iter().all(is_type)
    }

    /// The types that a type variable is bound to.
    fn bound(&mut self, call: Node<'t>) -> Option<Shape> {
        let given = children(call.child_by_field_name("arguments")?);
        let mut types = Vec::new();
        for argument in given.into_iter().filter(|node| node.kind() != "comment").skip(1) {
            let value = match argument.kind() {
                "keyword_argument" => {
                    let name = argument.child_by_field_name("name").map(|name| self.found.text(name));
                    argument.child_by_field_name("value").filter(|_| name == Some("bound"))
                }
                _ => Some(argument),
            };
            types.extend(value.map(|value| self.annotation(value)));
        }
        (!types.is_empty()).then(|| either(types))
    }
}

/// Returns the shape of a type alias.
pub(super) fn stands_for(shape: Shape) -> Shape {
    Shape::Applied(Box::new(Shape::Of(ALIAS.into())), vec![shape])
}

fn last(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}
