//! Reads one file: the state of the walk over its tree, and the recording of facts.
//!
//! The walk itself is in `items`, `expressions`, `patterns`, `types`, `paths`, `imports` and `tokens`.

use std::collections::HashMap;

use tree_sitter::Node;

use super::macros::is_given;
use crate::error_regions::{self, CommentSyntax};
use crate::facts::{Definition, Facts, ImportForm, Reach, Role, Shape, Use};
use crate::language::Language;
use crate::syntax;

/// Without single quotes, because lifetimes begin with one.
const SCRIPT: CommentSyntax = CommentSyntax { comment: "//", quotes: &['"'] };

/// Returns the facts of a text. `None` if the parser gives up.
pub(super) fn read(text: &str) -> Option<Facts> {
    let tree = parse(text)?;
    let mut reader = Reader::new();
    reader.facts.problems = syntax::problems(&tree);
    reader.facts.unread = syntax::unread_lines(&tree, text);
    reader.items(Source { text, line: 0 }, tree.root_node());
    error_regions::add_uses(&tree, text, SCRIPT, &mut reader.facts);
    Some(reader.finish())
}

/// Returns the uses of a text, with the operators and placeholders that call methods of traits.
///
/// The name of such a use is the operator or placeholder, as in `==`, `<`, `{}` and `{:?}`.
pub(super) fn read_with_operators(text: &str) -> Option<Facts> {
    let tree = parse(text)?;
    let mut reader = Reader { notes_operators: true, ..Reader::new() };
    reader.items(Source { text, line: 0 }, tree.root_node());
    Some(reader.finish())
}

pub(super) fn parse(text: &str) -> Option<tree_sitter::Tree> {
    syntax::parse(&tree_sitter_rust::LANGUAGE.into(), text)
}

/// A text that is read: the file, or the content of a macro's brackets.
#[derive(Clone, Copy)]
pub(super) struct Source<'t> {
    pub(super) text: &'t str,
    /// The number of lines of the file before it.
    pub(super) line: u32,
}

impl<'t> Source<'t> {
    pub(super) fn of(self, node: Node<'_>) -> &'t str {
        syntax::text_of(node, self.text)
    }

    pub(super) fn line(self, node: Node<'_>) -> u32 {
        self.line.saturating_add(syntax::line_of(node))
    }

    pub(super) fn end_line(self, node: Node<'_>) -> u32 {
        self.line.saturating_add(syntax::end_line_of(node))
    }
}

/// The meaning of a name inside a function or a generic item.
#[derive(Clone)]
pub(super) enum Binding {
    /// A variable or parameter.
    Value(Shape),
    Parameter {
        /// The traits it is bound by, as types are written; `_` without any.
        bounds: Box<str>,
        /// Its position among the arguments of the type that is defined or implemented.
        position: Option<usize>,
        default: Option<Box<str>>,
    },
    /// An item inside a function.
    Item,
}

pub(super) struct Reader {
    pub(super) facts: Facts,
    /// The inline modules around, outermost first.
    pub(super) modules: Vec<Box<str>>,
    /// The types, traits and functions around, inside those modules.
    pub(super) owners: Vec<Box<str>>,
    /// The type of `Self`, in the plain form of types.
    pub(super) itself: Option<Box<str>>,
    pub(super) within: Option<u32>,
    scopes: Vec<HashMap<Box<str>, Binding>>,
    /// Definitions that are private to their module, with that module.
    pub(super) private: HashMap<u32, Option<Box<str>>>,
    pub(super) depth: usize,
    /// The macro whose rules are read.
    pub(super) making: Option<u32>,
    /// The number of enclosing macro brackets.
    pub(super) brackets: usize,
    /// The first argument of the macro that was read last.
    pub(super) argument: Shape,
    /// Set if operators and placeholders are recorded as uses.
    pub(super) notes_operators: bool,
}

impl Reader {
    fn new() -> Self {
        Self {
            facts: Facts::none(Language::Rust),
            modules: Vec::new(),
            owners: Vec::new(),
            itself: None,
            within: None,
            scopes: Vec::new(),
            private: HashMap::new(),
            depth: 0,
            making: None,
            brackets: 0,
            argument: Shape::Unknown,
            notes_operators: false,
        }
    }

    /// Completes the facts: private items are visible in the modules below, and outside the file if those are
    /// other files.
    fn finish(mut self) -> Facts {
        let children = self.facts.imports.iter().filter(|import| import.form == ImportForm::Child);
        let children: Vec<&str> =
            children.map(|import| import.container.as_deref().unwrap_or_default()).collect();
        for (index, module) in &self.private {
            let below = |child: &&str| match module {
                None => true,
                Some(module) => {
                    child.strip_prefix(&**module).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
                }
            };
            if !children.iter().any(below)
                && let Some(definition) = self.facts.definitions.get_mut(*index as usize)
            {
                definition.reach = Reach::File;
            }
        }
        self.facts
    }

    pub(super) fn define(&mut self, definition: Definition) -> u32 {
        let index = u32::try_from(self.facts.definitions.len()).unwrap_or(u32::MAX);
        self.facts.definitions.push(definition);
        index
    }

    pub(super) fn put(
        &mut self,
        name: &str,
        line: u32,
        role: Role,
        of: Option<Shape>,
        arguments: Option<u16>,
    ) {
        let name = without_raw_prefix(name);
        if name.is_empty() || name == "_" || is_given(name) {
            return;
        }
        // Uses in generated code belong to the macro.
        let within = self.making.or(self.within);
        let (name, keywords) = (name.into(), Vec::new());
        self.facts.uses.push(Use { name, line, role, of, arguments, keywords, within });
    }

    /// The inline modules around, as a container.
    pub(super) fn module(&self) -> Option<Box<str>> {
        joined(&self.modules, &[])
    }

    /// Everything around, as a container.
    pub(super) fn container(&self) -> Option<Box<str>> {
        joined(&self.modules, &self.owners)
    }

    pub(super) fn scoped<T>(&mut self, inside: impl FnOnce(&mut Self) -> T) -> T {
        self.scopes.push(HashMap::new());
        let result = inside(self);
        self.scopes.pop();
        result
    }

    /// Reads an item, which does not see the variables around it.
    pub(super) fn apart<T>(&mut self, inside: impl FnOnce(&mut Self) -> T) -> T {
        let scopes = std::mem::take(&mut self.scopes);
        let result = inside(self);
        self.scopes = scopes;
        result
    }

    pub(super) fn bind(&mut self, name: &str, binding: Binding) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(without_raw_prefix(name).into(), binding);
        }
    }

    pub(super) fn bound(&self, name: &str) -> Option<&Binding> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    /// Runs `inside` one level deeper. Code that is nested too deeply is left out.
    pub(super) fn deeper<T>(&mut self, inside: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.depth >= syntax::MAX_DEPTH {
            self.facts.problems += 1;
            self.facts.omitted += 1;
            return None;
        }
        self.depth += 1;
        let result = inside(self);
        self.depth -= 1;
        Some(result)
    }
}

/// Returns a name without the prefix of raw identifiers.
pub(super) fn without_raw_prefix(name: &str) -> &str {
    name.strip_prefix("r#").unwrap_or(name)
}

fn joined(modules: &[Box<str>], owners: &[Box<str>]) -> Option<Box<str>> {
    // Members of generated items belong to the items.
    let is_macro = |at: usize| at + 1 < owners.len() && owners[at].ends_with('!');
    let owners = owners.iter().enumerate().filter(|(at, _)| !is_macro(*at)).map(|(_, owner)| owner);
    let parts: Vec<&str> = modules.iter().chain(owners).map(AsRef::as_ref).collect();
    if parts.is_empty() { None } else { Some(parts.join(".").into()) }
}

/// The maximum length of chains of calls and members, because each use stores its chain.
const LONGEST_CHAIN: usize = 16;

/// Returns a member of a shape, unless the chain is too long.
pub(super) fn member(of: Shape, name: &str) -> Shape {
    if of == Shape::Unknown || chain(&of) >= LONGEST_CHAIN {
        return Shape::Unknown;
    }
    Shape::Member(Box::new(of), without_raw_prefix(name).into())
}

pub(super) fn called(of: Shape) -> Shape {
    if of == Shape::Unknown { Shape::Unknown } else { Shape::Call(Box::new(of)) }
}

/// Returns the shape of an operator: the types of both sides determine which one decides.
pub(super) fn operated(operator: &str, left: Shape, right: Shape) -> Shape {
    let is_number = |shape: &Shape| matches!(shape, Shape::Of(of) if &**of == "usize");
    if is_number(&left) || left == Shape::Unknown {
        return right;
    }
    if right == Shape::Unknown || operands(&left) + operands(&right) > MOST_OPERANDS {
        return left;
    }
    Shape::Applied(Box::new(Shape::Name(operator.into())), vec![left, right])
}

/// The maximum number of operands of one expression that are tracked.
const MOST_OPERANDS: usize = 8;

fn operands(shape: &Shape) -> usize {
    match shape {
        Shape::Applied(_, both) => both.iter().map(operands).sum(),
        Shape::Member(inner, _) | Shape::Call(inner) => operands(inner),
        _ => 1,
    }
}

fn chain(mut shape: &Shape) -> usize {
    let mut length = 0;
    while let Shape::Member(inner, _) | Shape::Call(inner) = shape {
        length += 1;
        shape = inner;
    }
    length
}
