//! Mocks of vitest and jest: modules and members that a test replaces by name.

use tree_sitter::Node;

use super::Walk;
use crate::facts::{ImportForm, Role, Shape};
use crate::syntax::children;

impl<'t> Walk<'t> {
    /// Records the names in `vi.mock('./module', () => ({ name: … }))` and `vi.spyOn(object, 'name')`.
    pub(super) fn mock(&mut self, node: Node<'t>, function: Node<'t>, list: Option<Node<'t>>) {
        let arguments = list.map(children).unwrap_or_default();
        match (self.found.text(function), arguments.as_slice()) {
            ("vi.mock" | "vi.doMock" | "jest.mock" | "jest.doMock", [module, rest @ ..])
                if module.kind() == "string" =>
            {
                let of = Shape::Name(self.inline(*module, node, ImportForm::Dynamic).into());
                let object = rest.first().and_then(|child| returned_object(*child));
                for property in object.map(children).unwrap_or_default() {
                    let key = match property.kind() {
                        "shorthand_property_identifier" => Some(property),
                        _ => property
                            .child_by_field_name("key")
                            .or_else(|| property.child_by_field_name("name")),
                    };
                    let key = key.filter(|key| !self.found.text(*key).starts_with("__"));
                    if let Some(key) = key.filter(|key| key.kind() != "computed_property_name") {
                        self.found.use_name(key, Role::Pattern, Some(of.clone()), None);
                    }
                }
            }
            ("vi.spyOn" | "jest.spyOn", [of, name, ..]) if name.kind() == "string" => {
                let of = self.outline(*of);
                if let Some(name) = name.named_child(0) {
                    self.found.use_name(name, Role::Pattern, Some(of), None);
                }
            }
            _ => {}
        }
    }
}

/// The object literal that a function written in place returns.
fn returned_object(function: Node<'_>) -> Option<Node<'_>> {
    let body = function.child_by_field_name("body")?;
    let value = match body.kind() {
        "statement_block" => {
            let returned = children(body).into_iter().rfind(|child| child.kind() == "return_statement")?;
            returned.named_child(0)?
        }
        "parenthesized_expression" => body.named_child(0)?,
        _ => body,
    };
    (value.kind() == "object").then_some(value)
}
