//! Changes of Rust definitions, as byte edits at positions of the syntax tree.

use lockstep_refs::facts::{Definition, DefinitionKind};
use tree_sitter::{Node, Parser};

use super::super::language::Mutation;

pub(super) fn mutate(text: &str, definition: &Definition, mutation: Mutation) -> Option<String> {
    with_node(text, definition, |node| match mutation {
        Mutation::Rename => rename(node, text),
        Mutation::Remove => Some(remove(node, text)),
        Mutation::ChangeSignature => resign(node, text),
        Mutation::ChangeBody => body(node, text),
    })
}

pub(super) fn deprecate(text: &str, definition: &Definition) -> Option<String> {
    with_node(text, definition, |node| Some(inserted(text, node.start_byte(), "#[deprecated] ")))
}

/// Returns true if a definition is accessed through a value or type.
pub(super) fn is_member(definition: &Definition) -> bool {
    use DefinitionKind::{Field, Method, Variant};
    // A constant in a module inside the file is found by its path, as one outside of it is.
    let owner = definition.container.as_deref().and_then(|path| path.rsplit('.').next());
    matches!(definition.kind, Method | Field | Variant)
        || (definition.kind == DefinitionKind::Value
            && owner.is_some_and(|owner| owner.starts_with(char::is_uppercase)))
}

/// Finds the definition in the syntax tree. Definitions that a macro creates are not in it.
fn with_node<T>(text: &str, definition: &Definition, edit: impl FnOnce(Node<'_>) -> Option<T>) -> Option<T> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_rust::LANGUAGE.into()).ok()?;
    let tree = parser.parse(text, None)?;
    let mut stack = vec![tree.root_node()];
    while let Some(node) = stack.pop() {
        let name = node.child_by_field_name("name").and_then(|name| text.get(name.byte_range()));
        let line = u32::try_from(node.start_position().row).ok()? + 1;
        let fits = name.is_some_and(|name| name.trim_start_matches("r#") == &*definition.name);
        if fits && line == definition.line && is_definition(node.kind()) {
            return edit(node);
        }
        let mut cursor = node.walk();
        stack.extend(node.children(&mut cursor));
    }
    None
}

fn is_definition(kind: &str) -> bool {
    kind.ends_with("_item")
        || matches!(kind, "field_declaration" | "enum_variant" | "macro_definition" | "associated_type")
}

fn rename(node: Node<'_>, text: &str) -> Option<String> {
    let name = node.child_by_field_name("name")?;
    let old = text.get(name.byte_range())?;
    if old.starts_with("r#") {
        return None;
    }
    let suffix = match old.chars().next()? {
        c if c.is_uppercase() && old.chars().any(char::is_lowercase) => "Renamed",
        c if c.is_uppercase() => "_RENAMED",
        _ => "_renamed",
    };
    Some(inserted(text, name.end_byte(), suffix))
}

/// Without the definition, its attributes and documentation.
fn remove(node: Node<'_>, text: &str) -> String {
    let mut start = node.start_byte();
    let mut before = node.prev_sibling();
    while let Some(sibling) = before {
        let belongs = sibling.kind() == "attribute_item"
            || (sibling.kind().contains("comment")
                && text.get(sibling.byte_range()).is_some_and(|t| t.starts_with("///")));
        if !belongs {
            break;
        }
        start = sibling.start_byte();
        before = sibling.prev_sibling();
    }
    let mut end = node.end_byte();
    if let Some(comma) = node.next_sibling().filter(|next| next.kind() == ",") {
        end = comma.end_byte();
    }
    replaced(text, start, end, "")
}

fn resign(node: Node<'_>, text: &str) -> Option<String> {
    match node.kind() {
        "function_item" | "function_signature_item" => {
            let parameters = node.child_by_field_name("parameters")?;
            Some(appended(parameters, text, "lockstep_extra: u8"))
        }
        "const_item" | "static_item" => {
            let value = node.child_by_field_name("value");
            let text = match value {
                Some(value) => tupled(value, text)?,
                None => text.to_owned(),
            };
            tupled(node.child_by_field_name("type")?, &text)
        }
        "field_declaration" | "type_item" => tupled(node.child_by_field_name("type")?, text),
        "struct_item" => {
            let body = node.child_by_field_name("body")?;
            let extra =
                if body.kind() == "field_declaration_list" { "pub lockstep_extra: u8" } else { "pub u8" };
            Some(appended(body, text, extra))
        }
        "enum_variant" => match node.child_by_field_name("body") {
            Some(body) if body.kind() == "field_declaration_list" => {
                Some(appended(body, text, "lockstep_extra: u8"))
            }
            Some(body) => Some(appended(body, text, "u8")),
            None => Some(inserted(text, node.child_by_field_name("name")?.end_byte(), "(u8)")),
        },
        "trait_item" => {
            let body = node.child_by_field_name("body")?;
            Some(inserted(text, body.start_byte() + 1, " fn lockstep_extra(&self);"))
        }
        _ => None,
    }
}

fn body(node: Node<'_>, text: &str) -> Option<String> {
    match node.kind() {
        "function_item" => {
            let body = node.child_by_field_name("body")?;
            let inner = text.get(body.byte_range())?;
            (!inner.contains("#![")).then(|| inserted(text, body.start_byte() + 1, " let _ = ();"))
        }
        "const_item" | "static_item" => {
            let value = node.child_by_field_name("value")?;
            let inner = text.get(value.byte_range())?;
            Some(replaced(text, value.start_byte(), value.end_byte(), &format!("{{ {inner} }}")))
        }
        _ => None,
    }
}

/// One more in a list in brackets.
fn appended(list: Node<'_>, text: &str, extra: &str) -> String {
    let mut cursor = list.walk();
    let parts: Vec<Node<'_>> = list.children(&mut cursor).filter(|child| !child.is_extra()).collect();
    let last = parts.iter().rev().nth(1);
    let empty = list.named_child_count() == 0;
    let comma = last.is_some_and(|last| last.kind() == ",");
    let separator = if empty || comma { " " } else { ", " };
    inserted(text, list.end_byte() - 1, &format!("{separator}{extra}"))
}

fn tupled(node: Node<'_>, text: &str) -> Option<String> {
    let inner = text.get(node.byte_range())?;
    Some(replaced(text, node.start_byte(), node.end_byte(), &format!("({inner},)")))
}

fn inserted(text: &str, at: usize, extra: &str) -> String {
    replaced(text, at, at, extra)
}

fn replaced(text: &str, start: usize, end: usize, by: &str) -> String {
    format!("{}{by}{}", text.get(..start).unwrap_or_default(), text.get(end..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use lockstep_refs::language::facts;

    use super::*;

    fn changed(text: &str, name: &str, mutation: Mutation) -> Option<String> {
        let facts = facts("src/lib.rs", text);
        let definition = facts.definitions.iter().find(|definition| &*definition.name == name)?;
        mutate(text, definition, mutation)
    }

    #[test]
    fn each_kind_of_definition_is_changed_in_its_own_way() {
        let text = "/// Doc\n#[inline]\npub fn f(a: u8) {}\npub const C: u8 = 1;\npub struct S { pub a: u8, b: u8 }\n\
                    pub enum E { A, B(u8) }\npub trait T { fn m(&self) {} }\n";
        let line = |name: &str, mutation: Mutation, at: usize| {
            changed(text, name, mutation).unwrap().lines().nth(at).unwrap().to_owned()
        };
        assert_eq!(line("f", Mutation::Rename, 2), "pub fn f_renamed(a: u8) {}");
        assert_eq!(line("f", Mutation::Remove, 1), "pub const C: u8 = 1;");
        assert_eq!(line("f", Mutation::ChangeSignature, 2), "pub fn f(a: u8, lockstep_extra: u8) {}");
        assert_eq!(line("f", Mutation::ChangeBody, 2), "pub fn f(a: u8) { let _ = ();}");
        assert_eq!(line("C", Mutation::ChangeSignature, 3), "pub const C: (u8,) = (1,);");
        assert_eq!(line("a", Mutation::Remove, 4), "pub struct S {  b: u8 }");
        assert_eq!(
            line("S", Mutation::ChangeSignature, 4),
            "pub struct S { pub a: u8, b: u8 , pub lockstep_extra: u8}"
        );
        assert_eq!(line("A", Mutation::ChangeSignature, 5), "pub enum E { A(u8), B(u8) }");
        assert_eq!(
            line("m", Mutation::ChangeSignature, 6),
            "pub trait T { fn m(&self, lockstep_extra: u8) {} }"
        );
        assert_eq!(
            line("T", Mutation::Rename, 6),
            "pub trait TRenamed { fn m(&self) {} }".replace("TRenamed", "T_RENAMED")
        );
        assert_eq!(changed(text, "E", Mutation::ChangeSignature), None);
    }
}
