//! Collects facts while a tree is walked: the position of the walk, and the facts found so far.

use tree_sitter::Node;

use crate::facts::{Definition, DefinitionKind, Facts, Role, Shape, Use};
use crate::language::Language;
use crate::scope::Scopes;
use crate::syntax::{MAX_DEPTH, digest, end_line_of, header, line_of, text_of};

/// A walk through the tree of one file.
pub(crate) struct FactBuilder<'t> {
    pub(crate) text: &'t str,
    /// The facts found so far.
    pub(crate) facts: Facts,
    /// The names bound inside functions.
    pub(crate) scopes: Scopes,
    /// The enclosing definition of the present position.
    pub(crate) within: Option<u32>,
    /// The enclosing types, namespaces and functions, joined with `.`.
    container: String,
    depth: usize,
}

impl<'t> FactBuilder<'t> {
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

    pub(crate) fn text(&self, node: Node<'_>) -> &'t str {
        text_of(node, self.text)
    }

    /// Returns true if the walk may go one level deeper. Otherwise, counts a problem. Pair it with
    /// [`ascend`](Self::ascend).
    pub(crate) fn descend(&mut self) -> bool {
        if self.depth >= MAX_DEPTH {
            self.facts.problems += 1;
            self.facts.omitted += 1;
            return false;
        }
        self.depth += 1;
        true
    }

    /// Goes one level up.
    pub(crate) fn ascend(&mut self) {
        self.depth -= 1;
    }

    /// Returns the present container, as in [`Definition::container`].
    pub(crate) fn container(&self) -> Option<Box<str>> {
        (!self.container.is_empty()).then(|| self.container.as_str().into())
    }

    /// Returns the path of a name that is defined here, including its container.
    pub(crate) fn path(&self, name: &str) -> String {
        if self.container.is_empty() { name.to_owned() } else { format!("{}.{name}", self.container) }
    }

    /// Enters a container. Returns the argument for [`leave`](Self::leave).
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

    /// Creates a definition at `node` with only its name and location.
    pub(crate) fn definition(&self, name: &str, kind: DefinitionKind, node: Node<'_>) -> Definition {
        let definition = Definition::new(name, kind, line_of(node), end_line_of(node));
        Definition { container: self.container(), ..definition }
    }

    /// Returns the digests of the signature and of the body of a definition. Neither includes its name.
    pub(crate) fn digests(
        &self,
        whole: Node<'t>,
        name: Option<Node<'t>>,
        body: Option<Node<'t>>,
    ) -> (u64, u64) {
        self.digests_without(whole, name.as_slice(), body)
    }

    /// Like [`Self::digests`], without the tokens of `names`.
    pub(crate) fn digests_without(
        &self,
        whole: Node<'t>,
        names: &[Node<'t>],
        body: Option<Node<'t>>,
    ) -> (u64, u64) {
        let signature = digest([whole], self.text, |node| Some(node) == body || names.contains(&node));
        (signature, digest(body, self.text, |_| false))
    }

    /// Returns the tokens of a definition's signature, see [`Definition::header`].
    pub(crate) fn header(&self, whole: Node<'t>, name: Option<Node<'t>>, body: Option<Node<'t>>) -> Box<str> {
        header(whole, name, body.as_slice(), self.text)
    }

    /// Records a definition. Returns its index.
    pub(crate) fn define(&mut self, definition: Definition) -> Option<u32> {
        let at = u32::try_from(self.facts.definitions.len()).ok()?;
        self.facts.definitions.push(definition);
        Some(at)
    }

    /// Records the use of a name at `node`.
    pub(crate) fn use_name(&mut self, node: Node<'_>, role: Role, of: Option<Shape>, arguments: Option<u16>) {
        let name = self.text(node);
        if !name.is_empty() {
            let (name, line, keywords, within) = (name.into(), line_of(node), Vec::new(), self.within);
            self.facts.uses.push(Use { name, line, role, of, arguments, keywords, within });
        }
    }
}
