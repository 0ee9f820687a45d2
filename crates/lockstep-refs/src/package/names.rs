//! Full names: what a written name can stand for in a file, and which definitions have it.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use super::{Bindings, Leads, Packages, is_type};
use crate::facts::{Definition, Facts};
use crate::world::{FileId, World};

/// A name that more files than this write is not looked up among all of them: that would cost more than it tells.
const MAX_FILES: usize = 400;
/// Includes are followed into at most so many files.
const MAX_INCLUDED: usize = 2000;

/// One question to a world: what was found on the way is kept until it is answered.
pub(crate) struct Query<'w> {
    pub(crate) world: &'w dyn World,
    pub(crate) packages: &'w dyn Packages,
    views: RefCell<HashMap<FileId, Option<Rc<View>>>>,
    types: RefCell<HashMap<Box<str>, Rc<[Symbol]>>>,
    included: RefCell<HashMap<FileId, Rc<BTreeSet<FileId>>>>,
    /// Files whose types are found however many files write their names: those that the question is about.
    about: RefCell<BTreeSet<FileId>>,
    pub(super) steps: std::cell::Cell<usize>,
}

/// A file as a part of its package.
pub(crate) struct View {
    pub(crate) facts: Arc<Facts>,
    pub(crate) package: String,
    pub(crate) bindings: Bindings,
}

/// A definition of a file of the world, by its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Symbol {
    pub(crate) file: FileId,
    pub(crate) at: usize,
}

impl<'w> Query<'w> {
    pub(crate) fn new(world: &'w dyn World, packages: &'w dyn Packages) -> Self {
        Self {
            world,
            packages,
            views: RefCell::default(),
            types: RefCell::default(),
            included: RefCell::default(),
            about: RefCell::default(),
            steps: std::cell::Cell::new(0),
        }
    }

    /// A file of these languages.
    pub(crate) fn view(&self, file: FileId) -> Option<Rc<View>> {
        if let Some(view) = self.views.borrow().get(&file) {
            return view.clone();
        }
        let facts = self.world.facts(file).filter(|facts| self.packages.speaks(facts.language));
        let view = facts.map(|facts| {
            let package = self.packages.package(self.world, file, &facts);
            let bindings = self.packages.bindings(self.world, file, &facts);
            Rc::new(View { facts, package, bindings })
        });
        self.views.borrow_mut().insert(file, view.clone());
        view
    }

    /// The files of these languages in which a name stands.
    pub(crate) fn containing(&self, name: &str) -> Vec<FileId> {
        self.world.containing(name).into_iter().filter(|file| self.view(*file).is_some()).collect()
    }

    /// A definition.
    pub(crate) fn definition(&self, symbol: Symbol) -> Option<Definition> {
        self.view(symbol.file)?.facts.definitions.get(symbol.at).cloned()
    }

    /// The full name of a definition.
    pub(crate) fn full(&self, symbol: Symbol) -> Option<String> {
        let view = self.view(symbol.file)?;
        view.facts.definitions.get(symbol.at).map(|definition| full_name(&view.package, definition))
    }

    /// Says that the question is about the types of a file.
    pub(crate) fn ask_about(&self, file: FileId) {
        if self.about.borrow_mut().insert(file) {
            self.types.borrow_mut().clear();
        }
    }

    /// The types with a simple name.
    pub(crate) fn types_named(&self, name: &str) -> Rc<[Symbol]> {
        if let Some(types) = self.types.borrow().get(name) {
            return Rc::clone(types);
        }
        let mut files = self.world.containing(name);
        if files.len() > MAX_FILES {
            files = self.customary(name);
        }
        let types: Rc<[Symbol]> = self.types_in(&files, name).into();
        self.types.borrow_mut().insert(name.into(), Rc::clone(&types));
        types
    }

    /// Where a type of this name is by custom, and the files that the question is about.
    fn customary(&self, name: &str) -> Vec<FileId> {
        let homes = self.packages.homes(name).into_iter().flat_map(|home| self.world.named(&home));
        let files: BTreeSet<FileId> = homes.chain(self.about.borrow().iter().copied()).collect();
        files.into_iter().collect()
    }

    /// Whether a type of this name may be in a file that was not looked into, because too many files write the name.
    pub(crate) fn is_widespread(&self, name: &str) -> bool {
        self.world.containing(name).len() > MAX_FILES
    }

    fn types_in(&self, files: &[FileId], name: &str) -> Vec<Symbol> {
        let named = |definition: &Definition| is_type(definition) && &*definition.name == name;
        let mut found = Vec::new();
        for file in files {
            // Most files only use it: what they import need not be known.
            let Some(facts) = self.world.facts(*file) else { continue };
            if !self.packages.speaks(facts.language) || !facts.definitions.iter().any(named) {
                continue;
            }
            let all = facts.definitions.iter().enumerate();
            found.extend(all.filter(|(_, it)| named(it)).map(|(at, _)| Symbol { file: *file, at }));
        }
        found
    }

    /// The type that a path means in a file.
    pub(crate) fn type_of(&self, file: FileId, container: Option<&str>, path: &str) -> Option<Symbol> {
        let view = self.view(file)?;
        let simple = path.rsplit('.').next().unwrap_or(path);
        let local = view.bindings.names.iter().find(|bound| &*bound.local == path);
        let simple = local.and_then(|bound| bound.full.rsplit('.').next()).unwrap_or(simple);
        let mut fitting = self.types_named(simple).to_vec();
        fitting.retain(|symbol| {
            self.full(*symbol).is_some_and(|full| self.means(&view, container, path, &full))
        });
        let near = fitting.iter().find(|symbol| symbol.file == file);
        near.or_else(|| fitting.iter().find(|symbol| self.sees(file, symbol.file))).copied()
    }

    /// Whether a path, written in a file inside a container, can be the full name.
    pub(crate) fn means(&self, view: &View, container: Option<&str>, path: &str, full: &str) -> bool {
        let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
        let whole = |start: &str| match rest {
            Some(rest) => full.strip_prefix(start).and_then(|left| left.strip_prefix('.')) == Some(rest),
            None => full == start,
        };
        let mut bound = view.bindings.names.iter().filter(|bound| &*bound.local == first).peekable();
        if bound.peek().is_some() {
            return bound.any(|bound| whole(&bound.full));
        }
        let Some(prefix) = full.strip_suffix(path) else { return false };
        let Some(prefix) = prefix.strip_suffix('.') else { return prefix.is_empty() };
        if view.bindings.globs.iter().any(|glob| glob == prefix) || prefix == view.package {
            return true;
        }
        if self.packages.sees_around() && is_inside(&view.package, prefix) {
            return true;
        }
        // From inside a type or a namespace its own names and those around it are seen.
        let inner = prefix.strip_prefix(&*view.package).map(|inner| inner.trim_start_matches('.'));
        container.zip(inner).is_some_and(|(container, inner)| is_inside(container, inner))
    }

    /// Whether one file sees another, in languages that include files.
    pub(crate) fn sees(&self, from: FileId, other: FileId) -> bool {
        !self.packages.includes() || from == other || self.included(from).contains(&other)
    }

    /// Every file that a file includes, itself or through others.
    pub(crate) fn included(&self, from: FileId) -> Rc<BTreeSet<FileId>> {
        if let Some(included) = self.included.borrow().get(&from) {
            return Rc::clone(included);
        }
        let mut included = BTreeSet::new();
        let mut open = vec![from];
        while let Some(file) = open.pop() {
            let Some(view) = self.view(file) else { continue };
            for import in &view.facts.imports {
                let Leads::To(files) = self.packages.leads(self, file, import) else { continue };
                open.extend(files.into_iter().filter(|file| included.insert(*file)));
            }
            if included.len() > MAX_INCLUDED {
                break;
            }
        }
        let included = Rc::new(included);
        self.included.borrow_mut().insert(from, Rc::clone(&included));
        included
    }
}

/// The full name of a definition in a package.
pub(crate) fn full_name(package: &str, definition: &Definition) -> String {
    let container = definition.container.as_deref().unwrap_or_default();
    [package, container, &definition.name]
        .iter()
        .filter(|part| !part.is_empty())
        .copied()
        .collect::<Vec<_>>()
        .join(".")
}

/// Whether `path` is `outer` or something in it.
fn is_inside(path: &str, outer: &str) -> bool {
    path.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
