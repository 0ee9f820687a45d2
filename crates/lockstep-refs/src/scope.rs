//! Local names of functions while a tree is walked: the shapes of local variables at the present position.
//!
//! Names of the file itself (imports, definitions) are not included: a name that is not found here is one of
//! those.

use std::collections::HashMap;

use crate::facts::Shape;

/// Shapes longer than this are followed no further.
const MAX_CHAIN_LENGTH: usize = 12;
/// The maximum number of alternatives that are tracked.
const MAX_ALTERNATIVES: usize = 6;
/// The maximum number of alternatives of a declared union.
const MAX_DECLARED: usize = 48;

/// The shapes of local names.
pub(crate) type Names = HashMap<Box<str>, Shape>;

/// The open scopes, outermost first.
#[derive(Debug, Default)]
pub(crate) struct Scopes {
    stack: Vec<Scope>,
}

#[derive(Debug, Default)]
struct Scope {
    names: Names,
    /// The declared types of names, regardless of later assignments.
    declared: Names,
    /// Set if inner functions do not see its names, as with the body of a class in Python.
    closed: bool,
}

impl Scopes {
    /// Opens a scope that everything inside sees.
    pub(crate) fn open(&mut self) {
        self.stack.push(Scope::default());
    }

    /// Opens a scope that functions inside do not see.
    pub(crate) fn open_closed(&mut self) {
        self.stack.push(Scope { closed: true, ..Scope::default() });
    }

    /// Closes the innermost scope.
    pub(crate) fn close(&mut self) {
        self.stack.pop();
    }

    /// Returns true if any scope is open; otherwise names are those of the file.
    pub(crate) fn is_inside(&self) -> bool {
        !self.stack.is_empty()
    }

    /// Binds a name in the innermost scope.
    pub(crate) fn bind(&mut self, name: &str, shape: Shape) {
        if let Some(scope) = self.stack.last_mut() {
            scope.names.insert(name.into(), shape);
        }
    }

    /// Binds a name in the innermost scope, with a declared type.
    pub(crate) fn declare(&mut self, name: &str, shape: Shape) {
        if let Some(scope) = self.stack.last_mut() {
            scope.declared.insert(name.into(), shape.clone());
        }
        self.bind(name, shape);
    }

    /// Returns the declared type of a name in the innermost scope.
    pub(crate) fn declared(&self, name: &str) -> Option<&Shape> {
        self.stack.last()?.declared.get(name)
    }

    /// Changes the shape of a bound name in its scope.
    pub(crate) fn rebind(&mut self, name: &str, shape: Shape) {
        if let Some(bound) = self.stack.iter_mut().rev().find_map(|scope| scope.names.get_mut(name)) {
            *bound = shape;
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Shape> {
        let innermost = self.stack.len().checked_sub(1)?;
        self.stack.iter().enumerate().rev().find_map(|(at, scope)| {
            if scope.closed && at != innermost {
                return None;
            }
            scope.names.get(name)
        })
    }

    /// The names of the innermost scope as they are now.
    pub(crate) fn names(&self) -> Names {
        self.stack.last().map(|scope| scope.names.clone()).unwrap_or_default()
    }

    /// Replaces the names of the innermost scope, and returns the previous ones.
    pub(crate) fn replace(&mut self, names: Names) -> Names {
        match self.stack.last_mut() {
            Some(scope) => std::mem::replace(&mut scope.names, names),
            None => Names::default(),
        }
    }

    /// Joins two control flow paths: a name may have either shape.
    pub(crate) fn join(&mut self, other: Names) {
        let Some(scope) = self.stack.last_mut() else { return };
        for (name, shape) in other {
            match scope.names.get_mut(&name) {
                Some(known) if *known == shape => {}
                Some(known) => {
                    let here = std::mem::replace(known, Shape::Unknown);
                    *known = either([here, shape]);
                }
                None => drop(scope.names.insert(name, shape)),
            }
        }
    }
}

/// One of several shapes; the shape itself where there is only one.
pub(crate) fn either(shapes: impl IntoIterator<Item = Shape>) -> Shape {
    one_of(shapes, MAX_ALTERNATIVES)
}

/// Like [`join`](Scopes::join), for the alternatives of a declared type.
pub(crate) fn union(shapes: impl IntoIterator<Item = Shape>) -> Shape {
    one_of(shapes, MAX_DECLARED)
}

fn one_of(shapes: impl IntoIterator<Item = Shape>, most: usize) -> Shape {
    let mut all: Vec<Shape> = Vec::new();
    for shape in shapes {
        let parts = match shape {
            Shape::Either(parts) => parts,
            one => vec![one],
        };
        for part in parts {
            if !all.contains(&part) {
                all.push(part);
            }
        }
    }
    match all.len() {
        0 => Shape::Unknown,
        1 => all.remove(0),
        many if many <= most => Shape::Either(all),
        _ => Shape::Unknown,
    }
}

pub(crate) fn member(of: Shape, name: &str) -> Shape {
    link(of, |of| Shape::Member(of, name.into()))
}

pub(crate) fn call(of: Shape) -> Shape {
    link(of, Shape::Call)
}

/// The value at a position of a shape that holds several, as a tuple does.
pub(crate) fn position(of: Shape, at: usize) -> Shape {
    match of {
        Shape::Untyped => Shape::Untyped,
        of => member(of, &format!("@{at}")),
    }
}

/// Returns the shape of an element of an iterable.
pub(crate) fn element(of: Shape) -> Shape {
    match of {
        Shape::Untyped => Shape::Untyped,
        of => link(of, Shape::Element),
    }
}

pub(crate) fn awaited(of: Shape) -> Shape {
    match of {
        Shape::Untyped => Shape::Untyped,
        of => link(of, Shape::Awaited),
    }
}

/// A link at the end of a chain, unless the chain is too long or leads nowhere.
fn link(of: Shape, make: impl FnOnce(Box<Shape>) -> Shape) -> Shape {
    match of {
        Shape::Unknown => Shape::Unknown,
        of if links(&of) >= MAX_CHAIN_LENGTH => Shape::Unknown,
        of => make(Box::new(of)),
    }
}

/// Returns the length of the longest chain of a shape.
fn links(shape: &Shape) -> usize {
    match shape {
        Shape::Member(of, _)
        | Shape::Call(of)
        | Shape::Element(of)
        | Shape::Awaited(of)
        | Shape::Parameter(of, ..) => 1 + links(of),
        Shape::Applied(of, arguments) => 1 + arguments.iter().map(links).max().unwrap_or(0).max(links(of)),
        Shape::Function(parameters, result) => {
            1 + parameters.iter().map(links).max().unwrap_or(0).max(links(result))
        }
        Shape::Either(parts) => 1 + parts.iter().map(links).max().unwrap_or(0),
        Shape::Name(_) | Shape::Of(_) | Shape::Itself | Shape::Parent | Shape::Untyped | Shape::Unknown => 0,
    }
}
