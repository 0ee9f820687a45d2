//! Reads code by a table: common constructs (calls, members, names, types, locals) are handled here, and a
//! language defines the names of its nodes and its own constructs ([`Grammar::special`]).
//!
//! Paths of names have `.` between their parts in all languages.

mod calls;
mod definitions;
mod shapes;

use calls::invocation;

pub(crate) use calls::argument_count;
pub(crate) use definitions::{Function, Parameter, Type, arity};

use std::collections::HashSet;

use tree_sitter::Node;

use crate::fact_builder::FactBuilder;
use crate::facts::{Facts, Import, ImportForm, ImportedName, Role, Shape, Use};
use crate::language::{self, Language};
use crate::scope;
use crate::syntax::{children, digest, line_of, problems, unread, unread_lines};

/// The node kinds of a language, and the names of their fields. An empty field means the first child, or for
/// arguments the last.
pub(crate) struct Grammar {
    pub(crate) language: Language,
    pub(crate) names: &'static [&'static str],
    pub(crate) types: &'static [&'static str],
    /// Types with arguments, and arrays: the head is the first type in them.
    pub(crate) generics: &'static [&'static str],
    /// Whole paths of names.
    pub(crate) paths: &'static [&'static str],
    /// Calls: the callee and the arguments.
    pub(crate) calls: &'static [(&'static str, &'static str, &'static str)],
    /// Calls of members: the object, if there is one, the name and the arguments.
    pub(crate) invocations: &'static [(&'static str, &'static str, &'static str, &'static str)],
    /// Members: the object and the name.
    pub(crate) members: &'static [(&'static str, &'static str, &'static str)],
    /// Object creations: the type and the arguments.
    pub(crate) creations: &'static [(&'static str, &'static str, &'static str)],
    pub(crate) itself: &'static [&'static str],
    pub(crate) parent: &'static [&'static str],
    /// Subscripts: the object.
    pub(crate) elements: &'static [(&'static str, &'static str)],
    /// Casts: the type.
    pub(crate) casts: &'static [(&'static str, &'static str)],
    /// Expressions with the value of their content: parentheses, `&x`, `x!!`.
    pub(crate) transparent: &'static [&'static str],
    pub(crate) skipped: &'static [&'static str],
    /// Functions, whose bodies do not belong to the enclosing type.
    pub(crate) functions: &'static [&'static str],
    /// Set if a file is like a function body: a script.
    pub(crate) script: bool,
    /// Returns the shape of expressions that only this language has. The last argument is the depth in the
    /// expression. Inner expressions are evaluated with [`Walk::shape_within`], so that the depth is counted.
    pub(crate) infer: fn(&Walk<'_>, Node<'_>, usize) -> Option<Shape>,
    /// Handles constructs that only this language has. Returns true if the node is finished.
    pub(crate) special: fn(&mut Walk<'_>, Node<'_>) -> bool,
}

impl Grammar {
    /// Returns an empty grammar of a language.
    pub(crate) const fn of(language: Language, special: fn(&mut Walk<'_>, Node<'_>) -> bool) -> Self {
        Self {
            language,
            names: &[],
            types: &[],
            generics: &[],
            paths: &[],
            calls: &[],
            invocations: &[],
            members: &[],
            creations: &[],
            itself: &[],
            parent: &[],
            elements: &[],
            casts: &[],
            transparent: &[],
            skipped: &[],
            functions: &[],
            script: false,
            infer: |_, _, _| None,
            special,
        }
    }
}

pub(crate) fn facts(grammar: &'static Grammar, text: &str) -> Facts {
    let Some(tree) = language::parsed(grammar.language, text) else {
        return Facts::unparsable(grammar.language);
    };
    let mut walk = Walk {
        grammar,
        collector: FactBuilder::new(grammar.language, text),
        seen: HashSet::new(),
        parents: Vec::new(),
    };
    if grammar.script {
        walk.collector.scopes.open();
    }
    walk.children(tree.root_node());
    let mut facts = walk.collector.facts;
    facts.problems += problems(&tree);
    facts.unread = unread_lines(&tree, text);
    facts
}

/// Returns true if two texts have the same tokens, and in unparsed parts the same words, ignoring comment
/// lines.
pub(crate) fn same_tokens(grammar: &Grammar, one: &str, other: &str) -> bool {
    let tokens = |text: &str| {
        let tree = language::parsed(grammar.language, text)?;
        let unread = unread(&tree).into_iter().filter_map(|range| text.get(range));
        let lines = unread.flat_map(str::lines).filter(|line| !line.trim_start().starts_with(['/', '*']));
        let words: Vec<String> = lines.flat_map(str::split_whitespace).map(str::to_owned).collect();
        Some((digest([tree.root_node()], text, |_| false), words))
    };
    tokens(one).zip(tokens(other)).is_some_and(|(one, other)| one == other)
}

/// A walk through one tree.
pub(crate) struct Walk<'t> {
    pub(crate) grammar: &'static Grammar,
    pub(crate) collector: FactBuilder<'t>,
    /// Nodes that are already handled and must be skipped.
    seen: HashSet<usize>,
    /// The kinds of the nodes whose children are being visited. tree-sitter finds a node's parent from the root, which takes time in
    /// proportion to the file.
    pub(crate) parents: Vec<u16>,
}

impl<'t> Walk<'t> {
    pub(crate) fn text(&self, node: Node<'_>) -> &'t str {
        self.collector.text(node)
    }

    pub(crate) fn visit(&mut self, node: Node<'_>) {
        if self.seen.contains(&node.id()) || !self.collector.descend() {
            return;
        }
        if !(self.grammar.special)(self, node) {
            self.visit_default(node);
        }
        self.collector.ascend();
    }

    pub(crate) fn children(&mut self, node: Node<'_>) {
        self.children_but(node, None);
    }

    /// Visits the children of a node, except one. Children in type positions are visited as types.
    pub(crate) fn children_but(&mut self, node: Node<'_>, left_out: Option<Node<'_>>) {
        self.parents.push(node.kind_id());
        let mut cursor = node.walk();
        let mut more = cursor.goto_first_child();
        while more {
            let child = cursor.node();
            if child.is_named() && Some(child) != left_out {
                match cursor.field_name() {
                    Some("type" | "returns" | "return_type") => self.visit_type(child),
                    _ => self.visit(child),
                }
            }
            more = cursor.goto_next_sibling();
        }
        self.parents.pop();
    }

    /// Visits a node in a type position.
    pub(crate) fn visit_type(&mut self, node: Node<'_>) {
        if self.seen.contains(&node.id()) || !self.collector.descend() {
            return;
        }
        if !(self.grammar.special)(self, node) {
            self.usual_type(node);
        }
        self.collector.ascend();
    }

    /// Visits a type in the common way.
    pub(crate) fn usual_type(&mut self, node: Node<'_>) {
        let (grammar, kind) = (self.grammar, node.kind());
        if grammar.paths.contains(&kind) {
            self.path(node, Role::Type, None);
        } else if grammar.names.contains(&kind) || grammar.types.contains(&kind) {
            self.use_bare_name(node, Role::Type, None);
        } else if !grammar.skipped.contains(&kind) {
            children(node).into_iter().for_each(|child| self.visit_type(child));
        }
    }

    /// Visits a node in the common way.
    pub(crate) fn visit_default(&mut self, node: Node<'_>) {
        let (grammar, kind) = (self.grammar, node.kind());
        if grammar.skipped.contains(&kind) || kind.contains("comment") {
            return;
        }
        if let Some((object, name, arguments)) = invocation(grammar, node) {
            self.invocation(object, name, arguments);
        } else if let Some((callee, arguments)) = parts(grammar.calls, node) {
            self.call(callee, Some(arguments));
        } else if let Some((type_node, arguments)) = parts(grammar.creations, node) {
            self.creation(type_node, Some(arguments));
        } else if let Some((object, name)) = parts(grammar.members, node) {
            self.member(object, name, Role::Value, None);
        } else if grammar.paths.contains(&kind) {
            let role = if kind.contains("type") { Role::Type } else { Role::Value };
            self.path(node, role, None);
        } else if grammar.types.contains(&kind) {
            self.use_bare_name(node, Role::Type, None);
        } else if grammar.names.contains(&kind) {
            self.use_bare_name(node, Role::Value, None);
        } else {
            self.children(node);
        }
    }

    /// Records the use of a member of an object.
    pub(crate) fn member(&mut self, object: Node<'_>, name: Node<'_>, role: Role, arguments: Option<u16>) {
        self.visit(object);
        let of = self.shape(object);
        let simple = if self.grammar.generics.contains(&name.kind()) { self.head(name) } else { name };
        self.collector.use_name(simple, role, Some(of), arguments);
        if simple != name {
            children(name)
                .into_iter()
                .filter(|child| *child != simple)
                .for_each(|child| self.visit_type(child));
        }
    }

    /// Records the use of a bare name, unless it is a local variable.
    pub(crate) fn use_bare_name(&mut self, node: Node<'_>, role: Role, arguments: Option<u16>) {
        if role == Role::Type || self.collector.scopes.get(self.text(node)).is_none() {
            self.collector.use_name(node, role, None, arguments);
        }
    }

    /// Records a path of names: the last is used, the preceding ones qualify it, and the first is used too.
    pub(crate) fn path(&mut self, node: Node<'_>, role: Role, arguments: Option<u16>) {
        let path = dotted(self.text(node));
        let Some((before, name)) = path.rsplit_once('.') else {
            let name = path.as_str();
            return self.record_use(node, name, role, None, arguments);
        };
        let mut parts = before.split('.');
        let first = parts.next().unwrap_or_default();
        if let Some(local) = self.collector.scopes.get(first).cloned() {
            let of = parts.fold(local, scope::member);
            return self.record_use(node, name, role, Some(of), arguments);
        }
        self.prefix(node, before);
        self.record_use(node, name, role, Some(Shape::Name(before.into())), arguments);
    }

    /// Records the parts of a path before its last: namespaces and types.
    pub(crate) fn prefix(&mut self, node: Node<'_>, before: &str) {
        let mut prefix = String::new();
        for part in before.split('.').filter(|part| !part.is_empty()) {
            let of = (!prefix.is_empty()).then(|| Shape::Name(prefix.as_str().into()));
            self.record_use(node, part, Role::Type, of, None);
            if !prefix.is_empty() {
                prefix.push('.');
            }
            prefix.push_str(part);
        }
    }

    /// Excludes a node from the rest of the walk.
    pub(crate) fn skip_node(&mut self, node: Node<'_>) {
        self.seen.insert(node.id());
    }

    /// Records the use of a name that differs from the node's text.
    pub(crate) fn record_use(
        &mut self,
        node: Node<'_>,
        name: &str,
        role: Role,
        of: Option<Shape>,
        arguments: Option<u16>,
    ) {
        if name.is_empty() {
            return;
        }
        let (within, line) = (self.collector.within, line_of(node));
        let (name, keywords) = (name.into(), Vec::new());
        self.collector.facts.uses.push(Use { name, line, role, of, arguments, keywords, within });
    }

    /// Walks a node as a part of the definition at `within`.
    pub(crate) fn visit_within(&mut self, within: Option<u32>, node: Node<'_>) {
        let before = self.collector.within;
        if within.is_some() {
            self.collector.within = within;
        }
        self.visit(node);
        self.collector.within = before;
    }

    /// Binds a local variable with its type, otherwise with its initial value.
    pub(crate) fn local(&mut self, name: Node<'_>, type_: Option<Node<'_>>, initial: Option<Node<'_>>) {
        let shape = match (type_, initial) {
            (Some(type_), _) => self.type_shape(type_),
            (None, Some(initial)) => self.shape(initial),
            (None, None) => Shape::Unknown,
        };
        self.collector.scopes.bind(self.text(name), shape);
    }

    pub(crate) fn is_inside_function(&self) -> bool {
        self.collector.scopes.is_inside()
    }

    /// Records an import of `module`.
    pub(crate) fn import(&mut self, node: Node<'_>, import: ImportOf<'_>) {
        let line = line_of(node);
        let name =
            |(name, local): (&str, &str)| ImportedName { name: name.into(), local: local.into(), line };
        self.collector.facts.imports.push(Import {
            module: import.module.into(),
            names: import.name.map(name).into_iter().collect(),
            alias: import.alias.map(Into::into),
            glob: import.glob,
            reexport: false,
            form: import.form,
            container: self.collector.container(),
            line,
        });
    }
}

#[derive(Clone, Copy)]
pub(crate) struct ImportOf<'a> {
    pub(crate) module: &'a str,
    /// One name of it, and its local name.
    pub(crate) name: Option<(&'a str, &'a str)>,
    pub(crate) alias: Option<&'a str>,
    pub(crate) glob: bool,
    pub(crate) form: ImportForm,
}

impl<'a> ImportOf<'a> {
    pub(crate) fn module(module: &'a str) -> Self {
        Self { module, name: None, alias: None, glob: false, form: ImportForm::Plain }
    }
}

/// Returns the two parts of a node that a table names.
fn parts<'n>(table: &[(&str, &str, &str)], node: Node<'n>) -> Option<(Node<'n>, Node<'n>)> {
    let (_, first, second) = table.iter().find(|(kind, ..)| *kind == node.kind())?;
    let last = || node.named_child(u32::try_from(node.named_child_count()).ok()?.checked_sub(1)?);
    let first = if first.is_empty() { node.named_child(0) } else { node.child_by_field_name(first) }?;
    let second = if second.is_empty() { last() } else { node.child_by_field_name(second) }?;
    (first != second).then_some((first, second))
}

/// Returns a path with `.` between its parts, without spaces and type arguments: `a::b<c>::d` is `a.b.d`.
pub(crate) fn dotted(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    let mut depth = 0_u32;
    for c in path.chars() {
        match c {
            '<' | '[' | '(' => depth += 1,
            '>' | ']' | ')' => depth = depth.saturating_sub(1),
            _ if depth > 0 || c.is_whitespace() || matches!(c, '*' | '&' | '?' | '!' | '`' | '@') => {}
            ':' | '\\' | '.' | '-' => {
                if !out.ends_with('.') && !out.is_empty() {
                    out.push('.');
                }
            }
            c => out.push(c),
        }
    }
    out.truncate(out.trim_end_matches('.').len());
    out
}

/// Returns the conventional file name of a type: `HTTPServer` is in `http_server`.
pub(crate) fn snake(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut out = String::new();
    for (at, letter) in letters.iter().enumerate() {
        let after_small = at > 0 && letters.get(at - 1).is_some_and(|letters| !letters.is_uppercase());
        let before_small = at > 0 && letters.get(at + 1).is_some_and(|letters| letters.is_lowercase());
        if letter.is_uppercase() && (after_small || before_small) {
            out.push('_');
        }
        out.extend(letter.to_lowercase());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_after_types() {
        for (name, expected) in
            [("HttpServer", "http_server"), ("HTTPServer", "http_server"), ("list", "list")]
        {
            assert_eq!(snake(name), expected);
        }
    }

    #[test]
    fn paths_are_written_with_dots() {
        for (path, expected) in
            [("a::b<c::d>::e", "a.b.e"), ("\\A\\B", "A.B"), ("::x", "x"), ("a . b", "a.b"), ("*T?", "T")]
        {
            assert_eq!(dotted(path), expected);
        }
    }
}
