//! Results of resolution that are asked for again and again.

use std::cell::RefCell;
use std::rc::Rc;

use foldhash::HashMap;

use super::conversions::Conversion;
use super::names::Symbol;
use super::types::Value;
use crate::world::FileId;

/// Results by the place where something is written.
#[derive(Default)]
pub(super) struct Results {
    /// The types that paths mean.
    pub(super) types: Paths,
    /// The functions, variables and constants that paths mean.
    pub(super) tops: Paths,
    pub(super) ancestors: RefCell<HashMap<Symbol, Rc<[Symbol]>>>,
    pub(super) members: RefCell<HashMap<Symbol, Members>>,
    /// Receivers of uses by the addresses of their shapes.
    pub(super) receivers: RefCell<HashMap<usize, Value>>,
    pub(super) conversions: RefCell<HashMap<FileId, Rc<[Conversion]>>>,
}

impl Results {
    /// Forgets all results.
    pub(super) fn clear(&self) {
        self.types.0.borrow_mut().clear();
        self.tops.0.borrow_mut().clear();
        self.ancestors.borrow_mut().clear();
        self.members.borrow_mut().clear();
        self.receivers.borrow_mut().clear();
        self.conversions.borrow_mut().clear();
    }
}

/// The members of a type by their names.
type Members = HashMap<Box<str>, Rc<[Symbol]>>;

/// The definitions that paths mean, by file, path and container.
#[derive(Default)]
pub(super) struct Paths(RefCell<HashMap<FileId, Meanings>>);

/// Meanings by path and container.
type Meanings = HashMap<Box<str>, HashMap<Box<str>, Option<Symbol>>>;

/// The key of a place outside all containers. No container has this name.
const NO_CONTAINER: &str = "\0";

impl Paths {
    /// The outer `None` if the result is not known.
    pub(super) fn get(&self, file: FileId, container: Option<&str>, path: &str) -> Option<Option<Symbol>> {
        self.0.borrow().get(&file)?.get(path)?.get(container.unwrap_or(NO_CONTAINER)).copied()
    }

    pub(super) fn insert(&self, file: FileId, container: Option<&str>, path: &str, found: Option<Symbol>) {
        let mut all = self.0.borrow_mut();
        let meanings = all.entry(file).or_default().entry(path.into()).or_default();
        meanings.insert(container.unwrap_or(NO_CONTAINER).into(), found);
    }
}
