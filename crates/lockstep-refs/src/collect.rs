//! Facts while a tree is walked: where in the text the walk stands, and what it has found so far.

use tree_sitter::Node;

use crate::facts::{Definition, DefinitionKind, Facts, Role, Shape, Use};
use crate::language::Language;
use crate::scope::Scopes;
use crate::syntax::{MAX_DEPTH, digest, end_line_of, header, line_of, text_of};

/// A walk through the tree of one file.
pub(crate) struct Collector<'t> {
    /// The text of the file.
    pub(crate) text: &'t str,
    /// What was found so far.
    pub(crate) facts: Facts,
    /// The names bound inside functions.
    pub(crate) scopes: Scopes,
    /// The definition that the walk stands in.
    pub(crate) within: Option<u32>,
    /// The types, namespaces and functions that the walk stands in, joined with `.`.
    container: String,
    depth: usize,
}

impl<'t> Collector<'t> {
    pub(crate) fn new(language: Language, text: &'t str) -> Self {
        Self {
            text,
            facts: Facts::none(language),
            scopes: Scopes::default(),
            within: None,
            container: String::new(),
            depth: 0,
        }
    }

    /// The text of a node.
    pub(crate) fn text(&self, node: Node<'_>) -> &'t str {
        text_of(node, self.text)
    }

    /// Whether the walk may go one level deeper; where not, that is a problem. Pair it with [`ascend`](Self::ascend).
    pub(crate) fn descend(&mut self) -> bool {
        if self.depth >= MAX_DEPTH {
            self.facts.problems += 1;
            return false;
        }
        self.depth += 1;
        true
    }

    /// Back from one level deeper.
    pub(crate) fn ascend(&mut self) {
        self.depth -= 1;
    }

    /// What the walk stands in, as [`Definition::container`].
    pub(crate) fn container(&self) -> Option<Box<str>> {
        (!self.container.is_empty()).then(|| self.container.as_str().into())
    }

    /// The name of something defined here, with what it stands in.
    pub(crate) fn path(&self, name: &str) -> String {
        if self.container.is_empty() { name.to_owned() } else { format!("{}.{name}", self.container) }
    }

    /// Goes into one more container. What [`leave`](Self::leave) needs to get out again.
    pub(crate) fn enter(&mut self, name: &str) -> usize {
        let before = self.container.len();
        if before > 0 {
            self.container.push('.');
        }
        self.container.push_str(name);
        before
    }

    /// Leaves a container.
    pub(crate) fn leave(&mut self, before: usize) {
        self.container.truncate(before);
    }

    /// A definition at `node` that says nothing yet but its name and place.
    pub(crate) fn definition(&self, name: &str, kind: DefinitionKind, node: Node<'_>) -> Definition {
        let definition = Definition::new(name, kind, line_of(node), end_line_of(node));
        Definition { container: self.container(), ..definition }
    }

    /// The digests of what a definition shows and of what it keeps to itself; neither says what it is called.
    pub(crate) fn digests(
        &self,
        whole: Node<'t>,
        name: Option<Node<'t>>,
        body: Option<Node<'t>>,
    ) -> (u64, u64) {
        self.digests_without(whole, name.as_slice(), body)
    }

    /// The same, of what shows neither these.
    pub(crate) fn digests_without(
        &self,
        whole: Node<'t>,
        names: &[Node<'t>],
        body: Option<Node<'t>>,
    ) -> (u64, u64) {
        let signature = digest([whole], self.text, |it| Some(it) == body || names.contains(&it));
        (signature, digest(body, self.text, |_| false))
    }

    /// Returns the tokens of what a definition shows, see [`Definition::header`].
    pub(crate) fn header(&self, whole: Node<'t>, name: Option<Node<'t>>, body: Option<Node<'t>>) -> Box<str> {
        header(whole, name, body, self.text)
    }

    /// Keeps a definition. Its position.
    pub(crate) fn define(&mut self, definition: Definition) -> Option<u32> {
        let at = u32::try_from(self.facts.definitions.len()).ok()?;
        self.facts.definitions.push(definition);
        Some(at)
    }

    /// Keeps the use of a name at `node`.
    pub(crate) fn use_name(&mut self, node: Node<'_>, role: Role, of: Option<Shape>, arguments: Option<u16>) {
        let name = self.text(node);
        if !name.is_empty() {
            let (name, line, keywords, within) = (name.into(), line_of(node), Vec::new(), self.within);
            self.facts.uses.push(Use { name, line, role, of, arguments, keywords, within });
        }
    }
}
