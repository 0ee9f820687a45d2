//! Patterns: the values they destructure, and the variables they bind.

use tree_sitter::Node;

use super::extractor::{Binding, Reader, Source, member, without_raw_prefix};
use crate::facts::{Role, Shape};
use crate::syntax::children;

impl Reader {
    /// Binds the variables of a pattern that matches a value of `shape`.
    pub(super) fn pattern(&mut self, source: Source<'_>, node: Node<'_>, shape: &Shape) {
        self.deeper(|reader| reader.pattern_here(source, node, shape));
    }

    fn pattern_here(&mut self, source: Source<'_>, node: Node<'_>, shape: &Shape) {
        match node.kind() {
            "identifier" | "shorthand_field_identifier" => self.binding(source, node, shape),
            "scoped_identifier" | "generic_pattern" => drop(self.path(source, node, Role::Pattern, None)),
            "tuple_struct_pattern" => self.tuple_struct_pattern(source, node, shape),
            "struct_pattern" => self.struct_pattern(source, node),
            "tuple_pattern" => {
                for (index, child) in slots(node, None).0 {
                    self.pattern(source, child, &member(shape.clone(), &index.to_string()));
                }
            }
            "slice_pattern" => {
                for child in parts(node) {
                    self.pattern(source, child, &member(shape.clone(), "[]"));
                }
            }
            "captured_pattern" => {
                for child in parts(node) {
                    self.pattern(source, child, shape);
                }
            }
            "macro_invocation" => drop(self.macro_invocation(source, node)),
            "const_block" => drop(self.expression(source, node)),
            "closure_expression" => drop(self.expression(source, node)),
            "range_pattern" => {
                for child in parts(node) {
                    if matches!(child.kind(), "identifier" | "scoped_identifier") {
                        self.path(source, child, Role::Pattern, None);
                    }
                }
            }
            "mutable_specifier" | "remaining_field_pattern" => {}
            "match_pattern" => {
                let condition = node.child_by_field_name("condition");
                for child in parts(node) {
                    if Some(child) == condition {
                        self.expression(source, child);
                    } else {
                        self.pattern(source, child, shape);
                    }
                }
            }
            // Wrappers of patterns: references, `mut`, `ref`, alternatives.
            _ => {
                for child in parts(node) {
                    self.pattern(source, child, shape);
                }
            }
        }
    }

    /// Handles a bare name: a constant or a variant if it is written like one, otherwise a new variable.
    fn binding(&mut self, source: Source<'_>, node: Node<'_>, shape: &Shape) {
        let name = without_raw_prefix(source.of(node));
        if name.starts_with(|c: char| c.is_uppercase()) {
            self.path(source, node, Role::Pattern, None);
        } else {
            self.bind(name, Binding::Value(shape.clone()));
        }
    }

    fn tuple_struct_pattern(&mut self, source: Source<'_>, node: Node<'_>, shape: &Shape) {
        let Some(of) = node.child_by_field_name("type") else { return };
        let (slots, count) = slots(node, Some(of));
        let open = slots.iter().any(|(_, part)| part.kind() == "remaining_field_pattern");
        let (role, count) =
            if open { (Role::Partial, None) } else { (Role::Pattern, u16::try_from(count).ok()) };
        let path = self.path(source, of, role, count);
        for (index, part) in slots {
            let inner = match without_raw_prefix(source.of(of)) {
                "Some" | "Ok" | "Poll::Ready" | "Ready" | "Ok::<_, _>" => member(shape.clone(), "?"),
                "Err" => member(shape.clone(), "Err"),
                _ => member(path.clone(), &index.to_string()),
            };
            self.pattern(source, part, &inner);
        }
    }

    fn struct_pattern(&mut self, source: Source<'_>, node: Node<'_>) {
        let Some(of) = node.child_by_field_name("type") else { return };
        let fields = parts(node);
        let open = fields.iter().any(|part| part.kind() == "remaining_field_pattern");
        let named = fields.iter().filter(|part| part.kind() == "field_pattern").count();
        let (role, count) =
            if open { (Role::Partial, None) } else { (Role::Pattern, u16::try_from(named).ok()) };
        let path = self.path(source, of, role, count);
        // The type has a name too.
        for part in fields.into_iter().filter(|part| *part != of) {
            let Some(name) = part.child_by_field_name("name") else { continue };
            let field = source.of(name);
            let pattern = part.child_by_field_name("pattern");
            let takes = pattern.map_or(!field.starts_with('_'), |pattern| takes(source, pattern));
            let role = if takes { Role::Pattern } else { Role::Partial };
            self.put(field, source.line(name), role, Some(path.clone()), None);
            let inner = member(path.clone(), field);
            match pattern {
                Some(pattern) => self.pattern(source, pattern, &inner),
                None => self.bind(field, Binding::Value(inner)),
            }
        }
    }
}

/// Returns true if a pattern depends on the type of a value, or binds it to a name.
fn takes(source: Source<'_>, pattern: Node<'_>) -> bool {
    match pattern.kind() {
        "identifier" => !without_raw_prefix(source.of(pattern)).starts_with('_'),
        "tuple_struct_pattern"
        | "struct_pattern"
        | "tuple_pattern"
        | "slice_pattern"
        | "or_pattern"
        | "range_pattern"
        | "scoped_identifier" => true,
        kind => kind.ends_with("_literal"),
    }
}

/// Returns the elements between the commas of a list, with their positions, and their number. `_` has a
/// position but no element.
pub(super) fn slots<'t>(node: Node<'t>, but: Option<Node<'t>>) -> (Vec<(usize, Node<'t>)>, usize) {
    let (mut slots, mut position, mut any) = (Vec::new(), 0, false);
    for child in node.children(&mut node.walk()) {
        match child.kind() {
            "," => {
                position += 1;
                any = false;
            }
            "(" | ")" | "[" | "]" | "|" | "attribute_item" => {}
            _ if child.is_extra() || Some(child) == but => {}
            _ => {
                any = true;
                if child.is_named() {
                    slots.push((position, child));
                }
            }
        }
    }
    (slots, position + usize::from(any))
}

fn parts(node: Node<'_>) -> Vec<Node<'_>> {
    children(node).into_iter().filter(|child| !child.is_extra() && child.kind() != "attribute_item").collect()
}
