//! Finds the references to a definition: selects candidates by word, and resolves each use by name or by the
//! type of its value.

mod goal;
mod member_access;

use self::goal::Goal;
use super::modules::{Module, Project, Sheet};
use super::names::{Entity, Found};
use super::standard;
use crate::facts::{Definition, DefinitionKind, Import, ImportForm, Reach, Role, Shape, Use};
use crate::reference::{Certainty, Kind, Reference, Target};
use crate::resolve::path_of;
use crate::world::{FileId, World};

pub(super) fn find<'w>(world: &'w dyn World, target: &Target<'w>) -> Vec<Reference> {
    let project = Project::new(world).with_present(target.file, target.now);
    let mut found = Vec::new();
    if project.sheet(target.file).is_some() {
        for (position, symbol) in target.symbols.iter().enumerate() {
            if target.own_file {
                search_own_file(&project, target.file, symbol, position, &mut found);
                continue;
            }
            search(&project, target.file, symbol, position, &mut found);
            search_associated(&project, target.file, symbol, position, &mut found);
            let output = project.macro_output(target.file, symbol);
            for (file, item) in &output.items {
                search(&project, *file, item, position, &mut found);
            }
            for (file, interface) in &output.interfaces {
                let first = found.len();
                search(&project, *file, interface, position, &mut found);
                lapsed(&mut found, first);
            }
        }
    }
    if target.module {
        file_references(&project, target.file, &mut found);
    }
    found.sort_by(|a, b| (world.path(a.file), a.line, a.symbol).cmp(&(world.path(b.file), b.line, b.symbol)));
    found.dedup();
    found
}

fn search(
    project: &Project<'_>,
    file: FileId,
    symbol: &Definition,
    position: usize,
    found: &mut Vec<Reference>,
) {
    let Some(sheet) = project.sheet(file) else { return };
    if let Some(goal) = Goal::new(project, file, &sheet.facts, symbol) {
        Search { project, goal: &goal, position, found }.run();
    }
}

/// Finds the references to a symbol in its own file.
fn search_own_file(
    project: &Project<'_>,
    file: FileId,
    symbol: &Definition,
    position: usize,
    found: &mut Vec<Reference>,
) {
    let Some(sheet) = project.sheet(file) else { return };
    if let Some(goal) = Goal::new(project, file, &sheet.facts, symbol) {
        let mut search = Search { project, goal: &goal, position, found };
        let mut names: Vec<Box<str>> = vec![symbol.name.clone()];
        let mut done = 0;
        while let Some(name) = names.get(done).cloned() {
            done += 1;
            let aliases = search.file(file, &sheet, &name);
            names.extend(aliases.into_iter().filter(|alias| !names.contains(alias)).collect::<Vec<_>>());
        }
    }
}

/// Finds uses of a trait's associated type through a parameter: without the trait the parameter has none,
/// regardless of re-exports.
fn search_associated(
    project: &Project<'_>,
    file: FileId,
    symbol: &Definition,
    position: usize,
    found: &mut Vec<Reference>,
) {
    let Some(sheet) = project.sheet(file).filter(|_| symbol.kind == DefinitionKind::Interface) else {
        return;
    };
    let path = path_of(symbol);
    let is_associated = |definition: &&Definition| {
        definition.kind == DefinitionKind::Type && definition.container.as_deref() == Some(&*path)
    };
    for member in sheet.facts.definitions.iter().filter(is_associated) {
        let mut named = Vec::new();
        search(project, file, member, position, &mut named);
        named.retain(|reference| reference.role == Role::Type && reference.certainty == Certainty::Resolved);
        found.extend(named);
    }
}

/// Keeps only the references to a trait that may require its implementation.
fn lapsed(found: &mut Vec<Reference>, first: usize) {
    let mut at = 0;
    found.retain(|reference| {
        at += 1;
        at <= first
            || !matches!(reference.role, Role::Import | Role::Reexport | Role::Extend | Role::Override)
    });
    for reference in found.iter_mut().skip(first) {
        reference.certainty = reference.certainty.max(Certainty::Possible);
        // The name still exists, regardless of re-exports.
        reference.through = None;
    }
}

struct Search<'p, 'w, 'g> {
    project: &'p Project<'w>,
    goal: &'g Goal<'g>,
    position: usize,
    found: &'p mut Vec<Reference>,
}

impl Search<'_, '_, '_> {
    fn run(&mut self) {
        self.macros();
        let mut names: Vec<Box<str>> = vec![self.goal.symbol.name.clone()];
        let mut done = 0;
        while let Some(name) = names.get(done).cloned() {
            done += 1;
            for file in self.project.containing(&name) {
                if file == self.goal.file {
                    continue;
                }
                let Some(sheet) = self.project.sheet(file) else { continue };
                for alias in self.file(file, &sheet, &name) {
                    if !names.contains(&alias) {
                        names.push(alias);
                    }
                }
            }
        }
    }

    /// Finds macros that implement the trait's member: the generated code is rejected at the place of use.
    fn macros(&mut self) {
        let Some(owner) = self.goal.owner.filter(|_| self.goal.owner_is_interface) else { return };
        let name = &self.goal.symbol.name;
        let named = self.project.containing(name);
        for file in self.project.containing(&self.goal.owner_name) {
            let Some(sheet) = self.project.sheet(file) else { continue };
            for used in sheet.facts.uses.iter().filter(|used| used.role == Role::Override) {
                let module = self.module_of_use(file, &sheet, used);
                let makers = self.project.macros(&used.name, &module);
                let Some(Shape::Name(path)) = used.of.as_ref().filter(|_| !makers.is_empty()) else {
                    continue;
                };
                if !self.project.interfaces(&module, path).contains(&owner) {
                    continue;
                }
                for (maker, index) in makers {
                    let Some(maker_sheet) = self.project.sheet(maker) else { continue };
                    let line = maker_sheet.facts.definitions[index as usize].line;
                    if maker != self.goal.file && (named.contains(&file) || named.contains(&maker)) {
                        let (kind, role) = (Kind::Symbol, Role::Override);
                        self.put(maker, line, kind, role, Certainty::Possible, name, None, None, Some(index));
                    }
                }
            }
        }
    }

    /// Searches a file for a name. Returns the other names under which the file re-exports it.
    fn file(&mut self, file: FileId, sheet: &Sheet, name: &str) -> Vec<Box<str>> {
        let mut aliases = Vec::new();
        let mut locals: Vec<Box<str>> = vec![name.into()];
        for import in &sheet.facts.imports {
            if import.form == ImportForm::Child {
                continue;
            }
            let module = self.project.module_at(file, import.container.as_deref());
            let Some(found) = self.imported(&module, import, name) else { continue };
            let role = if import.reexport { Role::Reexport } else { Role::Import };
            let line = import.names.first().map_or(import.line, |name| name.line);
            let through =
                self.handed_on(&found).filter(|through| !self.is_before(file, line, *through, name));
            self.put(file, line, Kind::Import, role, self.certainty(&found), name, None, through, None);
            for taken in &import.names {
                if *taken.local != *name && *taken.local != *"_" && *taken.name == *name {
                    locals.push(taken.local.clone());
                    if import.reexport {
                        aliases.push(taken.local.clone());
                    }
                }
            }
        }
        for used in &sheet.facts.uses {
            if !locals.contains(&used.name) {
                continue;
            }
            let module = self.module_of_use(file, sheet, used);
            let meant = self.uses(&module, used).or_else(|| self.uses_in_expansions(sheet, used));
            if let Some((certainty, through)) = meant {
                // In an unused macro, the error would only appear on use.
                let certainty = if self.is_dormant(sheet, used) { Certainty::Untyped } else { certainty };
                let arguments = self.arguments(used);
                let through = through.filter(|through| *through != file);
                self.put(
                    file,
                    used.line,
                    Kind::Symbol,
                    self.role(used),
                    certainty,
                    &used.name,
                    arguments,
                    through,
                    used.within,
                );
            }
        }
        aliases
    }

    /// Returns the kind of use of the definition.
    fn role(&self, used: &Use) -> Role {
        let kind = self.goal.symbol.kind;
        // After a type, only its own members are called.
        let on_value = !matches!(used.of, None | Some(Shape::Name(_)));
        match used.role {
            Role::Call if self.goal.covered && on_value => Role::Covered,
            // A word with a capital letter in a macro looks like a type.
            Role::Type if matches!(kind, DefinitionKind::Variant | DefinitionKind::Value) => Role::Value,
            // A use of an alias is a use of its target.
            Role::Type | Role::Owner if self.goal.is_alias() => Role::Value,
            role => role,
        }
    }

    /// Returns true if an import precedes the re-exporting one in the order of compilation. If the name is
    /// removed, the earlier import fails too: the compiler reports it before it resolves the re-export. But
    /// if no macro could still add the name, only the re-export fails.
    fn is_before(&self, file: FileId, line: u32, through: FileId, name: &str) -> bool {
        if !self.project.expands(self.goal.file) {
            return false;
        }
        let Some(sheet) = self.project.sheet(through) else { return false };
        let handing = sheet.imported(name).iter().filter_map(|at| sheet.facts.imports.get(*at as usize));
        let Some(import) = handing.into_iter().find(|import| import.reexport) else { return false };
        let there = import
            .names
            .iter()
            .find(|taken| *taken.local == *name)
            .map_or(import.line, |imported| imported.line);
        match (self.project.order(file, line), self.project.order(through, there)) {
            (Some(here), Some(there)) => here.0 == there.0 && here.1 < there.1,
            _ => false,
        }
    }

    fn module_of_use(&self, file: FileId, sheet: &Sheet, used: &Use) -> Module {
        let within = used.within.and_then(|within| sheet.facts.definitions.get(within as usize));
        let Some(within) = within else { return Module::of_file(file) };
        let module = self.project.module_of(file, within);
        if within.kind == DefinitionKind::Module { module.inner(&within.name) } else { module }
    }

    /// Returns the certainty if a name in a macro means the definition where the macro is called.
    fn uses_in_expansions(&self, sheet: &Sheet, used: &Use) -> Option<(Certainty, Option<FileId>)> {
        let within = used.within.and_then(|within| sheet.facts.definitions.get(within as usize));
        let maker = within.filter(|within| within.kind == DefinitionKind::Macro)?;
        self.project.expanding_modules(&maker.name).iter().find_map(|module| self.uses(module, used))
    }

    /// Returns true if a use is in a macro that the project does not use.
    fn is_dormant(&self, sheet: &Sheet, used: &Use) -> bool {
        let within = used.within.and_then(|within| sheet.facts.definitions.get(within as usize));
        within.is_some_and(|within| {
            within.kind == DefinitionKind::Macro && !self.project.is_expanded(&within.name)
        })
    }

    /// Returns the file that re-exports the definition. A variant is found through its type, which still
    /// exists; a re-export of the variant itself only hides its uses from the compiler.
    fn handed_on(&self, found: &Found) -> Option<FileId> {
        found.through.filter(|_| !self.goal.is_member() && !self.goal.tells_others)
    }

    /// Returns the certainty that a user of the definition breaks.
    fn certainty(&self, found: &Found) -> Certainty {
        match found.through {
            Some(_) if self.goal.tells_others => Certainty::Possible,
            _ => Certainty::Resolved,
        }
    }

    /// Returns the meaning if an import's path contains the definition under that name.
    fn imported(&self, module: &Module, import: &Import, name: &str) -> Option<Found> {
        let last = import.names.first().map(|taken| &*taken.name);
        if last == Some(name) {
            let taken = self.project.imported_meanings(module, import, name, 0);
            if let Some(found) = taken.into_iter().find(|found| self.goal.is(&found.entity)) {
                return Some(found);
            }
        }
        // As a part before the last: `use Enum::Variant`, `use Type::*`.
        let mut end = 0;
        for segment in import.module.split("::") {
            end += segment.len();
            if segment == name {
                let path = import.module.get(..end)?;
                let found = self.project.resolve(module, path);
                if let Some(found) = found.iter().find(|found| self.is_goal(&found.entity)) {
                    return Some(found.clone());
                }
            }
            end += 2;
        }
        None
    }

    /// Returns true for the definition, which may also be a module of its file.
    fn is_goal(&self, entity: &Entity) -> bool {
        if self.goal.is(entity) {
            return true;
        }
        let Entity::Module(module) = entity else { return false };
        let symbol = self.goal.symbol;
        symbol.kind == DefinitionKind::Module
            && module.file == self.goal.file
            && Some(module) == Some(&self.project.module_of(self.goal.file, symbol).inner(&symbol.name))
    }

    /// Returns the certainty if a use means the definition.
    fn uses(&self, module: &Module, used: &Use) -> Option<(Certainty, Option<FileId>)> {
        let resolved = |found: &Found| Some((self.certainty(found), self.handed_on(found)));
        if !self.can_be(used.role) {
            return None;
        }
        match &used.of {
            None => {
                let found = self.project.resolve(module, &used.name);
                if let Some(found) = found.iter().find(|found| self.is_goal(&found.entity)) {
                    return resolved(found);
                }
                let macro_use = used.role == Role::Call && used.arguments.is_none();
                if self.goal.symbol.kind == DefinitionKind::Macro && macro_use && found.is_empty() {
                    let macros = self.project.macros(&used.name, module);
                    let means = macros.iter().any(|(file, index)| self.goal.is(&Entity::Item(*file, *index)));
                    return means.then_some((Certainty::Resolved, None));
                }
                (found.is_empty() && self.may_be_given(module, used)).then_some((Certainty::Possible, None))
            }
            Some(Shape::Name(path)) => {
                let found = self.project.resolve(module, &format!("{path}::{}", used.name));
                if let Some(found) = found.iter().find(|found| self.is_goal(&found.entity)) {
                    // A path does not resolve to a field: it is a method of the same name.
                    let field = self.goal.symbol.kind == DefinitionKind::Field;
                    if field && matches!(used.role, Role::Call | Role::Value) {
                        return None;
                    }
                    return resolved(found);
                }
                // It resolves to something else. Outside the project, only a member of our trait may be
                // meant.
                let inside = found.iter().any(|found| found.entity != Entity::Outside);
                let traits = self.goal.owner_is_interface && self.goal.symbol.kind != DefinitionKind::Type;
                if inside || (!found.is_empty() && !traits) {
                    return None;
                }
                let last = path.rsplit("::").next().unwrap_or(path);
                if standard::is_plain(last) {
                    return self.implemented_by(last, module).map(|certainty| (certainty, None));
                }
                // For a generated type, its other generated members are unknown.
                let unknown = found.is_empty() && !self.knows(module, path);
                if self.goal.made && unknown {
                    return Some((Certainty::Possible, None));
                }
                // An associated item follows a type, whose name has a capital letter.
                let valueless =
                    matches!(self.goal.symbol.kind, DefinitionKind::Value | DefinitionKind::Function);
                if valueless && found.is_empty() && last.starts_with(|c: char| c.is_lowercase()) {
                    return None;
                }
                // An unresolved type is not the owner, unless it has its name.
                let other = last.starts_with(|c: char| c.is_uppercase()) && *last != *self.goal.owner_name;
                if found.is_empty() && other && self.project.resolve(module, path).is_empty() {
                    return None;
                }
                self.member_of(module, path_shape(path), used)
            }
            Some(shape) => self.member_of(module, shape.clone(), used),
        }
    }

    /// Returns true if an unresolved name may be an argument that a macro appends to a path: `Kind` of
    /// `m!(Kind)`, which generates `kinds::Kind`.
    fn may_be_given(&self, module: &Module, used: &Use) -> bool {
        use DefinitionKind::{Interface, Type, Value, Variant};
        matches!(self.goal.symbol.kind, Interface | Type | Value | Variant)
            && used.name.starts_with(char::is_uppercase)
            && !standard::is_prelude(&used.name)
            && self.project.package(module.file).map(|package| package.directory.clone())
                == self.project.package(self.goal.file).map(|package| package.directory.clone())
            && self.project.is_given_to_macro(module.file, used.line)
            && self.is_only()
    }

    /// Returns true if nothing else in the project has the same name and is visible outside its file.
    fn is_only(&self) -> bool {
        let goal = self.goal;
        let other = |file: FileId| {
            let Some(sheet) = self.project.sheet(file) else { return false };
            let mut same = sheet.defined(&goal.symbol.name).iter();
            same.any(|index| {
                let definition = &sheet.facts.definitions[*index as usize];
                let twin = file == goal.file && goal.items.contains(index);
                definition.reach > Reach::File && definition.kind == goal.symbol.kind && !twin
            })
        };
        !self.project.defining(&goal.symbol.name).into_iter().any(other)
    }

    #[expect(clippy::too_many_arguments, reason = "one place that fills a reference")]
    fn put(
        &mut self,
        file: FileId,
        line: u32,
        kind: Kind,
        role: Role,
        certainty: Certainty,
        pattern: &str,
        arguments: Option<u16>,
        through: Option<FileId>,
        within: Option<u32>,
    ) {
        let left_out = self.goal.left_out || self.project.is_left_out(file, line);
        self.found.push(Reference {
            file,
            line,
            kind,
            role,
            certainty: if left_out { certainty.max(Certainty::Conditional) } else { certainty },
            pattern: pattern.into(),
            symbol: Some(self.position),
            arguments,
            through: through.filter(|through| *through != file),
            within,
        });
    }
}

fn path_shape(path: &str) -> Shape {
    Shape::Name(path.into())
}

/// Finds the imports of a file, and of anything in it.
fn file_references(project: &Project<'_>, file: FileId, found: &mut Vec<Reference>) {
    let Some(name) = project.module_name(file) else { return };
    for other in project.containing(&name) {
        if other == file {
            continue;
        }
        let Some(sheet) = project.sheet(other) else { continue };
        for import in &sheet.facts.imports {
            if !leads_to(project, other, import, file) {
                continue;
            }
            found.push(Reference {
                file: other,
                line: import.line,
                kind: Kind::Import,
                role: if import.reexport { Role::Reexport } else { Role::Import },
                certainty: Certainty::Resolved,
                pattern: name.clone(),
                symbol: None,
                arguments: None,
                through: None,
                within: None,
            });
        }
    }
}

/// Returns true if an import declares a file as a module, or imports it or something directly in it.
fn leads_to(project: &Project<'_>, from: FileId, import: &Import, file: FileId) -> bool {
    if import.form == ImportForm::Child {
        return project.child(from, import) == Some(file);
    }
    let module = project.module_at(from, import.container.as_deref());
    let is_file = |found: &Found| matches!(&found.entity, Entity::Module(module) if module.file == file);
    if project.resolve(&module, &import.module).iter().any(is_file) {
        return true;
    }
    let mut taken =
        import.names.iter().flat_map(|name| project.imported_meanings(&module, import, &name.name, 0));
    taken.any(|found| is_file(&found))
}
