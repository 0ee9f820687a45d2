//! Syntax trees of the files in which places are checked.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use tree_sitter::{Node, Tree};

use crate::language::{Language, language_of, parsed};
use crate::limits::Limit;
use crate::memo::Memo;
use crate::syntax::{end_line_of, line_of, text_of};
use crate::world::{FileId, World};

/// More files are not parsed: what is in them stays undecided.
const MAX_FILES: usize = 300;

/// The trees of a world's files, each parsed once.
pub(super) struct Trees<'w> {
    pub(super) world: &'w dyn World,
    parsed: RefCell<HashMap<FileId, Option<Rc<Source>>>>,
}

/// A file with its tree.
pub(super) struct Source {
    pub(super) text: Arc<str>,
    pub(super) language: Language,
    tree: Tree,
}

impl<'w> Trees<'w> {
    pub(super) fn new(world: &'w dyn World) -> Self {
        Self { world, parsed: RefCell::default() }
    }

    pub(super) fn get(&self, file: FileId) -> Option<Rc<Source>> {
        if let Some(known) = self.parsed.borrow().get(&file) {
            return known.clone();
        }
        let has_room = self.parsed.borrow().len() < MAX_FILES;
        if !has_room {
            Limit::Files.reach();
        }
        let source = has_room.then(|| self.parse(file)).flatten().map(Rc::new);
        self.parsed.borrow_mut().insert(file, source.clone());
        source
    }

    fn parse(&self, file: FileId) -> Option<Source> {
        let text = self.world.text(file)?;
        let language = language_of(self.world.path(file), &text);
        // Files that the edits did not change are the same in all worlds of a question.
        let tree = Memo::parses(self.world).tree(language, &text)?;
        Some(Source { text, language, tree })
    }
}

impl Source {
    pub(super) fn new(language: Language, text: Arc<str>) -> Option<Self> {
        let tree = parsed(language, &text)?;
        Some(Self { text, language, tree })
    }

    pub(super) fn root(&self) -> Node<'_> {
        self.tree.root_node()
    }

    pub(super) fn text(&self, node: Node<'_>) -> &str {
        text_of(node, &self.text)
    }

    pub(super) fn leaves(&self, line: u32, written: &str) -> Vec<Node<'_>> {
        let written = written.rsplit(['.', ':', '\\']).next().unwrap_or(written);
        let mut found = Vec::new();
        let mut open = vec![self.root()];
        while let Some(node) = open.pop() {
            if line_of(node) > line || end_line_of(node) < line {
                continue;
            }
            if node.child_count() == 0 && line_of(node) == line && self.text(node) == written {
                found.push(node);
            }
            open.extend(node.children(&mut node.walk()));
        }
        found
    }

    /// The nodes of these kinds, outermost first.
    pub(super) fn nodes(&self, kinds: &[&str]) -> Vec<Node<'_>> {
        descendants(self.root()).into_iter().filter(|descendant| kinds.contains(&descendant.kind())).collect()
    }
}

/// A node and everything below it, in the order of the text.
pub(super) fn descendants(node: Node<'_>) -> Vec<Node<'_>> {
    let mut found = Vec::new();
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        found.push(node);
        let mut inside: Vec<Node<'_>> = node.children(&mut node.walk()).collect();
        inside.reverse();
        open.extend(inside);
    }
    found
}

/// The nodes around a node, the nearest first.
pub(super) fn ancestors(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    std::iter::successors(node.parent(), Node::parent)
}
