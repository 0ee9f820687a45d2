//! Declarators of C and C++.

use tree_sitter::Node;

use crate::syntax::children;

/// The declared entity under the pointers, references and arrays of a declarator.
pub(super) struct Declared<'n> {
    /// The last part of its name.
    pub(super) name: Node<'n>,
    /// The complete path, if it has one.
    pub(super) path: Option<Node<'n>>,
    pub(super) parameters: Option<Node<'n>>,
    pub(super) initial: Option<Node<'n>>,
    /// Set if it is an array.
    pub(super) list: bool,
}

impl<'n> Declared<'n> {
    pub(super) fn of(declarator: Node<'n>) -> Option<Self> {
        let mut node = declarator;
        let (mut parameters, mut initial, mut list) = (None, None, false);
        for _ in 0..16 {
            match node.kind() {
                "identifier" | "field_identifier" | "type_identifier" | "operator_name"
                | "destructor_name" => {
                    return Some(Self { name: node, path: None, parameters, initial, list });
                }
                "qualified_identifier" => {
                    let mut name = node;
                    while let Some(last) = name.child_by_field_name("name") {
                        name = last;
                    }
                    return Some(Self { name, path: Some(node), parameters, initial, list });
                }
                "function_declarator" => parameters = node.child_by_field_name("parameters"),
                "init_declarator" => initial = node.child_by_field_name("value"),
                "array_declarator" => list = true,
                _ => {}
            }
            // A macro before the name, as in `(CALL *name)`, is read as an error.
            let inner = || children(node).into_iter().find(|child| !child.is_error());
            node = node.child_by_field_name("declarator").or_else(inner)?;
        }
        None
    }
}
