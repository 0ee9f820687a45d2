//! Written types: the names they use, and a plain form for resolution.
//!
//! The plain form has no references, lifetimes, `dyn` and `impl`: `a::B<C,D>`, `(A,B)`, `[A]`, `A+B` for
//! bounds, `_` for unknown, `$0` for the first type argument of a definition's owner.

use tree_sitter::Node;

use super::extractor::{Binding, Reader, Source, without_raw_prefix};
use super::macros::is_given;
use crate::facts::{Role, Shape};
use crate::syntax::children;

impl Reader {
    /// Records the names of a type.
    pub(super) fn type_uses(&mut self, source: Source<'_>, node: Node<'_>) {
        self.deeper(|reader| reader.type_uses_here(source, node));
    }

    fn type_uses_here(&mut self, source: Source<'_>, node: Node<'_>) {
        match node.kind() {
            "type_identifier" | "scoped_type_identifier" | "identifier" | "scoped_identifier" => {
                self.path(source, node, Role::Type, None);
            }
            "macro_invocation" => drop(self.macro_invocation(source, node)),
            "generic_type" => {
                self.bindings(source, node);
                for child in children(node) {
                    self.type_uses(source, child);
                }
            }
            "type_binding" => {
                if let Some(inner) = node.child_by_field_name("type") {
                    self.type_uses(source, inner);
                }
            }
            "array_type" => {
                for child in children(node) {
                    if node.child_by_field_name("length") == Some(child) {
                        self.expression(source, child);
                    } else {
                        self.type_uses(source, child);
                    }
                }
            }
            "block" => drop(self.expression(source, node)),
            "parameter" => {
                if let Some(inner) = node.child_by_field_name("type") {
                    self.type_uses(source, inner);
                }
            }
            "lifetime" | "type_parameters" | "use_bounds" | "attribute_item" => {}
            _ => {
                for child in children(node) {
                    self.type_uses(source, child);
                }
            }
        }
    }

    /// Records associated type bindings: `Item` of `Iterator<Item = u8>`.
    fn bindings(&mut self, source: Source<'_>, generic: Node<'_>) {
        let Some(of) = generic.child_by_field_name("type") else { return };
        let path: String = source.of(of).split_whitespace().collect();
        let arguments = generic.child_by_field_name("type_arguments").map(children).unwrap_or_default();
        for binding in arguments.into_iter().filter(|node| node.kind() == "type_binding") {
            let Some(name) = binding.child_by_field_name("name") else { continue };
            let of = Some(Shape::Name(path.as_str().into()));
            self.put(source.of(name), source.line(name), Role::Type, of, None);
        }
    }

    /// Returns the plain form of a type. `outward` is set for users of the definition, as opposed to its own
    /// body.
    pub(super) fn type_text(&self, source: Source<'_>, node: Node<'_>, outward: bool) -> String {
        self.plain_type_text(source, node, outward, 0)
    }

    fn plain_type_text(&self, source: Source<'_>, node: Node<'_>, outward: bool, depth: usize) -> String {
        if depth > 16 {
            return "_".to_owned();
        }
        let inner = |node: Option<Node<'_>>| {
            node.map_or("_".to_owned(), |node| self.plain_type_text(source, node, outward, depth + 1))
        };
        match node.kind() {
            "type_identifier"
            | "identifier"
            | "primitive_type"
            | "scoped_type_identifier"
            | "scoped_identifier" => self.plain_path(source, node, outward),
            "generic_type" | "generic_type_with_turbofish" => {
                let base = inner(node.child_by_field_name("type"));
                let arguments = node.child_by_field_name("type_arguments").map(children).unwrap_or_default();
                let arguments: Vec<String> = arguments
                    .into_iter()
                    .filter(|node| node.kind() != "lifetime" && !node.kind().contains("comment"))
                    .map(|node| inner(Some(node)))
                    .collect();
                with_arguments(base, &arguments)
            }
            "type_binding" | "reference_type" | "pointer_type" => inner(node.child_by_field_name("type")),
            "abstract_type" | "dynamic_type" => inner(node.child_by_field_name("trait")),
            "higher_ranked_trait_bound" => inner(node.child_by_field_name("type")),
            "tuple_type" => {
                let parts: Vec<String> = children(node).into_iter().map(|node| inner(Some(node))).collect();
                if let [only] = parts.as_slice() { only.clone() } else { format!("({})", parts.join(",")) }
            }
            "array_type" => format!("[{}]", inner(node.child_by_field_name("element"))),
            "bounded_type" | "trait_bounds" => {
                let parts: Vec<String> = children(node)
                    .into_iter()
                    .filter(|node| !matches!(node.kind(), "lifetime" | "use_bounds" | "removed_trait_bound"))
                    .map(|node| inner(Some(node)))
                    .filter(|part| part != "_" && !marker(part))
                    .collect();
                if parts.is_empty() { "_".to_owned() } else { parts.join("+") }
            }
            "qualified_type" | "bracketed_type" => inner(children(node).first().copied()),
            "function_type" => match node.child_by_field_name("return_type") {
                Some(result) => format!("fn<{}>", inner(Some(result))),
                None => "fn<()>".to_owned(),
            },
            "unit_type" => "()".to_owned(),
            _ => "_".to_owned(),
        }
    }

    /// Returns the path of a type, with `Self` and parameters replaced.
    fn plain_path(&self, source: Source<'_>, node: Node<'_>, outward: bool) -> String {
        let text: String = source.of(node).split_whitespace().collect();
        let text = without_arguments(&text);
        let (first, rest) = text.split_once("::").map_or((text.as_str(), None), |(a, b)| (a, Some(b)));
        let first = without_raw_prefix(first);
        let head = match first {
            // Users of the definition know the type better.
            "Self" if outward => "Self".to_owned(),
            "Self" => self.itself.as_deref().unwrap_or("_").to_owned(),
            "$crate" => "crate".to_owned(),
            _ if is_given(first) => "_".to_owned(),
            _ => match self.bound(first) {
                Some(Binding::Parameter { position: Some(position), default, .. }) if outward => default
                    .as_ref()
                    .map_or(format!("${position}"), |default| format!("${position}?{default}")),
                Some(Binding::Parameter { bounds, .. }) => bounds.to_string(),
                Some(Binding::Item) => "_".to_owned(),
                // A variable is not a type, whatever its name.
                Some(Binding::Value(_)) | None => first.to_owned(),
            },
        };
        match rest {
            None => head,
            // An associated type of a parameter is only known by its bounds.
            Some(_) if head == "_" || head.starts_with('$') || head.contains('+') => "_".to_owned(),
            Some(rest) => format!("{}::{rest}", without_arguments(&head)),
        }
    }

    /// Binds bounds that a `where` clause adds to parameters of enclosing items.
    fn bind_further(&mut self, source: Source<'_>, predicates: &[Node<'_>], own: &[(Node<'_>, &str)]) {
        for predicate in predicates {
            let (Some(left), Some(bounds)) =
                (predicate.child_by_field_name("left"), predicate.child_by_field_name("bounds"))
            else {
                continue;
            };
            let name = source.of(left);
            let Some(Binding::Parameter { bounds: known, position, default }) = self.bound(name) else {
                continue;
            };
            let (known, position, default) = (known.clone(), *position, default.clone());
            let added = self.type_text(source, bounds, false);
            if added == "_" || own.iter().any(|(_, own)| *own == name) {
                continue;
            }
            let bounds = if &*known == "_" { added } else { format!("{known}+{added}") };
            self.bind(name, Binding::Parameter { bounds: bounds.into(), position, default });
        }
    }

    /// Binds the type parameters of an item, with their bounds from the list and the `where` clause.
    pub(super) fn bind_parameters(
        &mut self,
        source: Source<'_>,
        item: Node<'_>,
        position_of: impl Fn(usize, &str) -> Option<usize>,
    ) {
        let parameters = item.child_by_field_name("type_parameters").map(children).unwrap_or_default();
        let named: Vec<(Node<'_>, &str)> = parameters
            .iter()
            .filter(|node| matches!(node.kind(), "type_parameter" | "const_parameter"))
            .filter_map(|node| Some((*node, source.of(node.child_by_field_name("name")?))))
            .collect();
        // First without bounds, so that bounds that name other parameters do not treat them as types.
        for (index, (_, name)) in named.iter().enumerate() {
            let position = position_of(index, name);
            self.bind(name, Binding::Parameter { bounds: "_".into(), position, default: None });
        }
        let clauses = children(item).into_iter().filter(|node| node.kind() == "where_clause");
        let predicates: Vec<Node<'_>> = clauses.flat_map(children).collect();
        for (index, (node, name)) in named.iter().enumerate() {
            let own = node.child_by_field_name("bounds");
            let more = predicates.iter().filter(|predicate| {
                predicate.child_by_field_name("left").is_some_and(|left| source.of(left) == *name)
            });
            let bounds: Vec<String> = own
                .into_iter()
                .chain(more.filter_map(|predicate| predicate.child_by_field_name("bounds")))
                .map(|bounds| self.type_text(source, bounds, false))
                .filter(|bounds| bounds != "_")
                .collect();
            let default =
                node.child_by_field_name("default_type").map(|default| self.type_text(source, default, true));
            let default =
                default.map(|default| without_arguments(&default)).filter(|default| is_path(default));
            if !bounds.is_empty() || default.is_some() {
                let position = position_of(index, name);
                let bounds = if bounds.is_empty() { "_".into() } else { bounds.join("+").into() };
                self.bind(name, Binding::Parameter { bounds, position, default: default.map(Into::into) });
            }
        }
        self.bind_further(source, &predicates, &named);
        for node in &parameters {
            for field in ["bounds", "default_type", "type", "value"] {
                if let Some(inner) = node.child_by_field_name(field) {
                    self.type_uses(source, inner);
                }
            }
        }
        for predicate in predicates {
            self.type_uses(source, predicate);
        }
    }
}

/// Returns true if a plain form is only a path.
fn is_path(text: &str) -> bool {
    text.starts_with(char::is_alphabetic) && text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == ':')
}

/// Returns true for bounds without members.
fn marker(bound: &str) -> bool {
    matches!(bound, "Send" | "Sync" | "Sized" | "Unpin" | "Copy" | "'static" | "Debug" | "fmt::Debug")
}

fn with_arguments(base: String, arguments: &[String]) -> String {
    // A future is represented by its output.
    if base == "Future" || base.ends_with("::Future") {
        return arguments.first().cloned().unwrap_or(base);
    }
    if arguments.is_empty() || base == "_" || base.contains('+') || base.starts_with('$') {
        return base;
    }
    format!("{}<{}>", without_arguments(&base), arguments.join(","))
}

/// A path without anything in angle brackets.
pub(super) fn without_arguments(text: &str) -> String {
    if !text.contains('<') {
        return text.to_owned();
    }
    let mut depth = 0_u32;
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => plain.push(c),
            _ => {}
        }
    }
    // `Vec::<u8>::new` without its arguments has two separators in a row.
    plain.replace("::::", "::")
}
