//! Name lookup: the definitions of a file, its imports, and the re-exports of other files.

use std::cell::{Cell, OnceCell, RefCell};
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

use foldhash::HashMap;

use super::types::{Consulted, Values};
use super::use_positions::UsePositions;
use super::{Found, Module, Scheme, Symbol, path_of};
use crate::facts::{Definition, DefinitionKind, Facts, Import, Reach, Shape};
use crate::language::{Language, may_be_script};
use crate::limits::Limit;
use crate::memo::{Entry, Memo, Progress};
use crate::work::Work;
use crate::world::{FileId, World};

/// Longer chains of re-exports are treated as cycles.
const MAX_HOPS: usize = 24;

/// Resolves names and values in a world. Its results are kept in the memo of the world.
pub(crate) struct Resolver<'w> {
    pub(super) world: &'w dyn World,
    pub(super) scheme: &'w dyn Scheme,
    names: Rc<Names>,
    hops: Cell<usize>,
    pub(super) depth: Cell<usize>,
    pub(super) values: Rc<Values>,
    /// Values in the world with the removed definitions, and those definitions.
    pub(super) complete: Option<(Rc<Values>, Consulted)>,
    /// The definitions that are assumed to be removed, and whether for their own file too.
    gone: (Vec<Symbol>, bool),
}

/// Meanings of names in a world.
#[derive(Default)]
struct Names {
    views: RefCell<HashMap<FileId, Option<Rc<View>>>>,
    lookups: RefCell<HashMap<(FileId, Mode), Lookups>>,
    /// Lookups that met an open one or a limit.
    provisional: RefCell<Vec<(FileId, Mode, Box<str>)>>,
    progress: Progress,
    modules: RefCell<HashMap<FileId, HashMap<Box<str>, Found>>>,
}

/// The meanings of names of one file.
type Lookups = HashMap<Box<str>, Entry<Rc<[Hit]>>>;

/// A file's facts, by name. Most files are only looked at, so names are sorted when one is first looked up.
pub(crate) struct View {
    pub(crate) facts: Arc<Facts>,
    /// Definitions by their path inside the file.
    paths: OnceCell<HashMap<Box<str>, Vec<u32>>>,
    imports: OnceCell<BoundNames>,
    pub(super) uses: UsePositions,
}

/// The names that the imports of a file bind or re-export.
#[derive(Default)]
struct BoundNames {
    /// By the name: the index of the import, and of the name in it.
    names: HashMap<Box<str>, Vec<(usize, Option<usize>)>>,
    globs: Vec<usize>,
}

impl BoundNames {
    fn new(imports: &[Import]) -> Self {
        let Self { mut names, mut globs } = Self::default();
        for (at, import) in imports.iter().enumerate() {
            for (name_at, name) in import.names.iter().enumerate() {
                names.entry(name.local.clone()).or_default().push((at, Some(name_at)));
            }
            if let Some(alias) = &import.alias {
                names.entry(alias.clone()).or_default().push((at, None));
            } else if import.names.is_empty() && !import.glob {
                let first = import.module.split('.').next().unwrap_or(&import.module);
                names.entry(first.into()).or_default().push((at, None));
            }
            if import.glob {
                globs.push(at);
            }
        }
        Self { names, globs }
    }
}

impl View {
    fn new(facts: Arc<Facts>) -> Self {
        Work::count_view();
        Self { facts, paths: OnceCell::new(), imports: OnceCell::new(), uses: UsePositions::default() }
    }

    fn paths(&self) -> &HashMap<Box<str>, Vec<u32>> {
        self.paths.get_or_init(|| {
            let mut paths: HashMap<Box<str>, Vec<u32>> = HashMap::default();
            for (at, definition) in (0_u32..).zip(&self.facts.definitions) {
                paths.entry(path_of(definition).into()).or_default().push(at);
            }
            paths
        })
    }

    fn imports(&self) -> &BoundNames {
        self.imports.get_or_init(|| BoundNames::new(&self.facts.imports))
    }

    pub(crate) fn at(&self, path: &str) -> &[u32] {
        self.paths().get(path).map_or(&[], Vec::as_slice)
    }

    /// A definition by its position.
    pub(crate) fn definition(&self, at: u32) -> Option<&Definition> {
        self.facts.definitions.get(usize::try_from(at).ok()?)
    }
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

/// The point of view of a lookup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Mode {
    /// In the file itself.
    Inside,
    /// By an import of the name.
    Named,
    /// By an import of every name.
    Glob,
}

/// The meaning of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Entity {
    Symbol(Symbol),
    Module(Module),
    /// Something of a package or of the standard library.
    Outside,
}

/// One meaning of a name, and the last file that re-exported it by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) entity: Entity,
    pub(crate) through: Option<FileId>,
}

impl<'w> Resolver<'w> {
    pub(crate) fn new(world: &'w dyn World, scheme: &'w dyn Scheme) -> Self {
        Self {
            world,
            scheme,
            names: Memo::part(world, scheme.language()),
            hops: Cell::new(0),
            depth: Cell::new(0),
            values: Memo::part(world, scheme.language()),
            complete: None,
            gone: (Vec::new(), false),
        }
    }

    /// Returns the resolver for a world without some definitions; `beside` is set if their own file lacks
    /// them too.
    pub(super) fn without(&self, symbols: Vec<Symbol>, beside: bool) -> Self {
        let removed =
            symbols.iter().fold(Consulted::default(), |all, symbol| all.and(Consulted::of(*symbol)));
        Self {
            complete: Some((Rc::clone(&self.values), removed)),
            gone: (symbols, beside),
            names: Rc::clone(&self.names),
            hops: Cell::new(0),
            depth: Cell::new(0),
            values: Rc::default(),
            ..*self
        }
    }

    /// Returns true if the meaning of a name in a file is assumed to be removed.
    pub(super) fn is_gone(&self, from: Option<FileId>, entity: &Entity) -> bool {
        let (removed, beside) = &self.gone;
        matches!(entity, Entity::Symbol(symbol)
            if removed.contains(symbol) && (*beside || from != Some(symbol.file)))
    }

    /// Returns true if a file has this language, by its name: others need not be parsed.
    pub(crate) fn speaks(&self, file: FileId) -> bool {
        let path = self.world.path(file);
        let speaks = |language| self.scheme.speaks(language);
        speaks(Language::of(path))
            || may_be_script(path) && self.world.facts(file).is_some_and(|facts| speaks(facts.language))
    }

    /// The facts of a file of this language.
    pub(crate) fn view(&self, file: FileId) -> Option<Rc<View>> {
        if let Some(view) = self.names.views.borrow().get(&file) {
            return view.clone();
        }
        let facts = self.speaks(file).then(|| self.world.facts(file)).flatten();
        let view = facts.map(|facts| Rc::new(View::new(facts)));
        self.names.views.borrow_mut().insert(file, view.clone());
        view
    }

    pub(crate) fn definition(&self, symbol: Symbol) -> Option<Defined> {
        let view = self.view(symbol.file)?;
        view.definition(symbol.at)?;
        Some(Defined { view, at: symbol.at as usize })
    }

    /// The module that an import names.
    pub(crate) fn module(&self, from: FileId, module: &str) -> Found {
        if let Some(found) = self.names.modules.borrow().get(&from).and_then(|hash_map| hash_map.get(module))
        {
            return found.clone();
        }
        let found = self.scheme.module(self.world, from, module);
        self.names.modules.borrow_mut().entry(from).or_default().insert(module.into(), found.clone());
        found
    }

    /// Returns the meanings of a name in a file. Empty if there are none.
    pub(crate) fn lookup(&self, file: FileId, name: &str, mode: Mode) -> Rc<[Hit]> {
        let progress = &self.names.progress;
        match self.names.lookups.borrow().get(&(file, mode)).and_then(|hash_map| hash_map.get(name)) {
            Some(Entry::Known(hits)) => return Rc::clone(hits),
            // A loop of re-exports finds nothing new.
            Some(Entry::Open(position)) => {
                progress.meet(*position);
                return Rc::new([]);
            }
            None => {}
        }
        if self.hops.get() >= MAX_HOPS {
            Limit::Hops.reach();
            progress.cut();
            return Rc::new([]);
        }
        let computation = progress.begin();
        let first_provisional = self.names.provisional.borrow().len();
        self.keep_lookup(file, mode, name, Entry::Open(computation.position));
        self.hops.set(self.hops.get() + 1);
        let hits: Rc<[Hit]> = match self.view(file) {
            Some(view) => self.search(file, &view, name, mode).into(),
            None => Rc::new([]),
        };
        self.hops.set(self.hops.get() - 1);
        let is_complete = progress.end(&computation);
        if !is_complete {
            self.names.provisional.borrow_mut().push((file, mode, name.into()));
        }
        self.keep_lookup(file, mode, name, Entry::Known(Rc::clone(&hits)));
        if is_complete || progress.is_idle() {
            let mut lookups = self.names.lookups.borrow_mut();
            for (file, mode, name) in self.names.provisional.borrow_mut().drain(first_provisional..) {
                lookups.get_mut(&(file, mode)).and_then(|hash_map| hash_map.remove(&name));
            }
        }
        hits
    }

    fn keep_lookup(&self, file: FileId, mode: Mode, name: &str, entry: Entry<Rc<[Hit]>>) {
        self.names.lookups.borrow_mut().entry((file, mode)).or_default().insert(name.into(), entry);
    }

    fn search(&self, file: FileId, view: &View, name: &str, mode: Mode) -> Vec<Hit> {
        let mut hits = Vec::new();
        for at in view.at(name) {
            let reach = view.definition(*at).map_or(Reach::File, |definition| definition.reach);
            let seen = match mode {
                Mode::Inside => true,
                Mode::Named => reach == Reach::Everyone || self.scheme.hands_on_what_it_imports(),
                Mode::Glob => reach == Reach::Everyone,
            };
            if seen {
                hits.push(Hit { entity: Entity::Symbol(Symbol { file, at: *at }), through: None });
            }
        }
        if !(mode == Mode::Glob && name == "default") {
            for (import, part) in view.imports().names.get(name).into_iter().flatten() {
                let Some(import) = view.facts.imports.get(*import) else { continue };
                if self.offers(import, mode) {
                    self.imported(file, import, *part, mode, &mut hits);
                }
            }
        }
        if hits.is_empty() && name != "default" {
            for import in view.imports().globs.iter().filter_map(|at| view.facts.imports.get(*at)) {
                let binds = mode != Mode::Inside || self.binds(import);
                if binds
                    && (mode == Mode::Inside || import.container.is_none())
                    && (mode == Mode::Inside || import.reexport)
                    && import.alias.is_none()
                    && let Found::Here(module) = self.module(file, &import.module)
                {
                    hits.extend(self.exported(&module, name, Mode::Glob));
                }
            }
        }
        hits
    }

    /// Returns true if an import binds its names in its own file.
    fn binds(&self, import: &Import) -> bool {
        !import.reexport || self.scheme.hands_on_what_it_imports()
    }

    /// Returns true if the names of an import are visible in this mode.
    fn offers(&self, import: &Import, mode: Mode) -> bool {
        match mode {
            Mode::Inside => self.binds(import),
            Mode::Named => {
                import.container.is_none() && (import.reexport || self.scheme.hands_on_what_it_imports())
            }
            Mode::Glob => import.container.is_none() && import.reexport,
        }
    }

    /// Adds the meanings of one name of an import.
    fn imported(&self, file: FileId, import: &Import, part: Option<usize>, mode: Mode, hits: &mut Vec<Hit>) {
        let named = part.and_then(|part| import.names.get(part));
        if import.module.is_empty() {
            // The file re-exports its own name.
            if let Some(named) = named {
                for hit in self.lookup(file, &named.name, Mode::Inside).iter() {
                    let own = matches!(hit.entity, Entity::Symbol(symbol) if symbol.file == file);
                    let through = hit.through.or((!own).then_some(file));
                    hits.push(Hit { through, ..hit.clone() });
                }
            }
            return;
        }
        let found = if named.is_none() && import.alias.is_none() {
            self.scheme.bound(self.world, file, &import.module)
        } else {
            self.module(file, &import.module)
        };
        match (found, named) {
            (Found::Here(module), Some(named)) => {
                for hit in self.exported(&module, &named.name, Mode::Named) {
                    let handed = (mode != Mode::Inside).then_some(file);
                    hits.push(Hit { through: hit.through.or(handed), ..hit });
                }
            }
            (Found::Here(module), None) => hits.push(Hit { entity: Entity::Module(module), through: None }),
            (Found::Outside, _) => hits.push(Hit { entity: Entity::Outside, through: None }),
            (Found::Missing, _) => {}
        }
    }

    /// Returns the meanings of a module's name for its importers.
    pub(crate) fn exported(&self, module: &Module, name: &str, mode: Mode) -> Vec<Hit> {
        let mut hits = match module {
            Module::File(file) => self.lookup(*file, name, mode).to_vec(),
            Module::Folder(_) => Vec::new(),
        };
        if hits.is_empty()
            && mode == Mode::Named
            && let Some(module) = self.scheme.submodule(self.world, module, name)
        {
            hits.push(Hit { entity: Entity::Module(module), through: None });
        }
        hits
    }

    /// Returns the meanings of a dotted name in a file.
    pub(crate) fn dotted(&self, file: FileId, name: &str) -> Vec<Hit> {
        let Some(view) = self.view(file) else { return Vec::new() };
        let whole = self.lookup(file, name, Mode::Inside);
        let separator = self.scheme.separator();
        if !whole.is_empty() || !name.contains(separator) {
            return whole.to_vec();
        }
        drop(view);
        let mut parts = name.split(separator);
        let mut hits = self.lookup(file, parts.next().unwrap_or_default(), Mode::Inside).to_vec();
        for part in parts {
            hits = self.step(hits, part);
        }
        hits
    }

    /// Returns the meanings of a name inside other meanings.
    fn step(&self, hits: Vec<Hit>, part: &str) -> Vec<Hit> {
        let mut next = Vec::new();
        for hit in hits {
            match hit.entity {
                Entity::Module(module) => {
                    let through = hit.through;
                    let inside = self.exported(&module, part, Mode::Named).into_iter();
                    next.extend(inside.map(|inside| Hit { through: inside.through.or(through), ..inside }));
                }
                Entity::Symbol(symbol) => next.extend(self.nested(symbol, part)),
                Entity::Outside => next.push(hit),
            }
        }
        next
    }

    /// Returns the meanings of a dotted name from the outermost module: a module, or something in one.
    pub(crate) fn absolute(&self, file: FileId, name: &str) -> Vec<Hit> {
        let mut end = name.len();
        loop {
            let path = &name[..end];
            if let Found::Here(module) = self.module(file, path) {
                let inside = name[end..].split('.').filter(|part| !part.is_empty());
                let hit = Hit { entity: Entity::Module(module), through: None };
                return inside.fold(vec![hit], |hits, part| self.step(hits, part));
            }
            match path.trim_start_matches('.').rfind('.') {
                Some(at) => end = path.len() - path.trim_start_matches('.').len() + at,
                None => return Vec::new(),
            }
        }
    }

    /// Returns the exports that a namespace lists: `namespace N { export { A } }`.
    fn listed(&self, file: FileId, view: &View, namespace: &str, name: &str) -> Vec<Hit> {
        let mut hits = Vec::new();
        for (import, part) in view.imports().names.get(name).into_iter().flatten() {
            let import = view
                .facts
                .imports
                .get(*import)
                .filter(|candidate| candidate.reexport && candidate.module.is_empty());
            let import = import.filter(|import| import.container.as_deref() == Some(namespace));
            if let Some(own) = import.zip(*part).and_then(|(import, part)| import.names.get(part)) {
                hits.extend(self.lookup(file, &own.name, Mode::Inside).iter().cloned());
            }
        }
        hits
    }

    /// A definition inside a definition: a nested class, a member of a namespace.
    fn nested(&self, symbol: Symbol, name: &str) -> Vec<Hit> {
        let Some(view) = self.view(symbol.file) else { return Vec::new() };
        let Some(definition) = view.definition(symbol.at) else { return Vec::new() };
        let path = format!("{}.{name}", path_of(definition));
        let hits = view.at(&path).iter().map(|at| Symbol { file: symbol.file, at: *at });
        let mut hits: Vec<Hit> =
            hits.map(|symbol| Hit { entity: Entity::Symbol(symbol), through: None }).collect();
        if hits.is_empty() && definition.kind == DefinitionKind::Module {
            hits = self.listed(symbol.file, &view, &path_of(definition), name);
        }
        match &definition.gives {
            // An alias has the members of its target.
            Some(Shape::Name(other)) if hits.is_empty() && self.hops.get() < MAX_HOPS => {
                self.hops.set(self.hops.get() + 1);
                let hits = self.step(self.dotted(symbol.file, other), name);
                self.hops.set(self.hops.get() - 1);
                hits
            }
            _ => hits,
        }
    }
}
