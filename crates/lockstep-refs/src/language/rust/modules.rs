//! The module tree: maps files to modules and crates.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use foldhash::HashMap;

use super::cargo::Package;
use crate::facts::{DefinitionKind, Facts, Import, ImportForm};
use crate::language::Language;
use crate::memo::Memo;
use crate::world::{FileId, World, base, join, parent};

/// A module: a file, or one inside a file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Module {
    pub(super) file: FileId,
    /// The container of its direct content; `None` for the file's own module.
    pub(super) inline: Option<Rc<str>>,
}

impl Module {
    pub(super) fn of_file(file: FileId) -> Self {
        Self { file, inline: None }
    }

    pub(super) fn inner(&self, name: &str) -> Self {
        let inline = match &self.inline {
            Some(outer) => format!("{outer}.{name}"),
            None => name.to_owned(),
        };
        Self { file: self.file, inline: Some(inline.into()) }
    }
}

/// Marks an inline module whose macros are visible outside.
pub(super) const MACRO_USE: &str = "macro_use";

/// The facts of a file, with its names in order.
pub(super) struct Sheet {
    pub(super) facts: Arc<Facts>,
    definitions: HashMap<Box<str>, Vec<u32>>,
    /// Imports by their local names.
    imports: HashMap<Box<str>, Vec<u32>>,
    /// Imports of every name.
    pub(super) globs: Vec<u32>,
    modules: Vec<Box<str>>,
}

impl Sheet {
    fn new(facts: Arc<Facts>) -> Self {
        let mut definitions: HashMap<Box<str>, Vec<u32>> = HashMap::default();
        let mut modules = Vec::new();
        for (index, definition) in (0..).zip(&facts.definitions) {
            definitions.entry(definition.name.clone()).or_default().push(index);
            if definition.kind == DefinitionKind::Module {
                modules.push(match &definition.container {
                    Some(outer) => format!("{outer}.{}", definition.name).into(),
                    None => definition.name.clone(),
                });
            }
        }
        let mut imports: HashMap<Box<str>, Vec<u32>> = HashMap::default();
        let mut globs = Vec::new();
        for (index, import) in (0..).zip(&facts.imports) {
            if import.glob && import.form != ImportForm::Child {
                globs.push(index);
            }
            for name in &import.names {
                imports.entry(name.local.clone()).or_default().push(index);
            }
        }
        Self { facts, definitions, imports, globs, modules }
    }

    pub(super) fn defined(&self, name: &str) -> &[u32] {
        self.definitions.get(name).map_or(&[], Vec::as_slice)
    }

    pub(super) fn imported(&self, name: &str) -> &[u32] {
        self.imports.get(name).map_or(&[], Vec::as_slice)
    }

    /// Splits a container into its innermost module and the rest inside that module.
    pub(super) fn split<'c>(&self, container: Option<&'c str>) -> (Option<&'c str>, Option<&'c str>) {
        let Some(container) = container else { return (None, None) };
        let mut end = container.len();
        loop {
            let head = &container[..end];
            if self.modules.iter().any(|module| **module == *head) {
                return (Some(head), container.get(end + 1..));
            }
            match head.rfind('.') {
                Some(dot) => end = dot,
                None => return (None, Some(container)),
            }
        }
    }
}

/// The project in one query: lookups are cached.
pub(super) struct Project<'w> {
    pub(super) world: &'w dyn World,
    /// The present text of a file that is queried with its former content.
    pub(super) present: Option<(FileId, &'w str)>,
    tree: Rc<ModuleTree>,
    pub(super) memory: Rc<super::names::Memory>,
}

/// Files, packages and modules of a world.
#[derive(Default)]
struct ModuleTree {
    sheets: RefCell<HashMap<FileId, Option<Rc<Sheet>>>>,
    parents: RefCell<HashMap<FileId, Option<Module>>>,
}

impl<'w> Project<'w> {
    pub(super) fn new(world: &'w dyn World) -> Self {
        Self {
            world,
            present: None,
            tree: Memo::part(world, Language::Rust),
            memory: Memo::part(world, Language::Rust),
        }
    }

    pub(super) fn with_present(self, file: FileId, text: Option<&'w str>) -> Self {
        Self { present: text.map(|text| (file, text)), ..self }
    }

    /// A Rust file's facts.
    pub(super) fn sheet(&self, file: FileId) -> Option<Rc<Sheet>> {
        if let Some(known) = self.tree.sheets.borrow().get(&file) {
            return known.clone();
        }
        let rust = Language::of(self.world.path(file)) == Language::Rust;
        let sheet = rust.then(|| self.world.facts(file)).flatten().map(|facts| Rc::new(Sheet::new(facts)));
        self.tree.sheets.borrow_mut().insert(file, sheet.clone());
        sheet
    }

    /// Returns the Rust files that contain all words of a name.
    pub(super) fn containing(&self, name: &str) -> Vec<FileId> {
        let mut files = self.world.containing(name);
        files.retain(|file| Language::of(self.world.path(*file)) == Language::Rust);
        files
    }

    /// Returns the Rust files that may define, extend, import or implement a name.
    pub(super) fn defining(&self, name: &str) -> Vec<FileId> {
        let mut files = self.containing(name);
        files.retain(|file| self.world.may_define(*file, name));
        files
    }

    pub(super) fn package_in(&self, directory: &str) -> Option<Rc<Package>> {
        Package::of(self.world, directory)
    }

    pub(super) fn package(&self, file: FileId) -> Option<Rc<Package>> {
        let mut directory = parent(self.world.path(file));
        loop {
            if let Some(package) = self.package_in(directory) {
                return Some(package);
            }
            if directory.is_empty() {
                return None;
            }
            directory = parent(directory);
        }
    }

    /// Returns true if a file is the root of a crate.
    pub(super) fn is_root(&self, file: FileId) -> bool {
        let path = self.world.path(file);
        match self.package(file) {
            Some(package) => package.is_root(path),
            None => matches!(base(path), "lib.rs" | "main.rs"),
        }
    }

    /// The module around a module; `None` for the root of a crate.
    pub(super) fn outer(&self, module: &Module) -> Option<Module> {
        if let Some(inline) = &module.inline {
            let outer = inline.rsplit_once('.').map(|(outer, _)| Rc::from(outer));
            return Some(Module { file: module.file, inline: outer });
        }
        if let Some(known) = self.tree.parents.borrow().get(&module.file) {
            return known.clone();
        }
        // Until it is known, it has none, so that files that declare each other cause no endless loop.
        self.tree.parents.borrow_mut().insert(module.file, None);
        let outer = if self.is_root(module.file) { None } else { self.declaring(module.file) };
        self.tree.parents.borrow_mut().insert(module.file, outer.clone());
        outer
    }

    /// The module that declares a file as its child.
    fn declaring(&self, file: FileId) -> Option<Module> {
        let path = self.world.path(file);
        let directory = parent(path);
        let own = if base(path) == "mod.rs" { parent(directory) } else { directory };
        let stem = base(own);
        let up = parent(own);
        let near =
            [join(own, "mod.rs"), join(up, &format!("{stem}.rs")), join(own, "lib.rs"), join(own, "main.rs")];
        let near = near.into_iter().flatten().filter_map(|path| self.world.find(&path));
        if let Some(found) = near.filter(|other| *other != file).find_map(|other| self.declares(other, file))
        {
            return Some(found);
        }
        // Another root next to it (`tests/it.rs` with `tests/common.rs`), or a file that names its path.
        let beside = self.world.directory(own).into_iter().filter(|other| *other != file);
        let found = beside.into_iter().find_map(|other| self.declares(other, file));
        found.or_else(|| {
            let stem = base(path).trim_end_matches(".rs");
            let named = self.containing(stem).into_iter().filter(|other| *other != file);
            named.into_iter().find_map(|other| self.declares(other, file))
        })
    }

    /// Returns the position of a line in its crate, in the order of compilation: the lines of the
    /// declarations of the enclosing modules, outermost first, then its own. It includes the root, because
    /// crates have no order.
    pub(super) fn order(&self, file: FileId, line: u32) -> Option<(FileId, Vec<u32>)> {
        let mut lines = vec![line];
        let mut file = file;
        while self.outer(&Module::of_file(file)).is_some() {
            let (by, line) = self.declared_at(file)?;
            lines.push(line);
            file = by;
            if lines.len() > 64 {
                return None;
            }
        }
        lines.reverse();
        Some((file, lines))
    }

    /// Returns true if a module is declared with `#[macro_use]`.
    pub(super) fn lets_macros_out(&self, module: &Module) -> bool {
        let declared = || match &module.inline {
            Some(inline) => {
                let (outer, name) = inline.rsplit_once('.').map_or((None, &**inline), |(o, n)| (Some(o), n));
                let sheet = self.sheet(module.file)?;
                let mut meant = sheet.defined(name).iter().map(|at| &sheet.facts.definitions[*at as usize]);
                meant
                    .find(|definition| {
                        definition.kind == DefinitionKind::Module && definition.container.as_deref() == outer
                    })
                    .map(|definition| definition.extends.iter().any(|mark| **mark == *MACRO_USE))
            }
            None => {
                let by = self.outer(module)?.file;
                let sheet = self.sheet(by)?;
                Some(self.declaration(by, &sheet, module.file)?.glob)
            }
        };
        declared().unwrap_or(false)
    }

    /// Returns the place where a file is declared as a module.
    pub(super) fn declared_at(&self, file: FileId) -> Option<(FileId, u32)> {
        let by = self.outer(&Module::of_file(file))?.file;
        let sheet = self.sheet(by)?;
        Some((by, self.declaration(by, &sheet, file)?.line))
    }

    fn declares(&self, by: FileId, file: FileId) -> Option<Module> {
        let sheet = self.sheet(by)?;
        let import = self.declaration(by, &sheet, file)?;
        Some(Module { file: by, inline: import.container.as_deref().map(Rc::from) })
    }

    fn declaration<'s>(&self, by: FileId, sheet: &'s Sheet, file: FileId) -> Option<&'s Import> {
        let mut children = sheet.facts.imports.iter().filter(|import| import.form == ImportForm::Child);
        children.find(|import| self.child_files(by, import).contains(&file))
    }

    /// Returns the name of a file's module. `None` for the root of a crate that is no library.
    pub(super) fn module_name(&self, file: FileId) -> Option<Box<str>> {
        let Some(outer) = self.outer(&Module::of_file(file)) else {
            let package = self.package(file).filter(|package| package.is_library(file))?;
            return Some(package.library.as_str().into());
        };
        let sheet = self.sheet(outer.file)?;
        Some(self.declaration(outer.file, &sheet, file)?.names.first()?.name.clone())
    }

    /// The file that `mod x;` declares.
    pub(super) fn child(&self, by: FileId, import: &Import) -> Option<FileId> {
        self.child_files(by, import).into_iter().next()
    }

    fn child_files(&self, by: FileId, import: &Import) -> Vec<FileId> {
        let path = self.world.path(by);
        let directory = parent(path);
        let find =
            |directory: &str, path: &str| join(directory, path).and_then(|path| self.world.find(&path));
        if !import.module.is_empty() {
            return find(directory, &import.module).into_iter().collect();
        }
        let Some(name) = import.names.first().map(|name| &name.name) else { return Vec::new() };
        let inline = import.container.as_deref().map(|container| container.replace('.', "/"));
        let plain = format!("{directory}/{}", base(path).trim_end_matches(".rs"));
        let mut bases = if base(path) == "mod.rs" || self.is_root(by) {
            vec![directory.to_owned()]
        } else {
            // A file named by an attribute has its children next to it.
            vec![plain, directory.to_owned()]
        };
        if let Some(inline) = inline {
            bases = bases.into_iter().filter_map(|base| join(&base, &inline)).collect();
        }
        let candidates =
            bases.iter().flat_map(|base| [format!("{base}/{name}.rs"), format!("{base}/{name}/mod.rs")]);
        candidates.filter_map(|path| self.world.find(path.trim_start_matches('/'))).collect()
    }

    /// Returns the root module of a module's crate.
    pub(super) fn root(&self, module: &Module) -> Module {
        let mut module = module.clone();
        for _ in 0..64 {
            match self.outer(&module) {
                Some(outer) => module = outer,
                None => break,
            }
        }
        Module::of_file(module.file)
    }

    pub(super) fn is_inside(&self, inner: &Module, outer: &Module) -> bool {
        let mut module = inner.clone();
        for _ in 0..64 {
            if module == *outer {
                return true;
            }
            match self.outer(&module) {
                Some(next) => module = next,
                None => return false,
            }
        }
        false
    }
}
