//! The type that TypeScript expects of an object, by the text around it.

use tree_sitter::Node;

use super::super::tree::Source;
use crate::facts::Definition;
use crate::limits::Limit;
use crate::syntax::TOKEN_END;
use crate::world::{World, words};

/// Words of types that have only some of the properties of another one.
const LOOSE: &[&str] = &["Partial", "Pick", "Omit", "Exclude", "Extract", "DeepPartial", "keyof"];
/// A name that more files contain is looked up in the first ones only.
const MAX_FILES: usize = 50;

/// Returns true if an object need not have all properties: it is asserted, completed by another one, or of one of several types.
pub(super) fn is_loose(world: &dyn World, source: &Source, object: Node<'_>) -> bool {
    let mut inner = object;
    while let Some(node) = inner.parent() {
        match node.kind() {
            "as_expression"
            | "type_assertion"
            | "spread_element"
            | "assignment_pattern"
            | "object_assignment_pattern" => {
                return true;
            }
            "variable_declarator"
            | "required_parameter"
            | "optional_parameter"
            | "public_field_definition" => {
                return is_loose_type(
                    node.child_by_field_name("type").map_or("", |annotation| source.text(annotation)),
                );
            }
            "function_declaration" | "method_definition" | "function_expression" | "arrow_function" => {
                let gives = node.child_by_field_name("return_type");
                if gives.is_some() || node.kind() != "arrow_function" {
                    return is_loose_type(gives.map_or("", |gives| source.text(gives)));
                }
            }
            "call_expression" | "new_expression" => {
                let callee =
                    node.child_by_field_name("function").or_else(|| node.child_by_field_name("constructor"));
                let arguments = node
                    .child_by_field_name("type_arguments")
                    .map_or("", |type_arguments| source.text(type_arguments));
                let name = callee.and_then(|callee| words(source.text(callee)).last()).unwrap_or_default();
                return is_loose_type(arguments) || takes_loose(world, name);
            }
            _ => {}
        }
        inner = node;
    }
    false
}

fn is_loose_type(text: &str) -> bool {
    let text = text.trim_start_matches(':');
    let others = text.split('|').filter(|part| !is_no_object(part.trim())).count();
    others > 1 || words(text).any(|word| LOOSE.contains(&word)) || text.contains(" in ")
}

/// Returns true if a type, as it is written, has no objects with properties of their own.
fn is_no_object(text: &str) -> bool {
    let is_literal = text.starts_with(['"', '\'', '`']) || text.starts_with(|c: char| c.is_ascii_digit());
    is_literal
        || matches!(
            text,
            "" | "undefined"
                | "null"
                | "string"
                | "number"
                | "boolean"
                | "bigint"
                | "symbol"
                | "true"
                | "false"
                | "void"
                | "never"
        )
}

/// Returns true if a function or constructor of this name takes one of several types, or a part of one.
fn takes_loose(world: &dyn World, name: &str) -> bool {
    let is_meant = |definition: &Definition| {
        let owner = definition.container.as_deref().and_then(|path| path.rsplit('.').next());
        *definition.name == *name || &*definition.name == "constructor" && owner == Some(name)
    };
    let is_loose = |definition: &Definition| {
        let tokens: Vec<&str> = definition.header.split(TOKEN_END).collect();
        let is_union =
            |three: &[&str]| three[1] == "|" && ![three[0], three[2]].iter().any(|text| is_no_object(text));
        tokens.iter().any(|token| LOOSE.contains(token) || *token == "in") || tokens.windows(3).any(is_union)
    };
    let files = Limit::Files.take(world.containing(name), MAX_FILES);
    let mut facts = files.filter_map(|file| world.facts(file));
    facts.any(|facts| facts.definitions.iter().any(|definition| is_meant(definition) && is_loose(definition)))
}
