//! Full names: the possible full names of a written name in a file, and their definitions.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeSet;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

use foldhash::HashMap;

use super::results::Results;
use super::{Bindings, Leads, Packages, is_type};
use crate::by_name::ByName;
use crate::facts::{Declaration, Definition, Facts, Use};
use crate::language::{Language, may_be_script};
use crate::limits::Limit;
use crate::memo::Memo;
use crate::work::Work;
use crate::world::{FileId, World, parent};

/// A name that more files contain is not looked up in all of them, because that would be too expensive.
const MAX_FILES: usize = 400;
/// The number of files up to which a list is searched instead of a directory.
const FEW_FILES: usize = 64;
/// The maximum number of files that includes are followed into.
const MAX_INCLUDED: usize = 2000;

/// One query to a world. Intermediate results are cached until it is answered.
pub(crate) struct Query<'w> {
    pub(crate) world: &'w dyn World,
    pub(crate) packages: &'w dyn Packages,
    shared: Rc<Shared>,
    /// Results that rely on the targets below.
    own: Results,
    /// Set if the result that is being computed relies on the targets.
    relied_on_targets: Cell<bool>,
    /// Files whose types are found regardless of how many files contain their names: those of the query's
    /// targets.
    about: RefCell<BTreeSet<FileId>>,
    pub(super) steps: Cell<usize>,
}

/// Lists by the kind of a declaration and its name.
type DeclarationTable<T> = HashMap<Declaration, HashMap<Box<str>, Rc<[T]>>>;

/// Results that do not depend on a query's targets.
#[derive(Default)]
struct Shared {
    views: RefCell<HashMap<FileId, Option<Rc<View>>>>,
    included: RefCell<HashMap<FileId, Rc<BTreeSet<FileId>>>>,
    /// The files that contain a name.
    candidates: RefCell<HashMap<Box<str>, Rc<[FileId]>>>,
    /// The files that declare a name.
    declaring: RefCell<DeclarationTable<FileId>>,
    definitions: RefCell<DeclarationTable<Symbol>>,
    results: Results,
}

/// A file as a part of its package.
pub(crate) struct View {
    file: FileId,
    pub(crate) facts: Arc<Facts>,
    pub(crate) package: String,
    bindings: OnceCell<Bindings>,
    /// The full names of its definitions.
    full_names: Box<[OnceCell<Rc<str>>]>,
    definitions_by_name: OnceCell<ByName>,
    /// The keys of its uses by their names.
    uses_by_name: OnceCell<ByName>,
    uses: RefCell<HashMap<Box<str>, NamedUses>>,
}

/// The uses of one name in a file, with their keys.
type NamedUses = Rc<[(u32, Use)]>;

impl View {
    /// The definitions with a name, in the order of the text.
    pub(super) fn definitions_named(&self, name: &str) -> impl Iterator<Item = (usize, &Definition)> {
        let all = &self.facts.definitions;
        let by_name = self
            .definitions_by_name
            .get_or_init(|| ByName::new(all.iter().map(|definition| &*definition.name)));
        by_name
            .of(name)
            .filter_map(|at| Some((at, all.get(at)?)))
            .filter(move |(_, definition)| *definition.name == *name)
    }

    /// The uses of a name, in the order of the text.
    pub(super) fn uses_of(&self, name: &str) -> NamedUses {
        if let Some(known) = self.uses.borrow().get(name) {
            return Rc::clone(known);
        }
        let all = &self.facts.uses;
        let named = || all.named().map(|usage| (usage.key, usage.name));
        let keys = self.uses_by_name.get_or_init(|| ByName::of_keys(named())).keys_of(name);
        let uses = keys.filter_map(|key| Some((key, all.read(key)?.into_owned())));
        let found: NamedUses = uses.filter(|(_, usage)| *usage.name == *name).collect();
        // The index tells at once that a name is absent.
        if !found.is_empty() {
            self.uses.borrow_mut().insert(name.into(), Rc::clone(&found));
        }
        found
    }
}

/// A definition of a file of the world, by its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Symbol {
    pub(crate) file: FileId,
    pub(crate) at: usize,
}

pub(crate) struct Defined {
    view: Rc<View>,
    at: usize,
}

impl Deref for Defined {
    type Target = Definition;

    fn deref(&self) -> &Definition {
        &self.view.facts.definitions[self.at]
    }
}

impl<'w> Query<'w> {
    pub(crate) fn new(world: &'w dyn World, packages: &'w dyn Packages) -> Self {
        Self {
            world,
            packages,
            shared: Memo::part(world, packages.language()),
            own: Results::default(),
            relied_on_targets: Cell::new(false),
            about: RefCell::default(),
            steps: Cell::new(0),
        }
    }

    pub(crate) fn view(&self, file: FileId) -> Option<Rc<View>> {
        if let Some(view) = self.shared.views.borrow().get(&file) {
            return view.clone();
        }
        let facts = self.is_read(file).then(|| self.world.facts(file)).flatten();
        let view = facts.map(|facts| {
            let package = self.packages.package(self.world, file, &facts);
            let full_names = vec![OnceCell::new(); facts.definitions.len()].into();
            Work::count_view();
            Rc::new(View {
                file,
                facts,
                package,
                bindings: OnceCell::new(),
                full_names,
                definitions_by_name: OnceCell::new(),
                uses_by_name: OnceCell::new(),
                uses: RefCell::default(),
            })
        });
        self.shared.views.borrow_mut().insert(file, view.clone());
        view
    }

    /// Returns the names that the imports of a file bind.
    pub(crate) fn bindings<'v>(&self, view: &'v View) -> &'v Bindings {
        view.bindings.get_or_init(|| self.packages.bindings(self.world, view.file, &view.facts))
    }

    /// Returns true if a file is of these languages, by its name: others need not be parsed.
    fn is_read(&self, file: FileId) -> bool {
        let path = self.world.path(file);
        let speaks = |language| self.packages.speaks(language);
        speaks(Language::of(path))
            || may_be_script(path) && self.world.facts(file).is_some_and(|facts| speaks(facts.language))
    }

    /// Returns the files of these languages that contain a name.
    pub(crate) fn containing(&self, name: &str) -> Vec<FileId> {
        self.candidates(name).iter().copied().filter(|file| self.is_read(*file)).collect()
    }

    /// Returns the files of any language that contain a name.
    pub(super) fn candidates(&self, name: &str) -> Rc<[FileId]> {
        if let Some(files) = self.shared.candidates.borrow().get(name) {
            return Rc::clone(files);
        }
        let files: Rc<[FileId]> = self.world.containing(name).into();
        self.shared.candidates.borrow_mut().insert(name.into(), Rc::clone(&files));
        files
    }

    /// Returns the files of these languages that declare a name, in their order.
    pub(super) fn declaring(&self, name: &str, declaration: Declaration) -> Rc<[FileId]> {
        if let Some(files) =
            self.shared.declaring.borrow().get(&declaration).and_then(|hash_map| hash_map.get(name))
        {
            return Rc::clone(files);
        }
        let mut files = self.world.declaring(name, declaration);
        files.retain(|file| self.is_read(*file));
        let files: Rc<[FileId]> = files.into();
        let mut known = self.shared.declaring.borrow_mut();
        known.entry(declaration).or_default().insert(name.into(), Rc::clone(&files));
        files
    }

    /// Returns the definitions of a name in the files that declare it, in the order of the files. If the language finds packages by their
    /// paths, only these directories are searched. If there are more than [`MAX_FILES`], only the first ones are read.
    pub(super) fn definitions_of<'d>(
        &self,
        name: &str,
        declaration: Declaration,
        directories: impl FnOnce() -> Vec<&'d str>,
    ) -> Rc<[Symbol]> {
        if let Some(known) =
            self.shared.definitions.borrow().get(&declaration).and_then(|hash_map| hash_map.get(name))
        {
            return Rc::clone(known);
        }
        let files = self.declaring(name, declaration);
        if self.finds_packages_by_path() {
            let files =
                if files.is_empty() { Vec::new() } else { self.in_directories(&files, &directories()) };
            return self.definitions_in(files, name).into();
        }
        let found: Rc<[Symbol]> = self.definitions_in(Limit::first(files.to_vec(), MAX_FILES), name).into();
        let mut known = self.shared.definitions.borrow_mut();
        known.entry(declaration).or_default().insert(name.into(), Rc::clone(&found));
        found
    }

    /// Returns the files of a list that are in these directories, in their order.
    fn in_directories(&self, files: &[FileId], directories: &[&str]) -> Vec<FileId> {
        let path = |file: &FileId| self.world.path(*file);
        if files.len() <= FEW_FILES {
            return files.iter().copied().filter(|file| directories.contains(&parent(path(file)))).collect();
        }
        let is_listed = |file: &FileId| files.binary_search_by_key(&path(file), path).is_ok();
        let inside = directories.iter().flat_map(|directory| self.world.directory(directory));
        let mut found: Vec<FileId> = inside.filter(is_listed).collect();
        found.sort_unstable_by_key(path);
        found.dedup();
        found
    }

    /// Returns true if the path of a file tells its package, so that definitions are found without reading those of other packages.
    pub(super) fn finds_packages_by_path(&self) -> bool {
        self.packages.directory("/").is_some()
    }

    /// Returns the directories of the packages whose names a path may mean in a file.
    pub(super) fn directories<'p>(&self, view: &'p View, path: &str) -> Vec<&'p str> {
        let first = path.split_once('.').map_or(path, |(first, _)| first);
        let bindings = self.bindings(view);
        let mut bound = bindings.names.iter().filter(|bound| &*bound.local == first).peekable();
        if bound.peek().is_some() {
            return bound.filter_map(|bound| self.packages.directory(&bound.full)).collect();
        }
        let packages = std::iter::once(&view.package).chain(&bindings.globs);
        packages.filter_map(|package| self.packages.directory(package)).collect()
    }

    /// Returns the definitions of a name of any kind.
    pub(crate) fn all_definitions_of(&self, name: &str) -> Vec<Symbol> {
        let kinds = [Declaration::Type, Declaration::Outer, Declaration::Member];
        kinds
            .iter()
            .flat_map(|declaration| self.definitions_of(name, *declaration, Vec::new).to_vec())
            .collect()
    }

    /// Returns the files with a definition of a full name, in their order.
    pub(crate) fn files_with(&self, full: &str) -> Vec<FileId> {
        let name = full.rsplit('.').next().unwrap_or(full);
        let mut symbols = self.all_definitions_of(name);
        symbols.retain(|symbol| self.full(*symbol).as_deref() == Some(full));
        let files: BTreeSet<FileId> = symbols.into_iter().map(|symbol| symbol.file).collect();
        files.into_iter().collect()
    }

    fn definitions_in(&self, files: Vec<FileId>, name: &str) -> Vec<Symbol> {
        let mut found = Vec::new();
        for file in files.into_iter().filter(|file| self.is_read(*file)) {
            let known = self.shared.views.borrow().get(&file).cloned();
            match known {
                Some(view) => {
                    let named = view.iter().flat_map(|view| view.definitions_named(name));
                    found.extend(named.map(|(at, _)| Symbol { file, at }));
                }
                None => {
                    let named = self.world.definitions_named(file, name);
                    found.extend(named.into_iter().map(|at| Symbol { file, at: at as usize }));
                }
            }
        }
        found
    }

    /// Returns the types with a full name, which ends in their name, in the order of the files.
    pub(crate) fn types_with(&self, full: &str) -> Vec<Symbol> {
        let (package, name) = full.rsplit_once('.').unwrap_or(("", full));
        let directory = || self.packages.directory(package).into_iter().collect();
        let mut types = self.types_named(name, directory);
        types.retain(|symbol| self.full(*symbol).as_deref() == Some(full));
        types
    }

    pub(crate) fn definition(&self, symbol: Symbol) -> Option<Defined> {
        let view = self.view(symbol.file)?;
        view.facts.definitions.get(symbol.at)?;
        Some(Defined { view, at: symbol.at })
    }

    /// The full name of a definition.
    pub(crate) fn full(&self, symbol: Symbol) -> Option<Rc<str>> {
        let view = self.view(symbol.file)?;
        let definition = view.facts.definitions.get(symbol.at)?;
        let full = view.full_names.get(symbol.at)?;
        Some(Rc::clone(full.get_or_init(|| full_name(&view.package, definition).into())))
    }

    /// Declares a file as a target of the query.
    pub(crate) fn ask_about(&self, file: FileId) {
        if self.about.borrow_mut().insert(file) {
            self.own.clear();
        }
    }

    /// Returns a result that is computed once. If it relies on the targets of the query, it is kept for this query only.
    pub(super) fn once<T: Clone>(
        &self,
        find: impl Fn(&Results) -> Option<T>,
        compute: impl FnOnce() -> T,
        keep: impl FnOnce(&Results, T),
    ) -> T {
        if let Some(known) = find(&self.shared.results) {
            return known;
        }
        if let Some(known) = find(&self.own) {
            self.relied_on_targets.set(true);
            return known;
        }
        let around = self.relied_on_targets.replace(false);
        let result = compute();
        let is_own = self.relied_on_targets.get();
        self.relied_on_targets.set(around || is_own);
        keep(if is_own { &self.own } else { &self.shared.results }, result.clone());
        result
    }

    fn types_named<'d>(&self, name: &str, directories: impl FnOnce() -> Vec<&'d str>) -> Vec<Symbol> {
        let is_widespread = self.is_widespread(name);
        let mut symbols = match is_widespread {
            true => {
                self.relied_on_targets.set(true);
                Limit::Files.reach();
                self.definitions_in(self.customary(name), name)
            }
            false => self.definitions_of(name, Declaration::Type, directories).to_vec(),
        };
        symbols.retain(|symbol| self.definition(*symbol).is_some_and(|defined| is_type(&defined)));
        symbols
    }

    /// Returns the files that conventionally contain a type of this name, and the query's targets.
    fn customary(&self, name: &str) -> Vec<FileId> {
        let homes = self.packages.homes(name).into_iter().flat_map(|home| self.world.named(&home));
        let files: BTreeSet<FileId> = homes.chain(self.about.borrow().iter().copied()).collect();
        files.into_iter().collect()
    }

    /// Returns true if a type of this name may be in a file that was not searched, because too many files
    /// define one, in languages that do not find packages by their paths.
    pub(crate) fn is_widespread(&self, name: &str) -> bool {
        !self.finds_packages_by_path() && self.declaring(name, Declaration::Type).len() > MAX_FILES
    }

    /// Returns the type that a path means in a file.
    pub(crate) fn type_of(&self, file: FileId, container: Option<&str>, path: &str) -> Option<Symbol> {
        self.once(
            |results| results.types.get(file, container, path),
            || self.find_type(file, container, path),
            |results, found| results.types.insert(file, container, path, found),
        )
    }

    fn find_type(&self, file: FileId, container: Option<&str>, path: &str) -> Option<Symbol> {
        let view = self.view(file)?;
        let simple = path.rsplit('.').next().unwrap_or(path);
        let local = self.bindings(&view).names.iter().find(|bound| &*bound.local == path);
        let simple = local.and_then(|bound| bound.full.rsplit('.').next()).unwrap_or(simple);
        let types = self.types_named(simple, || self.directories(&view, path));
        let is_meant = |symbol: &&Symbol| {
            self.full(**symbol).is_some_and(|full| self.means(&view, container, path, &full))
        };
        let near = types.iter().filter(|symbol| symbol.file == file).find(is_meant);
        let seen = || types.iter().filter(is_meant).find(|symbol| self.sees(file, symbol.file));
        near.or_else(seen).copied()
    }

    /// Returns true if a path, written in a file inside a container, can be the full name.
    pub(crate) fn means(&self, view: &View, container: Option<&str>, path: &str, full: &str) -> bool {
        let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
        let whole = |start: &str| match rest {
            Some(rest) => full.strip_prefix(start).and_then(|left| left.strip_prefix('.')) == Some(rest),
            None => full == start,
        };
        let bindings = self.bindings(view);
        let mut bound = bindings.names.iter().filter(|bound| &*bound.local == first).peekable();
        if bound.peek().is_some() {
            return bound.any(|bound| whole(&bound.full));
        }
        let Some(prefix) = full.strip_suffix(path) else { return false };
        let Some(prefix) = prefix.strip_suffix('.') else { return prefix.is_empty() };
        if bindings.globs.iter().any(|glob| glob == prefix) || prefix == view.package {
            return true;
        }
        if self.packages.sees_around() && is_inside(&view.package, prefix) {
            return true;
        }
        // Inside a type or a namespace, its own names and those of the enclosing ones are visible.
        let inner = prefix.strip_prefix(&*view.package).map(|inner| inner.trim_start_matches('.'));
        container.zip(inner).is_some_and(|(container, inner)| is_inside(container, inner))
    }

    /// Returns false if no name of a package can be meant by a path that is written in a file. It is a fast test before [`Query::means`].
    pub(super) fn may_mean(&self, view: &View, path: &str, package: &str) -> bool {
        let first = path.split_once('.').map_or(path, |(first, _)| first);
        let is_related = |full: &str| full.starts_with(package) || package.starts_with(full);
        let bindings = self.bindings(view);
        let mut bound = bindings.names.iter().filter(|bound| &*bound.local == first).peekable();
        if bound.peek().is_some() {
            return bound.any(|bound| is_related(&bound.full));
        }
        is_related(&view.package)
            || path.starts_with(package)
            || bindings.globs.iter().any(|glob| glob.starts_with(package))
    }

    /// Returns true if one file sees another, in languages that include files.
    pub(crate) fn sees(&self, from: FileId, other: FileId) -> bool {
        !self.packages.includes()
            || from == other
            || self.included(from).contains(&other)
            || self.is_sourced_beside(from, other)
    }

    /// Returns true if a script of Bash sources both files: then each uses the functions of the other.
    fn is_sourced_beside(&self, from: FileId, other: FileId) -> bool {
        let is_script = self.packages.language() == Language::Bash;
        is_script
            && super::search::importers(self, from)
                .iter()
                .any(|reference| self.included(reference.file).contains(&other))
    }

    /// Every file that a file includes, itself or through others.
    pub(crate) fn included(&self, from: FileId) -> Rc<BTreeSet<FileId>> {
        if let Some(included) = self.shared.included.borrow().get(&from) {
            return Rc::clone(included);
        }
        let mut included = BTreeSet::new();
        let mut open = vec![from];
        while let Some(file) = open.pop() {
            let Some(view) = self.view(file) else { continue };
            for import in &view.facts.imports {
                let Leads::To(files) = self.packages.resolve_import(self, file, import) else { continue };
                open.extend(files.into_iter().filter(|file| included.insert(*file)));
            }
            if included.len() > MAX_INCLUDED {
                Limit::Includes.reach();
                break;
            }
        }
        let included = Rc::new(included);
        self.shared.included.borrow_mut().insert(from, Rc::clone(&included));
        included
    }
}

pub(crate) fn full_name(package: &str, definition: &Definition) -> String {
    let container = definition.container.as_deref().unwrap_or_default();
    [package, container, &definition.name]
        .iter()
        .filter(|part| !part.is_empty())
        .copied()
        .collect::<Vec<_>>()
        .join(".")
}

fn is_inside(path: &str, outer: &str) -> bool {
    path.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
