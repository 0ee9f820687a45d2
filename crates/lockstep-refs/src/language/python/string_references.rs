//! Names in strings: `import_module("pkg.mod")`, `patch("pkg.mod.name")`, `setattr(thing, "name", …)`.
//! Checkers do not follow them. A call that raises an error if the name is missing is recorded with the number of its arguments.

use tree_sitter::Node;

use super::Walk;
use crate::facts::{Role, Shape, Use};
use crate::syntax::{children, line_of};

/// The maximum length of a path of names.
const MAX_PATH: usize = 200;

impl<'t> Walk<'t> {
    /// Records a string that is only a path of names: it may name a module or something in it.
    pub(super) fn named_in_string(&mut self, node: Node<'t>) {
        if let Some(text) = self.content(node).filter(|text| text.contains(['.', ':']) && is_path(text)) {
            // `pkg.mod:name`, as entry points are written.
            let path = text.replace(':', ".");
            self.keep_quoted(node, &path, None, None);
        }
    }

    /// Records the names in string arguments of a call: a module, or a member of the preceding argument.
    pub(super) fn named_in_arguments(&mut self, callee: &str, list: Node<'t>, shapes: &[Shape]) {
        let given: Vec<Node<'t>> =
            children(list).into_iter().filter(|child| child.kind() != "comment").collect();
        let last = callee.rsplit('.').next().unwrap_or(callee);
        let count = u16::try_from(given.len()).ok();
        match (last, given.as_slice()) {
            ("import_module" | "__import__", [module, rest @ ..]) => {
                let Some(name) = self.content(*module) else { return };
                let package = rest.first().map(|node| node.child_by_field_name("value").unwrap_or(*node));
                let package = package.and_then(|package| self.content(package));
                match (name.strip_prefix('.'), package) {
                    (Some(name), Some(package)) if is_path(package) && is_path(name) => {
                        self.keep_quoted(*module, &format!("{package}.{name}"), None, count);
                    }
                    (Some(inner), None) if is_path(inner.trim_start_matches('.')) => {
                        self.keep_quoted(*module, name, None, count);
                    }
                    (None, _) if !name.contains(':') && is_path(name) => {
                        self.keep_quoted(*module, name, None, count);
                    }
                    _ => {}
                }
            }
            ("patch" | "setattr" | "delattr", [path, ..]) if self.is_dotted(*path) => {
                if let Some(path_text) = self.content(*path) {
                    self.keep_quoted(*path, path_text, None, count);
                }
            }
            // `patch.object(thing, "name")` and similar functions take an object and the name of a member.
            ("getattr" | "setattr" | "hasattr" | "delattr" | "object", [_, name, rest @ ..]) => {
                let member =
                    self.content(*name).filter(|content| !content.contains(['.', ':']) && is_path(content));
                let is_tolerant = last == "hasattr" || last == "getattr" && !rest.is_empty();
                if let (Some(member), Some(of)) = (member, shapes.first()) {
                    self.keep_quoted(*name, member, Some(of.clone()), count.filter(|_| !is_tolerant));
                }
            }
            _ => {}
        }
    }

    fn is_dotted(&self, node: Node<'t>) -> bool {
        self.content(node).is_some_and(|text| text.contains('.') && !text.contains(':') && is_path(text))
    }

    pub(super) fn content(&self, node: Node<'t>) -> Option<&'t str> {
        if node.kind() != "string" {
            return None;
        }
        let parts = children(node);
        let mut contents = parts.iter().filter(|part| part.kind() == "string_content");
        let content = contents.next()?;
        let plain = contents.next().is_none() && parts.iter().all(|part| part.kind() != "interpolation");
        (plain && content.named_child_count() == 0).then(|| self.found.text(*content))
    }

    /// Records a name in a string, or adds the arguments of the call to it if the string was recorded by itself.
    fn keep_quoted(&mut self, node: Node<'t>, name: &str, of: Option<Shape>, arguments: Option<u16>) {
        let line = line_of(node);
        let is_same =
            |usage: &&mut Use| usage.role == Role::Quoted && *usage.name == *name && usage.line == line;
        let recorded = self.found.facts.uses.iter_mut().rev().take_while(|usage| usage.line >= line);
        if let Some(known) = recorded.into_iter().find(|usage| is_same(usage) && usage.of == of) {
            known.arguments = arguments;
            return;
        }
        self.found.facts.uses.push(Use {
            name: name.into(),
            line,
            role: Role::Quoted,
            of,
            arguments,
            keywords: Vec::new(),
            within: self.found.within,
        });
    }
}

/// Returns true if a text is a path of names with dots, one of which may be a colon.
fn is_path(text: &str) -> bool {
    let is_name = |part: &str| {
        !part.starts_with(|c: char| c.is_ascii_digit())
            && !part.is_empty()
            && part.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    text.len() <= MAX_PATH && text.matches(':').count() <= 1 && text.split(['.', ':']).all(is_name)
}
