//! Results of resolution that are asked for again and again.

use std::cell::RefCell;
use std::rc::Rc;

use foldhash::HashMap;

use super::conversions::{Conversion, Expected};
use super::names::Symbol;
use super::subtypes::Subtypes;
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
    /// The types of parameters by function, position and depth of the search.
    pub(super) parameters: RefCell<HashMap<(Symbol, u16, usize), Option<Expected>>>,
    pub(super) subtypes: RefCell<HashMap<Symbol, Rc<Subtypes>>>,
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
        self.parameters.borrow_mut().clear();
        self.subtypes.borrow_mut().clear();
    }
}

/// The members of a type by their names.
type Members = HashMap<Box<str>, Rc<[Symbol]>>;

/// The definitions that paths mean, by file, path and container.
#[derive(Default)]
pub(super) struct Paths(RefCell<HashMap<FileId, Meanings>>);

/// Meanings by path and container. Most paths are written in one or two containers of a file.
type Meanings = HashMap<Box<str>, Vec<(Option<Box<str>>, Option<Symbol>)>>;

impl Paths {
    /// The outer `None` if the result is not known.
    pub(super) fn get(&self, file: FileId, container: Option<&str>, path: &str) -> Option<Option<Symbol>> {
        let all = self.0.borrow();
        let mut meanings = all.get(&file)?.get(path)?.iter();
        meanings.find(|(known, _)| known.as_deref() == container).map(|(_, found)| *found)
    }

    pub(super) fn insert(&self, file: FileId, container: Option<&str>, path: &str, found: Option<Symbol>) {
        let mut all = self.0.borrow_mut();
        let meanings = all.entry(file).or_default().entry(path.into()).or_default();
        match meanings.iter_mut().find(|(known, _)| known.as_deref() == container) {
            Some((_, known)) => *known = found,
            None => meanings.push((container.map(Box::from), found)),
        }
    }
}
