//! Changes to definitions of TypeScript. A function or type gets its new name in its whole file; a member only where it is
//! defined, because what else has its name is not known.

use lockstep_refs::facts::{Definition, DefinitionKind};
use tree_sitter::{Node, Tree};

use super::super::language::Mutation;
use super::super::syntax_edits::{apply, line, nodes, parse};

pub(super) fn mutate(text: &str, definition: &Definition, mutation: Mutation) -> Option<String> {
    if definition.name.starts_with('_') || matches!(&*definition.name, "constructor" | "default") {
        return None;
    }
    let tree = parse(&tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(), text)?;
    let found = definitions(&tree, text, definition);
    if !found.iter().any(|node| line(*node) == definition.line) {
        return None;
    }
    match mutation {
        Mutation::Rename => rename(&tree, text, definition, &found),
        Mutation::Remove => remove(text, &found),
        Mutation::ChangeSignature => resign(text, &found),
        Mutation::ChangeBody => body(text, &found),
    }
}

/// Everything in the file that defines the same name in the same place: overloads are one.
fn definitions<'t>(tree: &'t Tree, text: &str, definition: &Definition) -> Vec<Node<'t>> {
    let container = definition.container.as_deref().map(|path| path.rsplit('.').next().unwrap_or(path));
    let fits = |node: &Node<'t>| {
        let name = node.child_by_field_name("name").and_then(|name| text.get(name.byte_range()));
        is_definition(node.kind()) && name == Some(&*definition.name) && around(*node, text) == container
    };
    nodes(tree).into_iter().filter(fits).collect()
}

fn is_definition(kind: &str) -> bool {
    matches!(
        kind,
        "function_declaration"
            | "function_signature"
            | "class_declaration"
            | "abstract_class_declaration"
            | "interface_declaration"
            | "type_alias_declaration"
            | "enum_declaration"
            | "variable_declarator"
            | "method_definition"
            | "method_signature"
            | "abstract_method_signature"
            | "property_signature"
            | "public_field_definition"
    )
}

/// The name of the type that a node is a member of.
fn around<'a>(node: Node<'_>, text: &'a str) -> Option<&'a str> {
    let mut node = node;
    while let Some(parent) = node.parent() {
        if is_definition(parent.kind()) || parent.kind() == "internal_module" {
            return text.get(parent.child_by_field_name("name")?.byte_range());
        }
        node = parent;
    }
    None
}

fn is_member(definition: &Definition) -> bool {
    use DefinitionKind::{Field, Method, Variant};
    matches!(definition.kind, Field | Method | Variant)
}

fn rename(tree: &Tree, text: &str, definition: &Definition, found: &[Node<'_>]) -> Option<String> {
    let new = format!("{}Renamed", definition.name);
    let places: Vec<Node<'_>> = if is_member(definition) {
        found.iter().filter_map(|node| node.child_by_field_name("name")).collect()
    } else {
        let is_name = |node: &Node<'_>| matches!(node.kind(), "identifier" | "type_identifier");
        let named = |node: &Node<'_>| text.get(node.byte_range()) == Some(&*definition.name);
        nodes(tree).into_iter().filter(|node| is_name(node) && named(node)).collect()
    };
    apply(text, places.iter().map(|node| (node.start_byte(), node.end_byte(), new.clone())).collect())
}

fn remove(text: &str, found: &[Node<'_>]) -> Option<String> {
    let mut edits = Vec::new();
    for node in found {
        let mut whole = *node;
        if node.kind() == "variable_declarator" {
            whole = node.parent()?;
            if whole.named_child_count() > 1 {
                return None;
            }
        }
        if let Some(export) = whole.parent().filter(|parent| parent.kind() == "export_statement") {
            whole = export;
        }
        edits.push((whole.start_byte(), whole.end_byte(), String::new()));
    }
    apply(text, edits)
}

/// The function that a definition is, or holds.
fn function(node: Node<'_>) -> Option<Node<'_>> {
    match node.kind() {
        "variable_declarator" | "public_field_definition" => {
            let value = node.child_by_field_name("value")?;
            let declared = node.child_by_field_name("type").is_some();
            (matches!(value.kind(), "arrow_function" | "function_expression") && !declared).then_some(value)
        }
        _ => Some(node),
    }
}

/// One more parameter, which every call must give: the first one.
fn resign(text: &str, found: &[Node<'_>]) -> Option<String> {
    let mut edits = Vec::new();
    for node in found {
        let is_accessor = node.children(&mut node.walk()).any(|child| matches!(child.kind(), "get" | "set"));
        let parameters = function(*node)?.child_by_field_name("parameters")?;
        let first = parameters.named_child(0);
        if is_accessor
            || first.is_some_and(|candidate| {
                text.get(candidate.byte_range()).is_none_or(|text| text.starts_with("this"))
            })
        {
            return None;
        }
        let separator = if first.is_some() { ", " } else { "" };
        let at = parameters.start_byte() + 1;
        edits.push((at, at, format!("lockstepExtra: symbol{separator}")));
    }
    apply(text, edits)
}

fn body(text: &str, found: &[Node<'_>]) -> Option<String> {
    let bodies = found.iter().filter_map(|node| function(*node)?.child_by_field_name("body"));
    let block = bodies.into_iter().find(|body| body.kind() == "statement_block")?;
    apply(text, vec![(block.start_byte() + 1, block.start_byte() + 1, " void 0; ".to_owned())])
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
export class C {
  m(a: number): void;
  m(a: number) { return a; }
}
export const f = () => { return new C().m(1); };
";

    fn changed(name: &str, mutation: Mutation) -> String {
        let facts = lockstep_refs::language::facts("a.ts", TEXT);
        let definition = facts.definitions.iter().find(|definition| &*definition.name == name).unwrap();
        mutate(TEXT, definition, mutation).unwrap()
    }

    #[test]
    fn each_kind_of_change_has_its_effect() {
        assert_eq!(changed("m", Mutation::Rename).matches("mRenamed").count(), 2);
        assert!(changed("C", Mutation::Rename).contains("new CRenamed()"));
        assert_eq!(changed("m", Mutation::ChangeSignature).matches("m(lockstepExtra: symbol, a").count(), 2);
        assert!(changed("f", Mutation::ChangeSignature).contains("f = (lockstepExtra: symbol) =>"));
        assert!(!changed("f", Mutation::Remove).contains("const f"));
        assert!(changed("f", Mutation::ChangeBody).contains("{ void 0;  return"));
    }
}
