//! Elements of JSX: each uses its component, and its attributes set the component's properties.

use tree_sitter::Node;

use super::Walk;
use crate::facts::{DefinitionKind, PROPERTIES, Reach, Role, Shape, WRAPPED};
use crate::language::Language;
use crate::scope::member;
use crate::syntax::children;

impl<'t> Walk<'t> {
    /// Walks an element and its content; braces contain expressions.
    pub(super) fn jsx(&mut self, node: Node<'t>) {
        if !self.found.descend() {
            return;
        }
        if matches!(node.kind(), "jsx_opening_element" | "jsx_self_closing_element") {
            self.tag(node);
        } else {
            for child in children(node) {
                match child.kind() {
                    "jsx_opening_element"
                    | "jsx_self_closing_element"
                    | "jsx_element"
                    | "jsx_fragment"
                    | "jsx_expression" => self.jsx(child),
                    "jsx_closing_element" | "jsx_text" | "comment" => {}
                    _ => drop(self.expression(child)),
                }
            }
        }
        self.found.ascend();
    }

    /// The tag that begins an element: the component, and its attributes.
    fn tag(&mut self, node: Node<'t>) {
        let name = node.child_by_field_name("name");
        // Lower-case names belong to the platform.
        let is_own =
            |child: &Node<'t>| !self.found.text(*child).starts_with(|c: char| c.is_ascii_lowercase());
        let component = name.filter(|name| name.kind() != "identifier" || is_own(name));
        let properties = component.map(|name| {
            let component = match name.kind() {
                "identifier" => self.bare_name(name, Role::Call, None),
                "member_expression" => self.member_access(name, Role::Call, None),
                _ => self.expression(name),
            };
            member(component, PROPERTIES)
        });
        for child in children(node).into_iter().filter(|child| Some(*child) != name) {
            match child.kind() {
                "jsx_attribute" => self.attribute(child, properties.as_ref()),
                "type_arguments" => self.type_arguments(child),
                _ => self.jsx(child),
            }
        }
    }

    fn attribute(&mut self, node: Node<'t>, properties: Option<&Shape>) {
        let mut parts = children(node).into_iter();
        let key = parts.next().filter(|part| part.kind() == "property_identifier");
        let mut expected = None;
        if let (Some(key), Some(properties)) = (key, properties) {
            self.found.use_name(key, Role::Construct, Some(properties.clone()), None);
            expected = Some(member(properties.clone(), self.found.text(key)));
        }
        for value in parts {
            match value.kind() {
                "jsx_expression" => {
                    for inner in children(value) {
                        let shape = self.expected(inner, expected.clone());
                        self.expect_type(inner, &shape, expected.as_ref());
                    }
                }
                _ => drop(self.expression(value)),
            }
        }
    }

    /// Returns the shape of a call that wraps functions and components, whose result only its package
    /// defines: `memo(Component)`, `forwardRef<Element, Props>((props, ref) => …)`.
    pub(super) fn wrapped(&mut self, value: Node<'t>, shape: Shape) -> Shape {
        if value.kind() != "call_expression" || self.found.facts.language == Language::TypeScript {
            return shape;
        }
        let mut type_arguments = Vec::new();
        if let Some(list) = value.child_by_field_name("type_arguments") {
            type_arguments.extend(self.quietly(|walk| {
                children(list).into_iter().map(|child| walk.annotation(child)).collect::<Vec<_>>()
            }));
        }
        for argument in value.child_by_field_name("arguments").map(children).unwrap_or_default() {
            type_arguments.extend(match argument.kind() {
                "identifier" => Some(self.outline(argument)),
                "arrow_function" | "function_expression" => self.takes(argument),
                _ => None,
            });
        }
        if type_arguments.is_empty() {
            return shape;
        }
        type_arguments.insert(0, shape);
        Shape::Applied(Box::new(Shape::Of(WRAPPED.into())), type_arguments)
    }

    /// Returns a function by its parameters alone, if they have types.
    fn takes(&mut self, function: Node<'t>) -> Option<Shape> {
        let list = function.child_by_field_name("parameters")?;
        self.found.scopes.open();
        self.generics.push(Default::default());
        let takes = self.quietly(|walk| walk.parameters(list, None));
        self.generics.pop();
        self.found.scopes.close();
        Some(Shape::Function(takes, Box::new(Shape::Unknown)))
    }

    /// Records the properties of a class component, from its base: `class C extends Component<Props>`.
    pub(super) fn own_properties(&mut self, heritage: Node<'t>, node: Node<'t>) {
        if self.found.facts.language != Language::Tsx {
            return;
        }
        let clauses = children(heritage).into_iter().filter(|child| child.kind() == "extends_clause");
        let list = clauses.flat_map(children).find(|child| child.kind() == "type_arguments");
        let Some(first) = list.and_then(|list| list.named_child(0)) else { return };
        let shape = self.quietly(|walk| walk.annotation(first));
        let mut definition = self.found.definition("props", DefinitionKind::Field, node);
        definition.reach = Reach::File;
        definition.gives = Some(shape);
        self.found.define(definition);
    }
}
