//! Names and paths: what they lead to by the rules of modules, imports and crates.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::members::Members;
use super::modules::{Module, Project};
use super::values::Ty;
use crate::facts::{DefinitionKind, Import, ImportForm, Reach, Role, Use};
use crate::world::FileId;

/// What a name leads to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Entity {
    Module(Module),
    /// A definition of a file.
    Item(FileId, u32),
    /// Something outside the project.
    Outside,
}

/// What a name leads to, and who hands it on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) entity: Entity,
    /// The file nearest to the entity that hands it on by name.
    pub(super) through: Option<FileId>,
}

/// Answers that are kept while one question is asked.
type Kept<K, V> = RefCell<HashMap<K, V>>;
type Several = Rc<[Found]>;
type Items = Rc<[(FileId, u32)]>;
type Names = Rc<[Box<str>]>;

/// What was looked up already.
#[derive(Default)]
pub(super) struct Memory {
    names: Kept<(Module, Box<str>, bool), Several>,
    paths: Kept<(Module, Box<str>), Several>,
    pub(super) members: Kept<(FileId, u32, Box<str>), Rc<Members>>,
    pub(super) types: Kept<(Module, Box<str>), Ty>,
    macros: Kept<Box<str>, Items>,
    expanded: Kept<Box<str>, bool>,
    pub(super) implementing: Kept<(FileId, u32), Names>,
    pub(super) provided: Kept<Box<str>, Items>,
}

/// Longer chains of imports nobody writes.
const MOST_STEPS: usize = 24;

impl Project<'_> {
    /// What a path written in a module leads to.
    pub(super) fn resolve(&self, module: &Module, path: &str) -> Rc<[Found]> {
        self.resolve_within(module, path, 0)
    }

    fn resolve_within(&self, module: &Module, path: &str, steps: usize) -> Rc<[Found]> {
        if steps > MOST_STEPS {
            return Rc::new([]);
        }
        let key = (module.clone(), Box::from(path));
        if let Some(known) = self.memory.paths.borrow().get(&key) {
            return Rc::clone(known);
        }
        let (head, rest) = path.split_once("::").map_or((path, None), |(head, rest)| (head, Some(rest)));
        let mut found = match (head, rest) {
            ("", Some(rest)) => {
                let (name, rest) =
                    rest.split_once("::").map_or((rest, None), |(name, rest)| (name, Some(rest)));
                let found = self.outer_crate(module, name).into_iter().collect();
                return self.rest(module, found, rest, steps).into();
            }
            _ => self.first(module, head, steps),
        };
        found = self.rest(module, found, rest, steps);
        let found: Rc<[Found]> = found.into();
        if steps == 0 || !found.is_empty() {
            self.memory.paths.borrow_mut().insert(key, Rc::clone(&found));
        }
        found
    }

    fn rest(&self, viewer: &Module, mut found: Vec<Found>, rest: Option<&str>, steps: usize) -> Vec<Found> {
        let Some(rest) = rest else { return found };
        for segment in rest.split("::") {
            found = found.iter().flat_map(|found| self.below(viewer, found, segment, steps)).collect();
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

    /// A crate by its name in paths.
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

    /// What a segment means behind something.
    fn below(&self, viewer: &Module, found: &Found, segment: &str, steps: usize) -> Vec<Found> {
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
        // What hands on a type hands on its members too.
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
        // Exported macros stand in the root of their crate, wherever they are defined.
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
            for file in self.containing(name) {
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

    /// Whether a macro can be seen in a module by the order of the text: below its own module, and beyond it only as far as
    /// `#[macro_use]` lets it.
    fn reaches(&self, file: FileId, index: u32, viewer: &Module) -> bool {
        let Some(sheet) = self.sheet(file) else { return false };
        let Some(definition) = sheet.facts.definitions.get(index as usize) else { return false };
        let mut module = self.module_of(file, definition);
        // Inside a function, nobody else sees it.
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

    /// Whether macros that stand in a file, as it is now, for items of its module may bring names into it; derived traits count as such. Those inside of
    /// functions and implementations do not, and are not at the beginning of a line.
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

    /// Whether a macro of the project is used at a line, or a little above it.
    pub(super) fn is_given_to_macro(&self, file: FileId, line: u32) -> bool {
        /// What is given to a macro stands not much further below its name.
        const MOST_LINES: u32 = 16;
        let Some(sheet) = self.sheet(file) else { return false };
        let near = |it: &&Use| it.line <= line && it.line + MOST_LINES >= line;
        let mut called = sheet.facts.uses.iter().filter(near).filter(|it| is_macro_call(it));
        called.any(|it| !self.macros(&it.name, &Module::of_file(file)).is_empty())
    }

    /// Whether a macro of that name is used anywhere but in macros that are not.
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
        // Macros that only use each other are used by nobody.
        self.memory.expanded.borrow_mut().insert(name.into(), false);
        let expanded = self.containing(name).into_iter().any(expands);
        self.memory.expanded.borrow_mut().insert(name.into(), expanded);
        expanded
    }

    /// What a name means in a module, seen from another one.
    pub(super) fn lookup(&self, module: &Module, name: &str, viewer: &Module, steps: usize) -> Rc<[Found]> {
        if steps > MOST_STEPS {
            return Rc::new([]);
        }
        let inside = self.is_inside(viewer, module);
        let key = (module.clone(), Box::from(name), inside);
        if let Some(known) = self.memory.names.borrow().get(&key) {
            return Rc::clone(known);
        }
        // While it is looked up it is nothing: imports that go round end here.
        self.memory.names.borrow_mut().insert(key.clone(), Rc::new([]));
        let mut found = self.own(module, name, inside, steps);
        if found.is_empty() {
            found = self.by_glob(module, name, inside, steps);
        }
        let found: Rc<[Found]> = found.into();
        self.memory.names.borrow_mut().insert(key, Rc::clone(&found));
        found
    }

    /// What a module defines or imports by name.
    fn own(&self, module: &Module, name: &str, inside: bool, steps: usize) -> Vec<Found> {
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
                    self.taken(module, import, &taken.name, steps)
                        .into_iter()
                        .map(|found| Found { through: found.through.or(Some(module.file)), ..found }),
                );
            }
        }
        found.dedup();
        found
    }

    /// What an import takes under a name of its module.
    pub(super) fn taken(&self, module: &Module, import: &Import, name: &str, steps: usize) -> Vec<Found> {
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

    /// What a module gets by importing every name of another.
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

/// Whether a use is that of a macro.
fn is_macro_call(used: &Use) -> bool {
    used.role == Role::Call && used.arguments.is_none()
}

/// Whether a kind is only reached through what it belongs to.
pub(super) fn is_member(kind: DefinitionKind) -> bool {
    matches!(kind, DefinitionKind::Method | DefinitionKind::Field | DefinitionKind::Variant)
}
