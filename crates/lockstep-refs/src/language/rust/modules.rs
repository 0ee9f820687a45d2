//! The tree of modules: which file is which module of which crate.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::cargo::Package;
use crate::facts::{DefinitionKind, Facts, Import, ImportForm};
use crate::language::Language;
use crate::world::{FileId, World, base, join, parent};

/// A module: a file, or one inside a file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Module {
    pub(super) file: FileId,
    /// The container of what is directly in it; `None` for the file's own module.
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

/// What a module inside a file extends where its macros reach beyond it.
pub(super) const MACRO_USE: &str = "macro_use";

/// The facts of a file, with its names in order.
pub(super) struct Sheet {
    pub(super) facts: Arc<Facts>,
    /// Definitions by name.
    definitions: HashMap<Box<str>, Vec<u32>>,
    /// Imports by the name they are called here.
    imports: HashMap<Box<str>, Vec<u32>>,
    /// Imports of every name.
    pub(super) globs: Vec<u32>,
    /// Containers that are modules.
    modules: Vec<Box<str>>,
}

impl Sheet {
    fn new(facts: Arc<Facts>) -> Self {
        let mut definitions: HashMap<Box<str>, Vec<u32>> = HashMap::new();
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
        let mut imports: HashMap<Box<str>, Vec<u32>> = HashMap::new();
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

    /// The innermost module of a container, and what of the container lies inside that module.
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

/// The project as one question sees it: what was looked up once is kept.
pub(super) struct Project<'w> {
    pub(super) world: &'w dyn World,
    /// What a file of the world says now that is asked about as it was.
    pub(super) present: Option<(FileId, &'w str)>,
    sheets: RefCell<HashMap<FileId, Option<Rc<Sheet>>>>,
    packages: RefCell<HashMap<String, Option<Rc<Package>>>>,
    parents: RefCell<HashMap<FileId, Option<Module>>>,
    pub(super) memory: super::names::Memory,
}

impl<'w> Project<'w> {
    pub(super) fn new(world: &'w dyn World) -> Self {
        Self {
            world,
            present: None,
            sheets: RefCell::default(),
            packages: RefCell::default(),
            parents: RefCell::default(),
            memory: super::names::Memory::default(),
        }
    }

    pub(super) fn with_present(self, file: FileId, text: Option<&'w str>) -> Self {
        Self { present: text.map(|text| (file, text)), ..self }
    }

    /// A Rust file's facts.
    pub(super) fn sheet(&self, file: FileId) -> Option<Rc<Sheet>> {
        if let Some(known) = self.sheets.borrow().get(&file) {
            return known.clone();
        }
        let rust = Language::of(self.world.path(file)) == Language::Rust;
        let sheet = rust.then(|| self.world.facts(file)).flatten().map(|facts| Rc::new(Sheet::new(facts)));
        self.sheets.borrow_mut().insert(file, sheet.clone());
        sheet
    }

    /// The Rust files in which all words of a name stand.
    pub(super) fn containing(&self, name: &str) -> Vec<FileId> {
        let mut files = self.world.containing(name);
        files.retain(|file| Language::of(self.world.path(*file)) == Language::Rust);
        files
    }

    /// The package in a directory.
    pub(super) fn package_in(&self, directory: &str) -> Option<Rc<Package>> {
        if let Some(known) = self.packages.borrow().get(directory) {
            return known.clone();
        }
        let package = Package::read(self.world, directory).map(Rc::new);
        self.packages.borrow_mut().insert(directory.to_owned(), package.clone());
        package
    }

    /// The package that a file belongs to.
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

    /// Whether a file is the root of a crate.
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
        if let Some(known) = self.parents.borrow().get(&module.file) {
            return known.clone();
        }
        // Until it is known, it has none: files that declare each other do not go round for ever.
        self.parents.borrow_mut().insert(module.file, None);
        let outer = if self.is_root(module.file) { None } else { self.declaring(module.file) };
        self.parents.borrow_mut().insert(module.file, outer.clone());
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
        // Another root beside it (`tests/it.rs` with `tests/common.rs`), or a file that gives its path.
        let beside = self.world.directory(own).into_iter().filter(|other| *other != file);
        let found = beside.into_iter().find_map(|other| self.declares(other, file));
        found.or_else(|| {
            let stem = base(path).trim_end_matches(".rs");
            let named = self.containing(stem).into_iter().filter(|other| *other != file);
            named.into_iter().find_map(|other| self.declares(other, file))
        })
    }

    /// Where a line of a file stands in its crate, as the compiler reads it: the lines of the declarations of the modules
    /// around it, outermost first, then its own. With the root, as crates have no order among themselves.
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

    /// Whether a module is declared with `#[macro_use]`.
    pub(super) fn lets_macros_out(&self, module: &Module) -> bool {
        let declared = || match &module.inline {
            Some(inline) => {
                let (outer, name) = inline.rsplit_once('.').map_or((None, &**inline), |(o, n)| (Some(o), n));
                let sheet = self.sheet(module.file)?;
                let mut meant = sheet.defined(name).iter().map(|at| &sheet.facts.definitions[*at as usize]);
                meant
                    .find(|it| it.kind == DefinitionKind::Module && it.container.as_deref() == outer)
                    .map(|it| it.extends.iter().any(|mark| **mark == *MACRO_USE))
            }
            None => {
                let by = self.outer(module)?.file;
                let sheet = self.sheet(by)?;
                Some(self.declaration(by, &sheet, module.file)?.glob)
            }
        };
        declared().unwrap_or(false)
    }

    /// Where a file is declared as a module.
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

    /// What a file's module is called; nothing for the root of a crate that has no library.
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
            // A file named by an attribute has its children beside it.
            vec![plain, directory.to_owned()]
        };
        if let Some(inline) = inline {
            bases = bases.into_iter().filter_map(|base| join(&base, &inline)).collect();
        }
        let candidates =
            bases.iter().flat_map(|base| [format!("{base}/{name}.rs"), format!("{base}/{name}/mod.rs")]);
        candidates.filter_map(|path| self.world.find(path.trim_start_matches('/'))).collect()
    }

    /// The root module of the crate that a module belongs to.
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

    /// Whether `inner` is `outer` or lies in it.
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
