//! Annotations: the names they use, and the shapes of their values.

use tree_sitter::Node;

use super::Walk;
use crate::fact_builder::FactBuilder;
use crate::facts::{Role, Shape};
use crate::scope::either;
use crate::syntax::{children, line_of, parse};

impl<'t> Walk<'t> {
    /// Walks an annotation. Returns the shape of its values.
    pub(super) fn annotation(&mut self, node: Node<'t>) -> Shape {
        if !self.found.descend() {
            return Shape::Unknown;
        }
        let shape = self.type_of(node);
        self.found.ascend();
        shape
    }

    fn type_of(&mut self, node: Node<'t>) -> Shape {
        match node.kind() {
            "type" | "parenthesized_expression" => {
                node.named_child(0).map_or(Shape::Unknown, |child| self.annotation(child))
            }
            "identifier" => {
                let name = self.found.text(node);
                match self.found.scopes.get(name) {
                    Some(Shape::Name(path)) if **path != *name => Shape::Of(path.clone()),
                    Some(Shape::Itself) => Shape::Itself,
                    None if name == "Self" => {
                        self.found.use_name(node, Role::Type, None, None);
                        Shape::Itself
                    }
                    _ => {
                        self.found.use_name(node, Role::Type, None, None);
                        Shape::Of(name.into())
                    }
                }
            }
            "attribute" | "member_type" => {
                self.attribute(node, Role::Type, None);
                let text = self.found.text(node);
                if text.ends_with(".Self") { Shape::Itself } else { Shape::Of(text.into()) }
            }
            "ellipsis" => Shape::Of("...".into()),
            "none" => Shape::Of("None".into()),
            "string" => self.quoted(node),
            "union_type" => {
                either(children(node).into_iter().map(|child| self.annotation(child)).collect::<Vec<_>>())
            }
            "binary_operator" => {
                let parts = children(node);
                either(parts.into_iter().map(|part| self.annotation(part)).collect::<Vec<_>>())
            }
            "generic_type" => {
                let mut parts = children(node).into_iter();
                let head = parts.next().map_or(Shape::Unknown, |parts| self.annotation(parts));
                let arguments =
                    parts.flat_map(|list| children(list)).map(|child| self.annotation(child)).collect();
                generic(head, arguments)
            }
            "subscript" => {
                let head =
                    node.child_by_field_name("value").map_or(Shape::Unknown, |value| self.annotation(value));
                let subscripts: Vec<_> = node.children_by_field_name("subscript", &mut node.walk()).collect();
                let arguments = subscripts.into_iter().map(|subscript| self.annotation(subscript)).collect();
                generic(head, arguments)
            }
            "list" | "tuple" => {
                for child in children(node) {
                    self.annotation(child);
                }
                Shape::Unknown
            }
            _ => {
                self.expressions(node);
                Shape::Unknown
            }
        }
    }

    fn quoted(&mut self, node: Node<'t>) -> Shape {
        let Some(content) = children(node).into_iter().find(|child| child.kind() == "string_content") else {
            return Shape::Unknown;
        };
        let text = self.found.text(content);
        let Some(tree) = parse(&tree_sitter_python::LANGUAGE.into(), text) else { return Shape::Unknown };
        let root = tree.root_node();
        if root.has_error() {
            return Shape::Unknown;
        }
        let Some(expression) = root.named_child(0).and_then(|child| child.named_child(0)) else {
            return Shape::Unknown;
        };
        // The inner text is walked separately, with the line of the quotes.
        let line = line_of(node);
        let whole = std::mem::replace(&mut self.found.text, text);
        let before = self.found.facts.uses.len();
        let shape = self.annotation_in(expression);
        for usage in self.found.facts.uses.iter_mut().skip(before) {
            usage.line = line;
        }
        self.found.text = whole;
        shape
    }

    /// Walks an annotation whose tree has a shorter lifetime than the text.
    fn annotation_in(&mut self, node: Node<'_>) -> Shape {
        let mut inner = Walk::new(FactBuilder::new(self.found.facts.language, self.found.text));
        std::mem::swap(&mut inner.found.facts, &mut self.found.facts);
        std::mem::swap(&mut inner.found.scopes, &mut self.found.scopes);
        inner.found.within = self.found.within;
        let shape = inner.annotation(node);
        std::mem::swap(&mut inner.found.facts, &mut self.found.facts);
        std::mem::swap(&mut inner.found.scopes, &mut self.found.scopes);
        shape
    }
}

/// Returns a generic type with its arguments; types that only wrap another are unwrapped.
fn generic(head: Shape, mut arguments: Vec<Shape>) -> Shape {
    let Shape::Of(name) = &head else { return Shape::Unknown };
    let last = name.rsplit('.').next().unwrap_or(name);
    match last {
        "Optional" => either(arguments.into_iter().chain([Shape::Of("None".into())])),
        "Union" => either(arguments),
        "Annotated" | "ClassVar" | "Final" | "Required" | "NotRequired" | "ReadOnly"
            if !arguments.is_empty() =>
        {
            arguments.swap_remove(0)
        }
        "Type" | "type" => match arguments.first() {
            Some(Shape::Of(name)) => Shape::Name(name.clone()),
            _ => Shape::Unknown,
        },
        "Tuple" | "tuple" => match arguments.as_slice() {
            [item, Shape::Of(more)] if &**more == "..." => {
                Shape::Applied(Box::new(Shape::Of("list".into())), vec![item.clone()])
            }
            _ => Shape::Applied(Box::new(Shape::Of("tuple".into())), arguments),
        },
        "Literal" => Shape::Of("str".into()),
        "Callable" => Shape::Function(Vec::new(), Box::new(arguments.pop().unwrap_or(Shape::Unknown))),
        _ => Shape::Applied(Box::new(head), arguments),
    }
}
