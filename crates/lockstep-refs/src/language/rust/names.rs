//! Resolves names and paths by the rules of modules, imports and crates.

use std::cell::RefCell;
use std::rc::Rc;

use foldhash::HashMap;

use super::members::Members;
use super::modules::{Module, Project};
use super::values::Ty;
use crate::facts::{DefinitionKind, Import, ImportForm, Reach, Role, Use};
use crate::limits::Limit;
use crate::memo::{Entry, Progress};
use crate::world::FileId;

/// The meaning of a name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Entity {
    Module(Module),
    Item(FileId, u32),
    /// Something outside the project.
    Outside,
}

/// The meaning of a name, and the file that re-exports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) entity: Entity,
    /// The re-exporting file that is nearest to the entity.
    pub(super) through: Option<FileId>,
}

/// Results that are cached during one query.
type Cache<K, V> = RefCell<HashMap<K, V>>;
type Several = Rc<[Found]>;
/// A name of a module, and whether it is seen from inside.
type LookupKey = (Module, Box<str>, bool);
type Items = Rc<[(FileId, u32)]>;
type Names = Rc<[Box<str>]>;

/// The cached lookups.
#[derive(Default)]
pub(super) struct Memory {
    names: Cache<LookupKey, Entry<Several>>,
    /// Names and members whose lookup depends on an open one or a limit.
    provisional: RefCell<Vec<Provisional>>,
    pub(super) progress: Progress,
    paths: Cache<(Module, Box<str>), Several>,
    pub(super) members: Cache<MembersKey, Entry<Rc<Members>>>,
    pub(super) types: Cache<(Module, Box<str>), Ty>,
    macros: Cache<Box<str>, Items>,
    expanded: Cache<Box<str>, bool>,
    pub(super) implementing: Cache<(FileId, u32), Names>,
    pub(super) provided: Cache<Box<str>, Items>,
}

/// A type, trait or variant, and the name of a member.
pub(super) type MembersKey = (FileId, u32, Box<str>);

/// A result that holds only inside the open computation that it relies on.
pub(super) enum Provisional {
    Name(LookupKey),
    Members(MembersKey),
}

impl Memory {
    pub(super) fn count_provisional(&self) -> usize {
        self.provisional.borrow().len()
    }

    /// Notes a result that is not complete.
    pub(super) fn note_provisional(&self, result: Provisional) {
        self.provisional.borrow_mut().push(result);
    }

    /// Forgets the results that relied on a computation that has ended: all from position `first` on.
    pub(super) fn forget_provisional(&self, first: usize) {
        for result in self.provisional.borrow_mut().drain(first..) {
            match result {
                Provisional::Name(key) => drop(self.names.borrow_mut().remove(&key)),
                Provisional::Members(key) => drop(self.members.borrow_mut().remove(&key)),
            }
        }
    }
}

/// The maximum length of import chains.
const MOST_STEPS: usize = 24;

impl Project<'_> {
    pub(super) fn resolve(&self, module: &Module, path: &str) -> Rc<[Found]> {
        self.resolve_within(module, path, 0)
    }

    fn resolve_within(&self, module: &Module, path: &str, steps: usize) -> Rc<[Found]> {
        if steps > MOST_STEPS {
            Limit::Hops.reach();
            self.memory.progress.cut();
            return Rc::new([]);
        }
        let key = (module.clone(), Box::from(path));
        if let Some(known) = self.memory.paths.borrow().get(&key) {
            return Rc::clone(known);
        }
        let (head, rest) = path.split_once("::").map_or((path, None), |(head, rest)| (head, Some(rest)));
        let computation = self.memory.progress.begin();
        let mut found = match (head, rest) {
            ("", Some(rest)) => {
                let (name, rest) =
                    rest.split_once("::").map_or((rest, None), |(name, rest)| (name, Some(rest)));
                let found = self.outer_crate(module, name).into_iter().collect();
                let found = self.rest(module, found, rest, steps).into();
                self.memory.progress.end(&computation);
                return found;
            }
            _ => self.first(module, head, steps),
        };
        found = self.rest(module, found, rest, steps);
        let found: Rc<[Found]> = found.into();
        if self.memory.progress.end(&computation) {
            self.memory.paths.borrow_mut().insert(key, Rc::clone(&found));
        }
        found
    }

    fn rest(&self, viewer: &Module, mut found: Vec<Found>, rest: Option<&str>, steps: usize) -> Vec<Found> {
        let Some(rest) = rest else { return found };
        for segment in rest.split("::") {
            found =
                found.iter().flat_map(|found| self.resolve_segment(viewer, found, segment, steps)).collect();
            found.dedup();
            if found.is_empty() {
                break;
            }
        }
        found
    }

    fn first(&self, module: &Module, name: &str, steps: usize) -> Vec<Found> {
        let direct = |module: Module| vec![Found { entity: Entity::Module(module), through: None }];
        match name {
            "crate" => direct(self.root(module)),
            "self" => direct(module.clone()),
            "super" => self.outer(module).map(direct).unwrap_or_default(),
            _ => {
                let found = self.lookup(module, name, module, steps);
                if !found.is_empty() {
                    return found.to_vec();
                }
                self.outer_crate(module, name).into_iter().collect()
            }
        }
    }

    fn outer_crate(&self, module: &Module, name: &str) -> Option<Found> {
        let outside = Found { entity: Entity::Outside, through: None };
        if matches!(name, "std" | "core" | "alloc" | "proc_macro") {
            return Some(outside);
        }
        let package = self.package(module.file)?;
        let library = |root: Option<FileId>| match root {
            Some(root) => Found { entity: Entity::Module(Module::of_file(root)), through: None },
            None => outside.clone(),
        };
        if package.library == name && !package.is_library(self.root(module).file) {
            return Some(library(package.library_root));
        }
        if !package.depends_on(name) {
            return None;
        }
        let directory = package.dependency(self.world, name);
        let dependency = directory.and_then(|directory| self.package_in(&directory));
        Some(dependency.map_or(outside.clone(), |dependency| library(dependency.library_root)))
    }

    /// Resolves a segment after an entity.
    fn resolve_segment(&self, viewer: &Module, found: &Found, segment: &str, steps: usize) -> Vec<Found> {
        let found_below = match &found.entity {
            Entity::Outside => vec![found.clone()],
            Entity::Module(module) => match segment {
                "super" => {
                    let outer = self.outer(module);
                    outer.map(|m| Found { entity: Entity::Module(m), through: None }).into_iter().collect()
                }
                "self" => vec![found.clone()],
                "crate" => self.first(module, "crate", steps),
                _ => self.in_module(viewer, module, segment, steps),
            },
            Entity::Item(file, index) => {
                let members = self.members(*file, *index, segment);
                members
                    .all()
                    .map(|(file, index)| Found { entity: Entity::Item(file, index), through: None })
                    .collect()
            }
        };
        // Re-exporting a type re-exports its members too.
        found_below
            .into_iter()
            .map(|below| Found { through: below.through.or(found.through), ..below })
            .collect()
    }

    fn in_module(&self, viewer: &Module, module: &Module, name: &str, steps: usize) -> Vec<Found> {
        let found = self.lookup(module, name, viewer, steps);
        if !found.is_empty() {
            return found.to_vec();
        }
        // Exported macros are in the root of their crate, wherever they are defined.
        if self.outer(module).is_none() {
            let exported = self.macros(name, module);
            return exported
                .into_iter()
                .filter(|(file, index)| {
                    self.sheet(*file).is_some_and(|sheet| {
                        sheet.facts.definitions[*index as usize].reach == Reach::Everyone
                    })
                })
                .map(|(file, index)| Found { entity: Entity::Item(file, index), through: None })
                .collect();
        }
        Vec::new()
    }

    /// Macros of that name in the crate of a module that can be seen there.
    pub(super) fn macros(&self, name: &str, module: &Module) -> Vec<(FileId, u32)> {
        let known = self.memory.macros.borrow().get(name).cloned();
        let all = known.unwrap_or_else(|| {
            let mut all = Vec::new();
            for file in self.defining(name) {
                let Some(sheet) = self.sheet(file) else { continue };
                for index in sheet.defined(name) {
                    if sheet.facts.definitions[*index as usize].kind == DefinitionKind::Macro {
                        all.push((file, *index));
                    }
                }
            }
            let all: Rc<[(FileId, u32)]> = all.into();
            self.memory.macros.borrow_mut().insert(name.into(), Rc::clone(&all));
            all
        });
        let root = self.root(module);
        let here = |file: FileId| self.root(&Module::of_file(file)) == root;
        let seen = |(file, index): &(FileId, u32)| here(*file) && self.reaches(*file, *index, module);
        all.iter().copied().filter(seen).collect()
    }

    /// Returns true if a macro is visible in a module by the order of the text: below its own module, and
    /// outside only with `#[macro_use]`.
    fn reaches(&self, file: FileId, index: u32, viewer: &Module) -> bool {
        let Some(sheet) = self.sheet(file) else { return false };
        let Some(definition) = sheet.facts.definitions.get(index as usize) else { return false };
        let mut module = self.module_of(file, definition);
        // Inside a function, it is not visible outside.
        if sheet.split(definition.container.as_deref()).1.is_some() {
            return viewer.file == file;
        }
        if definition.reach == Reach::Everyone {
            return true;
        }
        for _ in 0..64 {
            if self.is_inside(viewer, &module) {
                return true;
            }
            match self.outer(&module).filter(|_| self.lets_macros_out(&module)) {
                Some(outer) => module = outer,
                None => return false,
            }
        }
        false
    }

    /// Returns true if macros in a file, in its present state, may add names to its module; derived traits
    /// count as such. Macros inside functions and implementations do not, and are not at the beginning of a
    /// line.
    pub(super) fn expands(&self, file: FileId) -> bool {
        let is_item = |line: &str| {
            let name = line.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | ':'))).next();
            let rest = name.and_then(|name| line.strip_prefix(name).filter(|_| !name.is_empty()));
            line.starts_with("#[derive(")
                || line.starts_with("#[test]")
                || rest.is_some_and(|rest| rest.starts_with('!')) && !line.starts_with("macro_rules!")
        };
        match self.present.filter(|(changed, _)| *changed == file) {
            Some((_, text)) => text.lines().any(is_item),
            None => self.world.text(file).is_some_and(|text| text.lines().any(is_item)),
        }
    }

    /// Returns true if a macro of the project is used at a line, or shortly above it.
    pub(super) fn is_given_to_macro(&self, file: FileId, line: u32) -> bool {
        /// The maximum distance in lines between a macro's name and its arguments.
        const MOST_LINES: u32 = 16;
        let Some(sheet) = self.sheet(file) else { return false };
        let near = |usage: &&Use| usage.line <= line && usage.line + MOST_LINES >= line;
        let mut called = sheet.facts.uses.iter().filter(near).filter(|usage| is_macro_call(usage));
        called.any(|usage| !self.macros(&usage.name, &Module::of_file(file)).is_empty())
    }

    /// Returns true if a macro of that name is used anywhere but in unused macros.
    pub(super) fn is_expanded(&self, name: &str) -> bool {
        if let Some(known) = self.memory.expanded.borrow().get(name) {
            return *known;
        }
        let expands = |file: FileId| {
            let Some(sheet) = self.sheet(file) else { return false };
            sheet.facts.uses.iter().any(|used| {
                let within = used.within.and_then(|within| sheet.facts.definitions.get(within as usize));
                let maker = within.filter(|within| within.kind == DefinitionKind::Macro);
                *used.name == *name
                    && is_macro_call(used)
                    && maker.is_none_or(|maker| *maker.name != *name && self.is_expanded(&maker.name))
            })
        };
        // Macros that only use each other are unused.
        self.memory.expanded.borrow_mut().insert(name.into(), false);
        let expanded = self.containing(name).into_iter().any(expands);
        self.memory.expanded.borrow_mut().insert(name.into(), expanded);
        expanded
    }

    /// Returns the modules of files that call a macro, up to a limit.
    pub(super) fn expanding_modules(&self, name: &str) -> Vec<Module> {
        const MAX_FILES: usize = 20;
        let calls = |file: &FileId| {
            let is_call = |used: &Use| *used.name == *name && is_macro_call(used);
            self.sheet(*file).is_some_and(|sheet| sheet.facts.uses.iter().any(is_call))
        };
        let callers = self.containing(name).into_iter().take(MAX_FILES).filter(calls);
        callers.map(Module::of_file).collect()
    }

    /// Returns the meanings of a name in a module, seen from another one.
    pub(super) fn lookup(&self, module: &Module, name: &str, viewer: &Module, steps: usize) -> Rc<[Found]> {
        let Memory { names, progress, .. } = &*self.memory;
        if steps > MOST_STEPS {
            Limit::Hops.reach();
            progress.cut();
            return Rc::new([]);
        }
        let inside = self.is_inside(viewer, module);
        let key = (module.clone(), Box::from(name), inside);
        match names.borrow().get(&key) {
            Some(Entry::Known(found)) => return Rc::clone(found),
            // A cycle of imports ends here.
            Some(Entry::Open(position)) => {
                progress.meet(*position);
                return Rc::new([]);
            }
            None => {}
        }
        let computation = progress.begin();
        let first_provisional = self.memory.count_provisional();
        names.borrow_mut().insert(key.clone(), Entry::Open(computation.position));
        let mut found = self.module_meanings(module, name, inside, steps);
        if found.is_empty() {
            found = self.by_glob(module, name, inside, steps);
        }
        let found: Rc<[Found]> = found.into();
        let is_complete = progress.end(&computation);
        if !is_complete {
            self.memory.note_provisional(Provisional::Name(key.clone()));
        }
        names.borrow_mut().insert(key, Entry::Known(Rc::clone(&found)));
        if is_complete || progress.is_idle() {
            self.memory.forget_provisional(first_provisional);
        }
        found
    }

    /// Returns the meanings that a module defines or imports by name.
    fn module_meanings(&self, module: &Module, name: &str, inside: bool, steps: usize) -> Vec<Found> {
        let Some(sheet) = self.sheet(module.file) else { return Vec::new() };
        let mut found = Vec::new();
        for index in sheet.defined(name) {
            let definition = &sheet.facts.definitions[*index as usize];
            if definition.container.as_deref() != module.inline.as_deref() || is_member(definition.kind) {
                continue;
            }
            let entity = if definition.kind == DefinitionKind::Module {
                Entity::Module(module.inner(name))
            } else {
                Entity::Item(module.file, *index)
            };
            found.push(Found { entity, through: None });
        }
        for index in sheet.imported(name) {
            let import = &sheet.facts.imports[*index as usize];
            if import.container.as_deref() != module.inline.as_deref() || !(inside || import.reexport) {
                continue;
            }
            if import.form == ImportForm::Child {
                let child = self.child(module.file, import).map(Module::of_file);
                found.extend(child.map(|child| Found { entity: Entity::Module(child), through: None }));
                continue;
            }
            for taken in import.names.iter().filter(|taken| *taken.local == *name) {
                found.extend(
                    self.imported_meanings(module, import, &taken.name, steps)
                        .into_iter()
                        .map(|found| Found { through: found.through.or(Some(module.file)), ..found }),
                );
            }
        }
        found.dedup();
        found
    }

    /// Returns the meanings of a name that an import takes from its module.
    pub(super) fn imported_meanings(
        &self,
        module: &Module,
        import: &Import,
        name: &str,
        steps: usize,
    ) -> Vec<Found> {
        let path =
            if import.module.is_empty() { name.to_owned() } else { format!("{}::{name}", import.module) };
        let found = self.resolve_within(module, &path, steps + 1);
        if !found.is_empty() {
            return found.to_vec();
        }
        // Before the edition of 2018 imports started at the root.
        let root = self.root(module);
        if root == *module {
            let macros = if import.module.is_empty() { self.macros(name, module) } else { Vec::new() };
            return macros
                .into_iter()
                .map(|(file, index)| Found { entity: Entity::Item(file, index), through: None })
                .collect();
        }
        let found = self.resolve_within(&root, &path, steps + 1);
        if found.is_empty() && import.module.is_empty() {
            let macros = self.macros(name, module).into_iter();
            return macros
                .map(|(file, index)| Found { entity: Entity::Item(file, index), through: None })
                .collect();
        }
        found.to_vec()
    }

    /// Returns the meanings of a name through glob imports.
    fn by_glob(&self, module: &Module, name: &str, inside: bool, steps: usize) -> Vec<Found> {
        let Some(sheet) = self.sheet(module.file) else { return Vec::new() };
        let mut found: Vec<Found> = Vec::new();
        for index in &sheet.globs {
            let import = &sheet.facts.imports[*index as usize];
            if import.container.as_deref() != module.inline.as_deref() || !(inside || import.reexport) {
                continue;
            }
            for from in self.resolve_within(module, &import.module, steps + 1).iter() {
                match &from.entity {
                    Entity::Module(other) if other != module => {
                        found.extend(self.lookup(other, name, module, steps + 1).iter().cloned());
                    }
                    Entity::Item(file, index) => {
                        let members = self.members(*file, *index, name);
                        found.extend(members.all().map(|(file, index)| Found {
                            entity: Entity::Item(file, index),
                            through: from.through,
                        }));
                    }
                    _ => {}
                }
            }
        }
        found.dedup();
        found
    }
}

fn is_macro_call(used: &Use) -> bool {
    used.role == Role::Call && used.arguments.is_none()
}

/// Returns true if a kind is accessed through its owner.
pub(super) fn is_member(kind: DefinitionKind) -> bool {
    matches!(kind, DefinitionKind::Method | DefinitionKind::Field | DefinitionKind::Variant)
}
