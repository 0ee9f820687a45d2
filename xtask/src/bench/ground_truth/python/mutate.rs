//! Changes to definitions of Python. A name is changed in its whole file, so that the file fits itself.

use lockstep_refs::facts::{Definition, DefinitionKind};
use tree_sitter::{Node, Tree};

use super::super::language::Mutation;
use super::super::syntax_edits::{apply, line, nodes, parse};

pub(super) fn mutate(text: &str, definition: &Definition, mutation: Mutation) -> Option<String> {
    if definition.name.starts_with('_') {
        return None;
    }
    let tree = parse(&tree_sitter_python::LANGUAGE.into(), text)?;
    match mutation {
        Mutation::Rename => rename(&tree, text, &definition.name),
        Mutation::Remove => remove(&tree, text, definition),
        Mutation::ChangeSignature => resign(function(&tree, text, definition)?, text, definition),
        Mutation::ChangeBody => body(function(&tree, text, definition)?, text),
    }
}

fn rename(tree: &Tree, text: &str, name: &str) -> Option<String> {
    let new = format!("{name}_renamed");
    let named = nodes(tree).into_iter().filter(|node| {
        matches!(node.kind(), "identifier" | "string_content") && text.get(node.byte_range()) == Some(name)
    });
    apply(text, named.map(|node| (node.start_byte(), node.end_byte(), new.clone())).collect())
}

fn statement<'t>(tree: &'t Tree, text: &str, definition: &Definition) -> Option<Node<'t>> {
    nodes(tree).into_iter().find(|node| {
        let inner = match node.kind() {
            "decorated_definition" => node.child_by_field_name("definition"),
            "function_definition" | "class_definition" => Some(*node),
            "expression_statement" => node.named_child(0).filter(|child| child.kind() == "assignment"),
            _ => None,
        };
        let name = inner.and_then(|candidate| {
            candidate.child_by_field_name("name").or_else(|| candidate.child_by_field_name("left"))
        });
        line(*node) == definition.line
            && name.and_then(|name| text.get(name.byte_range())) == Some(&*definition.name)
    })
}

fn remove(tree: &Tree, text: &str, definition: &Definition) -> Option<String> {
    let node = statement(tree, text, definition)?;
    let again = nodes(tree)
        .into_iter()
        .filter(|candidate| {
            matches!(candidate.kind(), "assignment" | "function_definition" | "class_definition")
        })
        .filter_map(|candidate| {
            candidate.child_by_field_name("left").or_else(|| candidate.child_by_field_name("name"))
        })
        .filter(|candidate| {
            let left = text.get(candidate.byte_range()).unwrap_or_default();
            left == &*definition.name || left == format!("self.{}", definition.name)
        })
        .count();
    // A name with several definitions would still be defined.
    (again == 1).then(|| apply(text, vec![(node.start_byte(), node.end_byte(), "pass".to_owned())]))?
}

/// The function that a definition is; a property is none.
fn function<'t>(tree: &'t Tree, text: &str, definition: &Definition) -> Option<Node<'t>> {
    if !matches!(definition.kind, DefinitionKind::Function | DefinitionKind::Method) {
        return None;
    }
    let node = statement(tree, text, definition)?;
    if node.kind() == "decorated_definition" { node.child_by_field_name("definition") } else { Some(node) }
}

/// One more parameter, which every call must give: the first one.
fn resign(function: Node<'_>, text: &str, definition: &Definition) -> Option<String> {
    let parameters = function.child_by_field_name("parameters")?;
    let first = parameters.named_child(0).filter(|child| child.kind() != "comment");
    let receiver = first.filter(|candidate| {
        definition.kind == DefinitionKind::Method
            && matches!(text.get(candidate.byte_range()), Some("self" | "cls"))
    });
    let (at, new) = match (receiver, first) {
        (Some(receiver), _) => (receiver.end_byte(), ", lockstep_extra".to_owned()),
        (None, Some(first)) => (first.start_byte(), "lockstep_extra, ".to_owned()),
        (None, None) => (parameters.start_byte() + 1, "lockstep_extra".to_owned()),
    };
    apply(text, vec![(at, at, new)])
}

fn body(function: Node<'_>, text: &str) -> Option<String> {
    let body = function.child_by_field_name("body")?;
    if line(body) == line(function) {
        return None;
    }
    let at = body.start_byte();
    let indent = " ".repeat(body.start_position().column);
    apply(text, vec![(at, at, format!("lockstep_extra = 1\n{indent}"))])
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
class C:
    def m(self, a):
        return a

@decorated
def f():
    return C().m(1)
";

    fn changed(name: &str, mutation: Mutation) -> String {
        let facts = lockstep_refs::language::facts("a.py", TEXT);
        let definition = facts.definitions.iter().find(|definition| &*definition.name == name).unwrap();
        mutate(TEXT, definition, mutation).unwrap()
    }

    #[test]
    fn each_kind_of_change_has_its_effect() {
        assert!(changed("m", Mutation::Rename).contains("C().m_renamed(1)"));
        assert!(changed("m", Mutation::ChangeSignature).contains("def m(self, lockstep_extra, a):"));
        assert!(changed("f", Mutation::ChangeSignature).contains("def f(lockstep_extra):"));
        assert!(changed("f", Mutation::Remove).ends_with("pass\n"));
        assert!(changed("f", Mutation::ChangeBody).contains("    lockstep_extra = 1\n    return C()"));
    }
}
